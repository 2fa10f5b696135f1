#include "rankwright/plan/adapters.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rankwright/catalog/catalog.h"
#include "rankwright/plan/data_calls.h"
#include "tests/support/sample.h"

namespace rankwright::plan {
namespace adapters_test {

TrainingConfig lora(i64 rank, const Plan& plan = {}) {
  TrainingConfig config = sample::config_of(*catalog::find_model("llama-3.1-8b"), plan);
  config.job.lora_rank = rank;
  config.job.grad_dtype = Dtype::fp32;
  return config;
}

// q and o: 16 x (4096 + 4096) = 131,072; k and v: 16 x (4096 + 1024) = 81,920; gate, up and down:
// 16 x (4096 + 14,336) = 294,912. A layer has 1,310,720, 32 layers 41,943,040, which is what PEFT
// prints for this model.
TEST(Adapters, Llama8BOfRank16) {
  const TrainingConfig config = lora(16);
  EXPECT_EQ(count_adapter_share(config, contents(config, 0)).dense, 41'943'040);
  EXPECT_EQ(count_trained_share(config, contents(config, 0)).total(), 41'943'040);
}

TEST(Adapters, OnlyNamedModules) {
  TrainingConfig config = lora(8);
  config.job.lora_modules = kNoLoraModules;
  config.job.lora_modules.q_proj = config.job.lora_modules.v_proj = true;
  // 8 x (4096 + 4096) + 8 x (4096 + 1024), 32 times: PEFT prints 3,407,872.
  EXPECT_EQ(count_adapter_share(config, contents(config, 0)).dense, 3'407'872);
}

TEST(Adapters, WithoutLora_NoneAndEverythingIsTrained) {
  const TrainingConfig config = lora(0);
  EXPECT_EQ(count_adapter_share(config, contents(config, 0)), Share{});
  EXPECT_EQ(count_trained_share(config, contents(config, 0)),
            count_rank_share(config, contents(config, 0)));
}

RC_GTEST_PROP(Adapters, AreProportionalToTheirRank, ()) {
  const i64 rank = *rc::gen::inRange<i64>(1, 512);
  const TrainingConfig one = lora(1), all = lora(rank);
  RC_ASSERT(count_adapter_share(all, contents(all, 0)).total() ==
            rank * count_adapter_share(one, contents(one, 0)).total());
}

/// Sets this project's runtime.
TrainingConfig on_runtime(TrainingConfig config) {
  config.software.bare = true;
  return config;
}

// tp 4 in the runtime. q: A whole, B split, 16 x (4096 + 1024); k and v: 16 x (4096 + 256); o: A
// split, B whole, 16 x (1024 + 4096); gate and up: 16 x (4096 + 3584); down: 16 x (3584 + 4096).
// The whole halves are 16 x 4096 each, and their gradients are partial.
TEST(Adapters, Runtime_SplitsOneHalfOverTp) {
  for (const bool sp : {false, true}) {
    const TrainingConfig config = on_runtime(lora(16, {.tp = 4, .sequence_parallel = sp}));
    const Share share = count_adapter_share(config, config.model.runs[0].layer);
    EXPECT_EQ(share.dense, 16 * (2 * (4096 + 1024) + 2 * (4096 + 256) + 3 * (4096 + 3584)));
    EXPECT_EQ(count_partial_gradients(config.plan, share), 16 * 7 * 4096);
  }
  const TrainingConfig one = on_runtime(lora(16));
  EXPECT_EQ(count_adapter_share(one, contents(one, 0)).dense, 41'943'040);
}

// Two microbatches, each gathering every layer's adapters twice, in fp32.
TEST(Adapters, Runtime_GathersThemWithZero3) {
  TrainingConfig config = lora(16, {.dp = 8, .zero = 3});
  config.job.global_batch = 2 * config.plan.dp * config.plan.micro_batch;
  const auto gathered = [](const TrainingConfig& of) {
    double sum = 0;
    for (const Traffic& t : list_traffic(of, 0))
      if (t.kind == TrafficKind::dp_all_gather) sum += t.total.value;
    return sum;
  };
  EXPECT_DOUBLE_EQ(gathered(on_runtime(config)) - gathered(config), 2 * 2 * 4 * 41'943'040.0);
}

// Backward gathers a block's input for the gradients of adapters only.
TEST(Adapters, Runtime_GathersInputsThatAdaptersRead) {
  TrainingConfig config = on_runtime(lora(16, {.tp = 2, .sequence_parallel = true}));
  const auto calls = [&](TrafficKind kind) {
    i64 sum = 0;
    for (const Traffic& t : list_traffic(config, 0)) sum += t.kind == kind ? t.calls : 0;
    return sum / config.microbatches();
  };
  EXPECT_EQ(calls(TrafficKind::tp_all_gather), 32 * 6);  // 2 blocks: input twice, gradient
  config.job.lora_modules.gate_proj = config.job.lora_modules.up_proj = false;
  EXPECT_EQ(calls(TrafficKind::tp_all_gather), 32 * 5);
  EXPECT_EQ(calls(TrafficKind::tp_head_gather), 1);
  EXPECT_EQ(calls(TrafficKind::tp_embedding_grad), 0);
}

TEST(Adapters, AreAsWideAsSums) {
  TrainingConfig config = lora(16);
  EXPECT_EQ(adapter_bytes(config.job), 4);
  config.job.param_dtype = Dtype::fp64;
  EXPECT_EQ(adapter_bytes(config.job), 8);
}

// Gradients of adapters alone are reduced, in fp32; ZeRO-3 also gathers the frozen weights.
TEST(Adapters, DataParallelism_ReducesAdapters) {
  for (const int zero : {0, 1, 2, 3}) {
    const TrainingConfig config = lora(16, {.dp = 8, .zero = zero});
    const DataShape shape = make_data_shape(config, config.stages(), 0);
    Bytes reduced, gathered;
    for_each_data_call(config, shape,
                       [&](TrafficKind kind, Op op, mesh::GroupKind, i64 calls, Bytes each) {
                         if (kind == TrafficKind::gradient_norm) return;
                         (op == Op::all_gather ? gathered : reduced) += double(calls) * each;
                       });
    const double times = reduces_every_microbatch(config) ? double(config.microbatches()) : 1;
    EXPECT_DOUBLE_EQ(reduced.value, times * 4 * 41'943'040) << zero;
    const double weights = double(count_rank_share(config, 0).total());
    const double expected = zero == 0  ? 0
                            : zero < 3 ? 4 * 41'943'040.0
                                       : 2 * double(config.microbatches()) * 2 * weights;
    EXPECT_DOUBLE_EQ(gathered.value, expected) << zero;
  }
}

}  // namespace adapters_test
}  // namespace rankwright::plan
