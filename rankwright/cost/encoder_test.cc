// The activations and the time of an encoder in front of the model.
#include <gtest/gtest.h>

#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/estimate.h"
#include "rankwright/cost/memory/memory.h"
#include "rankwright/cost/step.h"
#include "rankwright/cost/work.h"
#include "rankwright/model/flops.h"
#include "tests/support/encoder_config.h"

namespace rankwright::cost {
namespace encoder_cost_test {

using sample::llava;

constexpr double kPatches = 576, kLayers = 24;

Bytes count_activations(const plan::TrainingConfig& config, i64 pp_rank = 0) {
  return estimate_memory(config, pp_rank, select_calibration(config))[Entry::activations];
}

// Per patch and layer, h = 1024 and f = 4096, in 16 bits: inputs of two norms and of the matmuls
// after them 4h, queries, keys and values 3h, the attention output h, before and after the
// activation function 2f: 2 (8h + 2f) bytes = 32,768, and 4 bytes for each of 16 heads: 32,832.
TEST(EncoderActivations, MatchTheWorkedExample) {
  const Bytes text = count_activations(llava(0));
  EXPECT_DOUBLE_EQ((count_activations(llava(2)) - text).value, 2 * kLayers * kPatches * 32'832);
  EXPECT_DOUBLE_EQ((count_activations(llava(2, {.micro_batch = 3})) -
                    count_activations(llava(0, {.micro_batch = 3})))
                       .value,
                   3 * 2 * kLayers * kPatches * 32'832);
}

// Recomputed layers keep their inputs: 2h bytes.
TEST(EncoderActivations, FullRecompute_KeepsInputs) {
  const plan::Plan plan{.recompute = plan::Recompute::full};
  EXPECT_DOUBLE_EQ((count_activations(llava(2, plan)) - count_activations(llava(0, plan))).value,
                   2 * kLayers * kPatches * 2 * 1024);
}

// InternVL multiplies the output of both blocks with learned numbers, whose gradients read it: 2 h
// elements more per patch and layer.
TEST(EncoderActivations, ScalesOfResiduals_KeepTheOutputsOfBlocks) {
  plan::TrainingConfig scaled = llava(2);
  scaled.model.encoder.scales = true;
  EXPECT_DOUBLE_EQ((count_activations(scaled) - count_activations(llava(2))).value,
                   2 * kLayers * kPatches * 2 * 2 * 1024);
}

TEST(EncoderActivations, FrozenEncoder_KeepsNone) {
  plan::TrainingConfig config = llava(2);
  freeze(config.model, {.encoder = true});
  plan::TrainingConfig text = llava(0);
  freeze(text.model, {.encoder = true});
  EXPECT_EQ(count_activations(config), count_activations(text));
}

// 1F1B holds two microbatches on the first of two pp ranks, which has the encoder.
TEST(EncoderActivations, AreOnTheFirstStage) {
  const plan::Plan plan{.pp = 2};
  EXPECT_DOUBLE_EQ((count_activations(llava(1, plan)) - count_activations(llava(0, plan))).value,
                   2 * kLayers * kPatches * 32'832);
  EXPECT_EQ(count_activations(llava(1, plan), 1), count_activations(llava(0, plan), 1));
}

LayerCosts price(const plan::TrainingConfig& config) {
  const cluster::Calibration& c = select_calibration(config);
  return estimate_layer_costs(config, Links(config, c), c);
}

// A forward takes at least its FLOPs at the rate of large matmuls; weight and input gradients do
// the matmuls again.
TEST(EncoderTime, IsAtLeastItsFlopsAtTheRateOfMatmuls) {
  const plan::TrainingConfig config = llava(2);
  const LayerCosts costs = price(config);
  ASSERT_EQ(costs.encoder.size(), 1U);
  EXPECT_EQ(costs.encoder[0].count, i64(kLayers));
  const LayerTime& encoder = costs.encoder[0].time;
  const double weights = kLayers * (4.0 * 1024 * 1024 + 2.0 * 1024 * 4096);
  const Flops matmuls{2 * 2 * kPatches * (weights + 1024.0 * 4096 + 4096.0 * 4096)};
  EXPECT_GT(kLayers * encoder.forward.matmul, matmuls / costs.rates.half);
  EXPECT_LT(kLayers * encoder.forward.matmul, 2 * (matmuls / costs.rates.half));
  EXPECT_GT(encoder.input.matmul + encoder.weight.matmul, 1.9 * encoder.forward.matmul);
}

// The encoder's layers are part of the items of a step: 4 micro-batches of 24 layers.
TEST(EncoderTime, AddsToTheItemsOfTheStep) {
  plan::TrainingConfig config = llava(2), text = llava(0);
  const cluster::Calibration& c = select_calibration(config);
  const LayerTime layer = price(config).encoder[0].time;
  const double times = double(config.microbatches()) * kLayers;
  const StepTime with = estimate_step_time(config, c), without = estimate_step_time(text, c);
  EXPECT_NEAR((with[Item::matmul] - without[Item::matmul]).value,
              (times * (layer.forward.matmul + layer.input.matmul + layer.weight.matmul)).value,
              1e-9);
  EXPECT_NEAR((with[Item::attention] - without[Item::attention]).value,
              (times * (layer.forward.attention + layer.input.attention)).value, 1e-9);
  EXPECT_EQ(with[Item::vocabulary], without[Item::vocabulary]);
}

TEST(EncoderTime, FrozenEncoder_RunsForwardOnly) {
  plan::TrainingConfig config = llava(2);
  const LayerTime trained = price(config).encoder[0].time;
  freeze(config.model, {.encoder = true});
  const LayerTime frozen = price(config).encoder[0].time;
  EXPECT_EQ(frozen.forward.total(), trained.forward.total());
  EXPECT_EQ(frozen.backward(), Seconds{});
}

// Full recomputation runs the forward of a trained encoder again, and not that of a frozen one.
TEST(EncoderTime, FullRecompute_RepeatsTheForward) {
  plan::TrainingConfig config = llava(2, {.recompute = plan::Recompute::full});
  const LayerTime trained = price(config).encoder[0].time;
  EXPECT_EQ(trained.again.total(), trained.forward.total());
  freeze(config.model, {.encoder = true});
  EXPECT_EQ(price(config).encoder[0].time.again.total(), Seconds{});
}

// Windows of 64 patches: their attention over 576 patches reads a ninth of the scores, in shorter
// blocks. Four layers attend to all patches; matmuls are equal.
TEST(EncoderTime, Windows_ShortenAttention) {
  plan::TrainingConfig config = llava(2);
  const LayerTime full = price(config).encoder[0].time;
  config.model.encoder.window = 64;
  config.model.encoder.global_layers = 4;
  const std::vector<EncoderCost> kinds = price(config).encoder;
  ASSERT_EQ(kinds.size(), 2U);
  EXPECT_EQ(kinds[0].count, 20);
  EXPECT_EQ(kinds[1].count, 4);
  EXPECT_EQ(kinds[1].time.forward.attention, full.forward.attention);
  EXPECT_LT(kinds[0].time.forward.attention, full.forward.attention);
  EXPECT_GT(kinds[0].time.forward.attention, full.forward.attention / 9);
  EXPECT_EQ(kinds[0].time.forward.matmul, full.forward.matmul);
}

// Model FLOPs of a sequence count those of its images, three passes each.
TEST(EncoderTime, CountsInMfu) {
  const plan::TrainingConfig config = llava(2), text = llava(0);
  const model::FlopsConvention causal = model::FlopsConvention::megatron_causal;
  const Seconds second{1};
  const double more = mfu(config, second, causal) / mfu(text, second, causal) - 1;
  const double tokens = double(config.job.sequence);
  const Flops images = 3 * 2 * encoder_forward_flops(config.model, i64(kPatches));
  const Flops layers = tokens * training_flops_per_token(config.model, config.job.sequence, causal);
  EXPECT_NEAR(more, images / layers, 1e-9);
}

TEST(EncoderTime, IsWorkOfTheFirstStage) {
  const std::vector<Flops> with = work(llava(2, {.pp = 2})), without = work(llava(0, {.pp = 2}));
  EXPECT_GT(with[0], without[0]);
  EXPECT_EQ(with[1], without[1]);
}

}  // namespace encoder_cost_test
}  // namespace rankwright::cost
