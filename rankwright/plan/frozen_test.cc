#include "rankwright/plan/frozen.h"

#include <gtest/gtest.h>

#include "rankwright/catalog/catalog.h"
#include "rankwright/plan/adapters.h"
#include "rankwright/plan/traffic.h"
#include "tests/support/sample.h"

namespace rankwright::plan {
namespace frozen_test {

constexpr i64 kLayer = 218'112'000;          // parameters of a layer of llama-3.1-8b
constexpr i64 kTable = i64{128'256} * 4096;  // of its embedding, and of its head

TrainingConfig frozen(const model::FrozenParts& parts, const Plan& plan = {}) {
  TrainingConfig config = sample::config_of(*catalog::find_model("llama-3.1-8b"), plan);
  freeze(config.model, parts);
  return config;
}

i64 count_trained(const TrainingConfig& config) {
  return count_trained_share(config, contents(config, 0)).total();
}

// 16 of 32 layers, the head and the last norm are left.
TEST(FrozenParts, EmbeddingAndFirstLayers_LeaveTheRest) {
  const TrainingConfig config = frozen({.embedding = true, .end = 16});
  EXPECT_EQ(count_trained(config), 16 * kLayer + kTable + 4096);
  EXPECT_EQ(count_rank_share(config, contents(config, 0)).total(), 8'030'261'248);
  EXPECT_EQ(count_trained(frozen({.first = 16, .end = 32, .head = true})), 16 * kLayer + kTable);
}

// Under LoRA only the layers that are not frozen have adapters: 1,310,720 parameters each.
TEST(FrozenParts, Lora_AdaptsTheOtherLayers) {
  TrainingConfig config = frozen({.embedding = true, .end = 16});
  config.job.lora_rank = 16;
  EXPECT_EQ(count_trained(config), 16 * 1'310'720);
}

TEST(FrozenParts, Backward_EndsBeforeThem_UnlessInAPipeline) {
  const TrainingConfig one = frozen({.embedding = true, .end = 16});
  EXPECT_FALSE(runs_backward(one, one.model.layer(15)));
  EXPECT_TRUE(runs_backward(one, one.model.layer(16)));
  const TrainingConfig two = frozen({.embedding = true, .end = 16}, {.pp = 2});
  EXPECT_TRUE(runs_backward(two, two.model.layer(0)));
  EXPECT_FALSE(trains_weights(two, two.model.layer(0)));
  const TrainingConfig embeds = frozen({.end = 16});  // the embedding needs its gradient
  EXPECT_TRUE(runs_backward(embeds, embeds.model.layer(0)));
}

i64 count_calls(const TrainingConfig& config, TrafficKind kind) {
  for (const Traffic& row : list_traffic(config, 0))
    if (row.kind == kind) return row.calls;
  return 0;
}

// ZeRO-3 over 8 ranks, per micro-batch: 34 units are gathered forward and 17 (16 layers and the
// head) backward, where as many gradients are reduced.
TEST(FrozenParts, ZeroThree_GathersThemForForwardOnly) {
  const TrainingConfig config = frozen({.embedding = true, .end = 16}, {.dp = 8, .zero = 3});
  const i64 m = config.microbatches();
  EXPECT_EQ(count_calls(config, TrafficKind::dp_all_gather), m * (34 + 17));
  EXPECT_EQ(count_calls(config, TrafficKind::dp_reduce_scatter), m * 17);
}

// Megatron-LM's tp without sequence parallelism: two all-reduces per layer forward, two backward.
TEST(FrozenParts, TensorParallelism_CommunicatesForward) {
  const TrainingConfig config = frozen({.embedding = true, .end = 16}, {.tp = 2});
  EXPECT_EQ(count_calls(config, TrafficKind::tp_all_reduce),
            config.microbatches() * (2 * 32 + 2 * 16));
}

}  // namespace frozen_test
}  // namespace rankwright::plan
