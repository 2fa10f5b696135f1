#include "rankwright/plan/encoder.h"

#include <gtest/gtest.h>

#include "tests/support/encoder_config.h"

namespace rankwright::plan {
namespace encoder_test {

using sample::llava;

TEST(Encoder, ReadsThePatchesOfEveryImage) {
  TrainingConfig config = llava(2, {.tp = 2, .cp = 2, .micro_batch = 3});
  config.model.encoder.merge = 4;
  const TrainingConfig encoder = make_encoder_config(config);
  EXPECT_EQ(encoder.plan.micro_batch, 3 * 2);
  EXPECT_EQ(encoder.job.sequence, 576 * 4);
  EXPECT_EQ(encoder.plan.tp, 2);
  EXPECT_EQ(encoder.plan.cp, 1);  // every cp rank encodes whole images
  EXPECT_EQ(encoder.model.layers(), 24);
  EXPECT_FALSE(encoder.model.layer(0).attention.causal);
}

// The projector is frozen with the encoder, so that nothing before the first layer has gradients.
TEST(Encoder, FrozenOrUnderLora_RunsForwardOnly) {
  TrainingConfig config = llava(2);
  EXPECT_EQ(make_encoder_config(config).model.layer(0).training, model::Training::full);
  freeze(config.model, {.encoder = true});
  EXPECT_EQ(make_encoder_config(config).model.layer(0).training, model::Training::forward_only);
  config = llava(2);
  config.job.lora_rank = 16;
  EXPECT_EQ(make_encoder_config(config).model.layer(0).training, model::Training::forward_only);
}

TEST(Encoder, DoesNotRunWithoutImagesOrTheirSize) {
  TrainingConfig config = llava(2);
  EXPECT_TRUE(runs_encoder(config));
  config.job.images = 0;
  EXPECT_FALSE(runs_encoder(config));
  EXPECT_EQ(count_encoder_flops(config), Flops{});
  config = llava(2);
  config.model.encoder.image_tokens = 0;  // of any size
  EXPECT_FALSE(runs_encoder(config));
  config.job.image_tokens = 256;
  EXPECT_TRUE(runs_encoder(config));
  config.job.image_tokens = i64{1} << 30;
  config.job.images = config.model.encoder.merge = 1 << 12;
  config.plan.micro_batch = 1 << 28;
  EXPECT_FALSE(runs_encoder(config));  // more patches than 64 bits count
}

}  // namespace encoder_test
}  // namespace rankwright::plan
