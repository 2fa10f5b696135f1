#include "rankwright/cost/memory/activations.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rankwright/catalog/catalog.h"
#include "tests/support/sample.h"

namespace rankwright::cost {
namespace activations_test {

constexpr double kTokens = 2048;  // one sequence of the sample

double per_token(Bytes bytes) { return bytes.value / kTokens; }

TEST(SavedLayer, DenseLayerMatchesTheWorkedExample) {
  // h 1024, 16 heads of 64 on 4 key-value heads, feed-forward 4096, two bytes per element
  const rankwright::plan::TrainingConfig config = sample::dense_config({});
  const SavedLayer s = saved(config, sample::dense_layer());
  EXPECT_EQ(per_token(s.norms), 4 * 1024 * 2);
  EXPECT_EQ(per_token(s.projected), (1024 + 256 + 256) * 2);
  EXPECT_EQ(per_token(s.context), 1024 * 2);
  EXPECT_EQ(per_token(s.core), 16 * 4);  // fused: one fp32 number per head
  EXPECT_EQ(per_token(s.ffn), 3 * 4096 * 2);
  EXPECT_EQ(per_token(s.masks) + per_token(s.routed), 0);
}

TEST(SavedLayer, ReplicatesKeysIfTpExceedsTheirHeads) {
  // tp 8 on 4 key-value heads: each rank has one whole head of 64 for keys, one for values
  const rankwright::plan::TrainingConfig config =
      sample::dense_config({.tp = 8, .sequence_parallel = true});
  const SavedLayer s = saved(config, sample::dense_layer());
  EXPECT_EQ(per_token(s.projected), (1024 / 8 + 64 + 64) * 2);
  EXPECT_EQ(per_token(s.norms), 4 * 1024 / 8 * 2);
}

TEST(SavedLayer, UnfusedAttentionSavesScoresOfTheWholeSequence) {
  // Two copies and a mask of 16 heads x 2048 keys; cp divides only the queries.
  rankwright::plan::TrainingConfig config = sample::dense_config({.cp = 2});
  config.software.attention = plan::AttentionKernel::unfused;
  config.software.dropout = true;
  const SavedLayer s = saved(config, sample::dense_layer());
  EXPECT_EQ(per_token(s.core), 5.0 * 16 * 2048 / 2);
  EXPECT_EQ(per_token(s.masks), 2 * 1024 / 2);
}

TEST(SavedLayer, CountsTokensAtTheirExperts) {
  // 2 of 8 experts of 512: fp32 logits and scores, two copies of a token, three tensors inside
  const model::Layer layer = sample::sparse_layer();
  rankwright::plan::TrainingConfig alone = sample::config_of(sample::model_of({{8, layer}}), {});
  alone.job.expert_imbalance = 1;
  EXPECT_EQ(per_token(saved(alone, layer).routed), 8 * 8 + 2 * 1024 * 2 + 2 * 3 * 512 * 2);
  EXPECT_EQ(per_token(saved(alone, layer).ffn), 3 * 1024 * 2);  // the shared expert
  // tp 2 with sequence parallelism halves the tokens of a rank; etp 2 gathers them again, with half
  // the expert width each
  rankwright::plan::TrainingConfig split = sample::config_of(
      sample::model_of({{8, layer}}), {.tp = 2, .etp = 2, .sequence_parallel = true});
  split.job.expert_imbalance = 1;
  EXPECT_EQ(per_token(saved(split, layer).routed), 8 * 8 / 2 + 2 * 1024 * 2 + 2 * 3 * 512 * 2 / 2);
}

TEST(SavedLayer, EightBitMatmulsSaveTheirInputsInOneByte) {
  // Inputs of matmuls: two norm outputs, the context, the activated feed-forward. The norms' own
  // inputs, queries, keys, values and both halves before the activation stay in two bytes.
  rankwright::plan::TrainingConfig config = sample::dense_config({});
  config.cluster.device.fp8 = 1.0_TFLOPS;
  config.job.matmul = plan::Matmul::fp8;
  const SavedLayer s = saved(config, sample::dense_layer());
  EXPECT_EQ(per_token(s.norms), 2 * 1024 * 2 + 2 * 1024);
  EXPECT_EQ(per_token(s.projected), (1024 + 256 + 256) * 2);
  EXPECT_EQ(per_token(s.context), 1024);
  EXPECT_EQ(per_token(s.ffn), 2 * 4096 * 2 + 4096);
  config.software.fsdp = true;  // torchao casts in the backward again
  EXPECT_EQ(per_token(saved(config, sample::dense_layer()).context), 2 * 1024);
}

TEST(SavedLayer, InputOfSwiGluMayTakeOneByte) {
  // Dense: two halves of 4096 before the activation, and its output in two bytes. Two visits to
  // experts of 512: two halves each. A feed-forward that is not gated has no SwiGLU.
  rankwright::plan::TrainingConfig config = sample::dense_config({});
  config.job.fp8_swiglu_input = true;
  EXPECT_EQ(per_token(saved(config, sample::dense_layer()).ffn), 2 * 4096 + 4096 * 2);
  model::Layer plain = sample::dense_layer();
  plain.ffn.matrices = 2;
  EXPECT_EQ(per_token(saved(config, plain).ffn), 2 * 4096 * 2);

  const model::Layer layer = sample::sparse_layer();
  rankwright::plan::TrainingConfig experts = sample::config_of(sample::model_of({{8, layer}}), {});
  experts.job.expert_imbalance = 1;
  const Bytes wide = saved(experts, layer).routed;
  experts.job.fp8_swiglu_input = true;
  EXPECT_EQ(per_token(wide - saved(experts, layer).routed), 2 * 2 * 512);
}

TEST(LayerActivations, RecomputedModulesAreNotKept) {
  // moe_act: the activated tensor of 2 visits to experts of 512; layernorm: two outputs of 1024.
  const model::Layer layer = sample::sparse_layer();
  rankwright::plan::TrainingConfig config =
      sample::config_of(sample::model_of({{8, layer}}), {.recompute = plan::Recompute::selective});
  config.job.expert_imbalance = 1;
  const Bytes all = saved(config, layer).total();
  const auto dropped = [&](plan::RecomputeModules modules) {
    config.plan.modules = modules;
    return per_token(all - activations(config, layer).kept);
  };
  EXPECT_EQ(dropped({.core_attn = false}), 0);
  EXPECT_EQ(dropped({.core_attn = false, .moe_act = true}), 2 * 512 * 2);
  EXPECT_EQ(dropped({.core_attn = false, .layernorm = true}), 2 * 1024 * 2);
  EXPECT_EQ(dropped({.core_attn = false, .moe = true}),
            per_token(saved(config, layer).routed + saved(config, layer).ffn));
}

// bitsandbytes 0.42 keeps the inputs of all matmuls with quantized weights: beside that of the
// queries, which have adapters, one of 4096 elements before the feed-forward and one of 14336
// before its last matmul.
TEST(SavedLayer, QuantizedMatmulsOfLitgptKeepTheirInputs) {
  rankwright::plan::TrainingConfig config =
      sample::config_of(*catalog::find_model("llama-3.1-8b"), {});
  config.job.lora_rank = 16;
  config.job.lora_modules = plan::kNoLoraModules;
  config.job.lora_modules.q_proj = true;
  const auto kept = [&](std::string_view framework, plan::BaseDtype base) {
    for (const plan::Software& row : plan::frameworks())
      if (row.name == framework) config.software = row;
    config.job.base_dtype = base;
    return per_token(saved(config, config.model.layer(0)).total());
  };
  const auto same = plan::BaseDtype::same, nf4 = plan::BaseDtype::nf4;
  EXPECT_EQ(kept("litgpt-2024", same), kept("transformers", same));
  EXPECT_EQ(kept("transformers", nf4), kept("transformers", same));
  EXPECT_EQ(kept("litgpt-2024", nf4) - kept("litgpt-2024", same), 2 * (4096 + 14336));
}

// A gated shared expert of 2048: both halves before the activation function, and its output.
TEST(LayerActivations, RecomputedSharedExpertsAreNotKept) {
  model::Layer layer = sample::sparse_layer();
  layer.ffn.shared_width = 2048;
  rankwright::plan::TrainingConfig config =
      sample::config_of(sample::model_of({{8, layer}}), {.recompute = plan::Recompute::selective});
  config.plan.modules = {.core_attn = false, .shared_experts = true};
  EXPECT_EQ(per_token(saved(config, layer).total() - activations(config, layer).kept),
            2 * 3 * 2048);
}

TEST(SavedLayer, LatentAttentionSavesCompressedAndProjected) {
  // 4 heads, ranks 24 and 40, 16 + 8 per key, 20 per value:
  // compressed twice 2(24 + 40 + 8), queries and keys 2 x 4 x 24, values 4 x 20. Keys and values
  // are copies, so the output of their matmul is freed.
  const model::Layer layer{.attention = {.kind = model::Attention::Kind::latent,
                                         .heads = 4,
                                         .q_rank = 24,
                                         .kv_rank = 40,
                                         .nope_dim = 16,
                                         .rope_dim = 8,
                                         .value_dim = 20},
                           .ffn = {.width = 64}};
  const rankwright::plan::TrainingConfig config =
      sample::config_of(sample::model_of({{1, layer}}), {});
  EXPECT_EQ(per_token(saved(config, layer).projected), 2 * (144 + 192 + 80));
  EXPECT_EQ(per_token(saved(config, layer).context), 2 * 80);
}

TEST(LayerActivations, RecomputedUpProjections_DropQueriesKeysAndValues) {
  // 4 heads of 16 + 8 per query and key, 20 per value: 2 x 4 x 24 + 4 x 20 elements of 2 bytes
  const model::Layer layer{.attention = {.kind = model::Attention::Kind::latent,
                                         .heads = 4,
                                         .q_rank = 24,
                                         .kv_rank = 40,
                                         .nope_dim = 16,
                                         .rope_dim = 8,
                                         .value_dim = 20},
                           .ffn = {.width = 64}};
  rankwright::plan::TrainingConfig config =
      sample::config_of(sample::model_of({{1, layer}}), {.recompute = plan::Recompute::selective});
  config.plan.modules = {.core_attn = false, .mla_up_proj = true};
  EXPECT_EQ(per_token(saved(config, layer).total() - activations(config, layer).kept),
            2 * (192 + 80));
}

TEST(SavedLayer, GraphsOfTheIterationKeepExpertsInAStash) {
  // 2 visits: tokens of 1024 and 3 x 512 inside experts, 2 bytes each; 1.2 times that in a stash.
  const model::Layer layer = sample::sparse_layer();
  rankwright::plan::TrainingConfig config = sample::config_of(sample::model_of({{8, layer}}), {});
  config.job.expert_imbalance = 1;
  const double plain = per_token(saved(config, layer).routed);
  config.software.launch = plan::Launch::graphs;
  EXPECT_NEAR(per_token(saved(config, layer).routed) - plain, 0.2 * 2 * (1024 + 3 * 512) * 2, 1e-6);
  config.job.expert_capacity = 1;  // a fixed capacity needs no stash
  EXPECT_EQ(per_token(saved(config, layer).routed), plain);
}

TEST(SavedLayer, UnstatedImbalanceIsThatOfTheTimeEstimate) {
  const model::Layer layer = sample::sparse_layer();
  rankwright::plan::TrainingConfig config = sample::config_of(sample::model_of({{8, layer}}), {});
  const Bytes unstated = saved(config, layer).routed;
  config.job.expert_imbalance = catalog::get_calibration()[cluster::Constant::imbalance_experts];
  EXPECT_EQ(saved(config, layer).routed, unstated);
}

TEST(SavedLayer, NormsAfterABlockSaveTheirInput) {
  model::Layer layer = sample::dense_layer();
  const rankwright::plan::TrainingConfig config = sample::dense_config({});
  layer.norms = 1;  // one norm for attention and feed-forward
  EXPECT_EQ(per_token(saved(config, layer).norms), 2 * 1024 * 2);
  layer.norms = 4;
  EXPECT_EQ(per_token(saved(config, layer).norms), (4 + 2) * 1024 * 2);
}

TEST(LayerActivations, SelectiveRecomputeFreesTheAttentionCore) {
  rankwright::plan::TrainingConfig config =
      sample::dense_config({.recompute = plan::Recompute::selective});
  config.software.attention = plan::AttentionKernel::unfused;
  const LayerActivations a = activations(config, sample::dense_layer());
  EXPECT_EQ(per_token(a.whole) - per_token(a.kept), 2.0 * 16 * 2048);
  EXPECT_EQ(per_token(a.core), 2.0 * 16 * 2048);  // restored for one layer
}

TEST(LayerActivations, SelectiveRecomputeByOperationKeepsEverySecondMatmul) {
  // input 1024, queries 1024, values 256, attention 1024 and 4 bytes per head, one of the gated
  // pair 4096, last matmul 1024
  rankwright::plan::TrainingConfig config =
      sample::dense_config({.recompute = plan::Recompute::selective});
  config.software.recomputes_ops = true;
  const LayerActivations a = activations(config, sample::dense_layer());
  EXPECT_EQ(per_token(a.kept), 2 * (1024 + 1024 + 256 + 1024 + 4096 + 1024) + 4 * 16);
  EXPECT_EQ(a.core, a.whole);
}

TEST(LayerActivations, WithoutCompilationMoreIsKept) {
  // tp 2 with sequence parallelism: two norm inputs of 512, two gathered block inputs of 1024, one
  // fp32 number per norm for half of the tokens; half of queries 1024, keys 256, values 256 and
  // context 1024; 4 bytes for each of 8 heads; both halves of the gated pair, the activation's
  // output and the product, each 2048.
  rankwright::plan::TrainingConfig config =
      sample::dense_config({.tp = 2, .sequence_parallel = true});
  config.software.eager_ops = true;
  config.software.recomputes_ops = true;
  EXPECT_EQ(per_token(activations(config, sample::dense_layer()).kept),
            2 * (2 * 512 + 2 * 1024 + 512 + 128 + 128 + 512 + 4 * 2048) + 2 * 4 / 2 + 4 * 8);
  // Selective: input 512, queries, keys and values twice, context, one of the gated pair, and the
  // last output of 1024 before and twice 512 after its reduce-scatter.
  config.plan.recompute = plan::Recompute::selective;
  EXPECT_EQ(per_token(activations(config, sample::dense_layer()).kept),
            2 * (512 + 2 * (512 + 128 + 128) + 512 + 2048 + 1024 + 2 * 512) + 4 * 8);
}

TEST(LayerActivations, SelectiveRecomputeOfExpertsKeepsNormsAndActivations) {
  // Megatron-LM's default module is core_attn: with tp 4, 4 bytes for each of 4 heads. The outputs
  // of norms and of activation functions stay; layernorm and moe_act would have to be named.
  const rankwright::plan::TrainingConfig config = sample::config_of(
      sample::model_of({{8, sample::sparse_layer()}}),
      {.tp = 4, .sequence_parallel = true, .recompute = plan::Recompute::selective});
  const LayerActivations a = activations(config, sample::sparse_layer());
  EXPECT_EQ(per_token(a.whole) - per_token(a.kept), 4 * 4);
  EXPECT_EQ(per_token(a.core), 4 * 4);
  const SavedLayer all = saved(config, sample::sparse_layer());
  EXPECT_EQ(a.kept, all.norms + all.projected + all.context + all.ffn + all.routed);
}

TEST(LayerMatrices, CountOneExpert) {
  // attention h(1024 + 2 x 256 + 1024); shared 3 x h x 1024, expert 3 x h x 512
  const rankwright::plan::TrainingConfig config =
      sample::config_of(sample::model_of({{8, sample::sparse_layer()}}), {});
  const LayerMatrices m = matrices(config, sample::sparse_layer());
  EXPECT_EQ(m.attention, 1024 * 2560);
  EXPECT_EQ(m.ffn, 3 * 1024 * (1024 + 512));
}

plan::Software random_software() {
  return plan::frameworks()[std::size_t(*rc::gen::inRange<i64>(0, i64(plan::frameworks().size())))];
}

RC_GTEST_PROP(LayerActivations, ShrinkWithMoreRecomputation, ()) {
  plan::TrainingConfig config = sample::random_config();
  config.software = random_software();
  RC_ASSERT(!config.model.runs.empty());
  for (const model::LayerRun& run : config.model.runs) {
    const auto with = [&](plan::Recompute recompute) {
      config.plan.recompute = recompute;
      return activations(config, run.layer);
    };
    const LayerActivations none = with(plan::Recompute::none);
    const LayerActivations selective = with(plan::Recompute::selective);
    RC_ASSERT(none.kept >= selective.kept);
    RC_ASSERT(selective.kept >= with(plan::Recompute::full).input);
    RC_ASSERT(none.whole == none.kept && none.core == Bytes{});
  }
}

RC_GTEST_PROP(LayerActivations, NeverGrowWithTpAndSequenceParallelism, ()) {
  plan::TrainingConfig config = sample::random_config();
  config.software = random_software();
  config.plan.sequence_parallel = true;
  RC_ASSERT(!config.model.runs.empty());
  for (const model::LayerRun& run : config.model.runs) {
    const LayerActivations few = activations(config, run.layer);
    plan::TrainingConfig more = config;
    more.plan.tp *= 2;
    const LayerActivations many = activations(more, run.layer);
    RC_ASSERT(many.kept <= few.kept);
    RC_ASSERT(many.input <= few.input);
    RC_ASSERT(many.gradients <= few.gradients);
  }
}

TEST(SavedLayer, Recurrences_MatchTheWorkedExamples) {
  // 16 heads of values of 64, 4 heads of keys of 32; two bytes per element.
  const rankwright::plan::TrainingConfig config = sample::dense_config({});
  model::Layer layer{.attention = {.kind = model::Attention::Kind::mamba,
                                   .heads = 16,
                                   .kv_heads = 4,
                                   .head_dim = 64,
                                   .state = 32,
                                   .conv = 4},
                     .ffn = {},
                     .norms = 1};
  // Mamba-2: 2 * 128 keys, and values, gate and input of the norm of 1,024 each.
  SavedLayer s = saved(config, layer);
  EXPECT_EQ(per_token(s.projected), (2 * 128 + 3 * 1024) * 2);
  EXPECT_EQ(per_token(s.context), 1024 * 2);
  EXPECT_EQ(per_token(s.core), 16 * 4);
  EXPECT_EQ(per_token(s.norms), 2 * 1024 * 2);
  EXPECT_EQ(per_token(s.ffn), 0);
  // The delta rule also saves what leaves the convolution, and 64 elements per head.
  layer.attention.kind = model::Attention::Kind::delta;
  s = saved(config, layer);
  EXPECT_EQ(per_token(s.projected), (2 * (2 * 128 + 1024) + 2 * 1024) * 2);
  EXPECT_EQ(per_token(s.core), 16 * 4 + 64 * 16 * 2);
}

TEST(SavedLayer, LayerWithoutAttention_SavesItsFeedForward) {
  const rankwright::plan::TrainingConfig config = sample::dense_config({});
  model::Layer layer = sample::dense_layer();
  layer.attention = {.kind = model::Attention::Kind::none};
  layer.norms = 1;
  const SavedLayer s = saved(config, layer);
  EXPECT_EQ(per_token(s.norms), 2 * 1024 * 2);
  EXPECT_EQ(per_token(s.projected + s.context + s.core), 0);
  EXPECT_EQ(per_token(s.ffn), 3 * 4096 * 2);
}

}  // namespace activations_test
}  // namespace rankwright::cost
