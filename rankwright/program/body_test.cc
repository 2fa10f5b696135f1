// Worked examples of bodies, as text. A microbatch of 2048 tokens has hidden states of 2048 x 1024
// x 2 bytes = 4.19 MB.
#include "rankwright/program/body.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rankwright/plan/shares.h"
#include "tests/support/sample.h"

namespace rankwright::program {
namespace body_test {

using sample::config_of;
using sample::dense_layer;
using sample::model_of;
using sample::sparse_layer;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::size_t kF = 0, kB = 1, kI = 2, kW = 3;

std::vector<std::string> words(const Body& body) {
  std::vector<std::string> list;
  for (const Step& step : body) list.push_back(show(step));
  return list;
}

/// Returns a config with one layer per stage; embedding and loss are on stages of their own.
plan::TrainingConfig alone(const model::Layer& layer, plan::Plan plan, i64 layers = 1) {
  plan.pp = layers + 2;
  plan.stages = plan::Stages(std::size_t(plan.pp), plan::Stage{});
  for (i64 s = 1; s <= layers; ++s) plan.stages[std::size_t(s)].layers = 1;
  plan.stages.front().embedding = plan.stages.back().loss = true;
  return config_of(model_of({{layers, layer}}), plan, 1);
}

/// Formats the steps of one cell of a stage, by default of the first layer's.
std::vector<std::string> words(const plan::TrainingConfig& config, std::size_t kind,
                               std::size_t stage = 1) {
  return words(build_bodies(config)[stage][kind]);
}

TEST(Show, FormatsComputationsAndCollectives) {
  EXPECT_EQ(show(Step{.part = Part::attention, .layer = 3}), "layer 3 attention");
  EXPECT_EQ(show(Step{.part = Part::mlp, .layer = 0, .again = true}), "layer 0 mlp again");
  EXPECT_EQ(show(Step{.part = Part::optimizer}), "optimizer");
  EXPECT_EQ(show(Step{.layer = 3,
                      .kind = plan::TrafficKind::tp_all_gather,
                      .op = plan::Op::all_gather,
                      .bytes = 134.0_MB}),
            "TP all-gather 134 MB");
  EXPECT_EQ(show(Step{.kind = plan::TrafficKind::cp_ring, .bytes = 1.0_MB, .beside = true}),
            "CP ring send/recv 1 MB beside");
}

TEST(Body, OneRankHasNoCollectives) {
  const rankwright::plan::TrainingConfig config = config_of(model_of({{2, dense_layer()}}), {}, 1);
  EXPECT_THAT(words(config, kF, 0), ElementsAre("embedding", "layer 0 attention", "layer 0 mlp",
                                                "layer 1 attention", "layer 1 mlp", "head"));
  EXPECT_THAT(words(config, kB, 0), ElementsAre("head", "layer 1 mlp", "layer 1 attention",
                                                "layer 0 mlp", "layer 0 attention", "embedding"));
  // token ids have no gradient
  EXPECT_THAT(words(config, kI, 0), ElementsAre("head", "layer 1 mlp", "layer 1 attention",
                                                "layer 0 mlp", "layer 0 attention"));
  EXPECT_EQ(words(config, kW, 0), words(config, kB, 0));
}

TEST(Body, StageWithoutLayersIsEmpty) {
  rankwright::plan::TrainingConfig config = config_of(model_of({{1, dense_layer()}}), {.pp = 3}, 1);
  config.plan.stages = *plan::parse_layout("Et||L");
  for (const std::size_t kind : {kF, kB, kI, kW}) EXPECT_THAT(words(config, kind, 1), IsEmpty());
}

TEST(Body, SequenceParallelismGathersAndScattersAroundBlocks) {
  const rankwright::plan::TrainingConfig config =
      alone(dense_layer(), {.tp = 2, .sequence_parallel = true});
  const std::string gather = "TP all-gather 4.19 MB", scatter = "TP reduce-scatter 4.19 MB";
  EXPECT_THAT(words(config, kF), ElementsAre(gather, "layer 0 attention", scatter,  //
                                             gather, "layer 0 mlp", scatter));
  // gathers the output gradient, then the input for the weight gradient
  EXPECT_THAT(words(config, kB), ElementsAre(gather, gather, "layer 0 mlp", scatter,  //
                                             gather, gather, "layer 0 attention", scatter));
  EXPECT_THAT(words(config, kI), ElementsAre(gather, "layer 0 mlp", scatter,  //
                                             gather, "layer 0 attention", scatter));
  EXPECT_THAT(words(config, kW), ElementsAre(gather, "layer 0 mlp", gather, "layer 0 attention"));
}

TEST(Body, TensorParallelismAllReducesBlockOutputs) {
  const rankwright::plan::TrainingConfig config = alone(dense_layer(), {.tp = 2});
  const std::string reduce = "TP all-reduce 4.19 MB";
  EXPECT_THAT(words(config, kF), ElementsAre("layer 0 attention", reduce, "layer 0 mlp", reduce));
  EXPECT_THAT(words(config, kB), ElementsAre("layer 0 mlp", reduce, "layer 0 attention", reduce));
  EXPECT_EQ(words(config, kI), words(config, kB));
  EXPECT_THAT(words(config, kW), ElementsAre("layer 0 mlp", "layer 0 attention"));
}

TEST(Body, TpOverlapMarksSequenceParallelCollectives) {
  rankwright::plan::TrainingConfig config =
      alone(dense_layer(), {.tp = 2, .sequence_parallel = true});
  config.plan.overlap.tp = true;
  const std::vector<std::array<Body, 4>> cut = build_bodies(config);
  ASSERT_FALSE(cut[1][kB].empty());
  for (const Step& step : cut[1][kB]) EXPECT_EQ(step.beside, !step.computes());
  config.plan.sequence_parallel = false;  // an all-reduce cannot be split
  const std::vector<std::array<Body, 4>> whole = build_bodies(config);
  ASSERT_FALSE(whole[1][kB].empty());
  for (const Step& step : whole[1][kB]) EXPECT_FALSE(step.beside);
}

TEST(Body, SequenceParallelEmbeddingAndHeadCollectives) {
  const rankwright::plan::TrainingConfig config =
      alone(dense_layer(), {.tp = 2, .sequence_parallel = true});
  EXPECT_THAT(words(config, kF, 0), ElementsAre("embedding", "TP embedding 4.19 MB"));
  EXPECT_THAT(words(config, kB, 0), ElementsAre("TP embedding grad 4.19 MB", "embedding"));
  EXPECT_THAT(words(config, kI, 0), ElementsAre("TP embedding grad 4.19 MB"));
  EXPECT_THAT(words(config, kW, 0), ElementsAre("embedding"));
  // 2048 fp32 numbers are 8.19 kB
  const std::string loss = "TP cross-entropy 8.19 kB";
  EXPECT_THAT(words(config, kF, 2),
              ElementsAre("TP head all-gather 4.19 MB", "head", loss, loss, loss));
  EXPECT_THAT(words(config, kB, 2),
              ElementsAre("TP head all-gather 4.19 MB", "head", "TP head grad 4.19 MB"));
  EXPECT_THAT(words(config, kI, 2), ElementsAre("head", "TP head grad 4.19 MB"));
  EXPECT_THAT(words(config, kW, 2), ElementsAre("TP head all-gather 4.19 MB", "head"));
}

TEST(Body, ContextRingSendsKeysAndValues) {
  // cp 4: 512 tokens, keys and values 256 wide each, 2 bytes: 524 kB
  const rankwright::plan::TrainingConfig config = alone(dense_layer(), {.cp = 4});
  const std::string send = "CP ring send/recv 524 kB beside";
  EXPECT_THAT(words(config, kF), ElementsAre(send, send, send, "layer 0 attention", "layer 0 mlp"));
  EXPECT_THAT(words(config, kI),
              ElementsAre("layer 0 mlp", send, send, send, send, send, send, "layer 0 attention"));
  EXPECT_THAT(words(config, kW), ElementsAre("layer 0 mlp", "layer 0 attention"));
}

TEST(Body, ContextAllGatherGathersKeysAndValues) {
  // keys of all 2048 tokens: 1.05 MB; as much for the values
  const rankwright::plan::TrainingConfig config =
      alone(dense_layer(), {.cp = 4, .cp_comm = plan::CpComm::all_gather});
  const std::string gather = "CP all-gather 1.05 MB", scatter = "CP reduce-scatter 1.05 MB";
  EXPECT_THAT(words(config, kF), ElementsAre(gather, gather, "layer 0 attention", "layer 0 mlp"));
  EXPECT_THAT(words(config, kB),
              ElementsAre("layer 0 mlp", gather, gather, "layer 0 attention", scatter, scatter));
}

TEST(Body, ContextAllToAllSurroundsAttention) {
  // 512 tokens x 2 bytes: queries and outputs of 1024 are 1.05 MB, keys and values of 256 262 kB
  const rankwright::plan::TrainingConfig config =
      alone(dense_layer(), {.cp = 4, .cp_comm = plan::CpComm::a2a});
  const std::string wide = "CP all-to-all 1.05 MB", narrow = "CP all-to-all 262 kB";
  EXPECT_THAT(words(config, kF), ElementsAre(wide, narrow, narrow, "layer 0 attention", wide,  //
                                             "layer 0 mlp"));
  EXPECT_THAT(words(config, kB), ElementsAre("layer 0 mlp",  //
                                             wide, "layer 0 attention", wide, narrow, narrow));
}

TEST(Body, SelectiveRecomputeRepeatsAttentionCore) {
  const rankwright::plan::TrainingConfig config =
      alone(dense_layer(), {.cp = 2, .recompute = plan::Recompute::selective});
  // cp 2: 1024 tokens, 1.05 MB
  const std::string send = "CP ring send/recv 1.05 MB";
  EXPECT_THAT(words(config, kB),
              ElementsAre("layer 0 mlp", send + " again beside", "layer 0 attention again",
                          send + " beside", send + " beside", "layer 0 attention"));
  EXPECT_EQ(words(config, kI), words(config, kB));
  EXPECT_THAT(words(config, kW), ElementsAre("layer 0 mlp", "layer 0 attention"));
}

TEST(Body, FullRecomputeRepeatsEachLayerBeforeItsBackward) {
  rankwright::plan::TrainingConfig config =
      config_of(model_of({{2, dense_layer()}}), {.recompute = plan::Recompute::full}, 1);
  EXPECT_THAT(words(config, kB, 0),
              ElementsAre("head",  //
                          "layer 1 attention again", "layer 1 mlp again", "layer 1 mlp",
                          "layer 1 attention",  //
                          "layer 0 attention again", "layer 0 mlp again", "layer 0 mlp",
                          "layer 0 attention", "embedding"));
  config.plan.recompute_layers = 1;  // the first of the stage only
  EXPECT_THAT(words(config, kI, 0),
              ElementsAre("head", "layer 1 mlp", "layer 1 attention", "layer 0 attention again",
                          "layer 0 mlp again", "layer 0 mlp", "layer 0 attention"));
}

TEST(Body, ExpertsDispatchAndCombineTokens) {
  // 2 copies of every token: 8.39 MB over ep; two etp ranks together 16.8 MB
  const rankwright::plan::TrainingConfig config =
      alone(sparse_layer(), {.tp = 2, .dp = 4, .ep = 4, .etp = 2});
  const std::string reduce = "TP all-reduce 4.19 MB", swap = "EP all-to-all 8.39 MB",
                    gather = "ETP all-gather 16.8 MB", scatter = "ETP reduce-scatter 16.8 MB";
  EXPECT_THAT(words(config, kF),
              ElementsAre("layer 0 attention", reduce, "layer 0 router", swap, gather,
                          "layer 0 experts", scatter, swap, "layer 0 mlp", reduce));
  EXPECT_THAT(words(config, kB),
              ElementsAre("layer 0 mlp", reduce, swap, gather, "layer 0 experts", scatter, swap,
                          "layer 0 router", "layer 0 attention", reduce));
  EXPECT_THAT(words(config, kW),
              ElementsAre("layer 0 mlp", "layer 0 experts", "layer 0 router", "layer 0 attention"));
}

TEST(Body, MtpModuleEmbedsProjectsAndHasItsOwnLoss) {
  rankwright::plan::TrainingConfig config = config_of(model_of({{1, dense_layer()}}), {.tp = 2}, 1);
  config.model.mtp_layers = 1;
  const std::string reduce = "TP all-reduce 4.19 MB", loss = "TP cross-entropy 8.19 kB";
  EXPECT_THAT(words(config, kF, 0),
              ElementsAre("embedding", "TP embedding 4.19 MB",                 //
                          "layer 0 attention", reduce, "layer 0 mlp", reduce,  //
                          "layer 1 embedding", "TP embedding 4.19 MB",         //
                          "layer 1 projection", "TP all-gather 4.19 MB",       //
                          "layer 1 attention", reduce, "layer 1 mlp", reduce,  //
                          "layer 1 head", loss, loss, loss, "head", loss, loss, loss));
  EXPECT_THAT(
      words(config, kB, 0),
      ElementsAre("head", "TP head grad 4.19 MB", "layer 1 head", "TP head grad 4.19 MB",
                  "layer 1 mlp", reduce, "layer 1 attention", reduce, "TP reduce-scatter 4.19 MB",
                  "layer 1 projection", "TP all-reduce 8.39 MB", "layer 1 embedding",  //
                  "layer 0 mlp", reduce, "layer 0 attention", reduce, "embedding"));
}

/// Two layers of 15,206,400 parameters in bf16 (30.4 MB), embedding 32,768,000 (65.5 MB), head
/// 32,769,024 with the last norm (65.5 MB).
plan::TrainingConfig sharded(int zero, bool hidden) {
  plan::TrainingConfig config =
      config_of(model_of({{2, dense_layer()}}), {.dp = 4, .zero = zero}, 1);
  config.plan.overlap = {.grad_reduce = hidden, .param_gather = hidden};
  return config;
}

TEST(Body, Zero3PrefetchesTheNextUnit) {
  const rankwright::plan::TrainingConfig config = sharded(3, true);
  const std::string gather = "FSDP/ZeRO all-gather ", scatter = "DP reduce-scatter ";
  EXPECT_THAT(words(config, kF, 0),
              ElementsAre(gather + "65.5 MB", gather + "30.4 MB beside", "embedding",  //
                          gather + "30.4 MB beside", "layer 0 attention", "layer 0 mlp",
                          gather + "65.5 MB beside", "layer 1 attention", "layer 1 mlp", "head"));
  EXPECT_THAT(words(config, kI, 0),
              ElementsAre(gather + "65.5 MB", gather + "30.4 MB beside", "head",  //
                          gather + "30.4 MB beside", "layer 1 mlp", "layer 1 attention",
                          gather + "65.5 MB beside", "layer 0 mlp", "layer 0 attention"));
  EXPECT_THAT(words(config, kW, 0),
              ElementsAre("head", scatter + "65.5 MB beside", "layer 1 mlp", "layer 1 attention",
                          scatter + "30.4 MB beside", "layer 0 mlp", "layer 0 attention",
                          scatter + "30.4 MB beside", "embedding", scatter + "65.5 MB beside"));
}

TEST(Body, Zero3WithoutOverlapGathersRightBeforeUse) {
  const rankwright::plan::TrainingConfig config = sharded(3, false);
  const std::string gather = "FSDP/ZeRO all-gather ", scatter = "DP reduce-scatter ";
  EXPECT_THAT(
      words(config, kB, 0),
      ElementsAre(gather + "65.5 MB", "head", scatter + "65.5 MB",  //
                  gather + "30.4 MB", "layer 1 mlp", "layer 1 attention", scatter + "30.4 MB",
                  gather + "30.4 MB", "layer 0 mlp", "layer 0 attention", scatter + "30.4 MB",  //
                  gather + "65.5 MB", "embedding", scatter + "65.5 MB"));
}

TEST(Body, Zero3GathersATiedWeightOncePerCell) {
  rankwright::plan::TrainingConfig config = sharded(3, false);
  config.model.tied = true;
  // The head's own unit is the last norm, 2.05 kB. The backward reads the weight in the head first,
  // and its gradient is complete after the embedding.
  const std::string gather = "FSDP/ZeRO all-gather ", scatter = "DP reduce-scatter ";
  const std::vector<std::string> back = words(config, kB, 0);
  EXPECT_THAT(std::vector(back.begin(), back.begin() + 4),
              ElementsAre(gather + "2.05 kB", gather + "65.5 MB", "head", scatter + "2.05 kB"));
  EXPECT_THAT(std::vector(back.end() - 2, back.end()),
              ElementsAre("embedding", scatter + "65.5 MB"));
}

/// Two layers on two stages with a tied head.
plan::TrainingConfig shared_weight(int zero) {
  plan::TrainingConfig config =
      config_of(model_of({{2, dense_layer()}}), {.dp = 4, .pp = 2, .zero = zero}, 2);
  config.plan.overlap = {.grad_reduce = false, .param_gather = false};
  config.model.tied = true;
  return config;
}

TEST(Body, Zero3GathersASharedVocabularyWeightSeparately) {
  const std::string gather = "FSDP/ZeRO all-gather ", scatter = "DP reduce-scatter ";
  rankwright::plan::TrainingConfig config = shared_weight(3);
  config.model.positions = 512;  // x 1024 elements: 1.05 MB
  EXPECT_THAT(words(config, kF, 0),
              ElementsAre(gather + "65.5 MB", gather + "1.05 MB", "embedding", gather + "30.4 MB",
                          "layer 0 attention", "layer 0 mlp"));
  // Its last norm is a unit of 2.05 kB.
  EXPECT_THAT(words(config, kB, 1),
              ElementsAre(gather + "2.05 kB", gather + "65.5 MB", "head", scatter + "2.05 kB",
                          scatter + "65.5 MB", gather + "30.4 MB", "layer 1 mlp",
                          "layer 1 attention", scatter + "30.4 MB"));
}

TEST(Body, Zero2ReducesASharedVocabularyWeightSeparately) {
  const std::string scatter = "DP reduce-scatter ";
  EXPECT_THAT(words(shared_weight(2), kB, 0),
              ElementsAre("layer 0 mlp", "layer 0 attention", "embedding", scatter + "65.5 MB",
                          scatter + "30.4 MB"));
  EXPECT_THAT(words(shared_weight(2), kB, 1),
              ElementsAre("head", scatter + "65.5 MB", "layer 1 mlp", "layer 1 attention",
                          scatter + "30.4 MB"));
}

TEST(Body, HybridShardingReducesShardsThenReplicas) {
  rankwright::plan::TrainingConfig config = sharded(3, true);
  config.plan.shard_size = 2;
  const std::vector<std::string> weights = words(config, kW, 0);
  EXPECT_THAT(
      std::vector(weights.begin(), weights.begin() + 3),
      ElementsAre("head", "DP reduce-scatter 65.5 MB beside", "replica all-reduce 32.8 MB beside"));
}

TEST(Body, Zero2ReducesFullBuckets) {
  // Backward: head 32,769,024 plus a layer is 47,975,424, which fills the first bucket of 40
  // million (80 MB). With the other layer 23,181,824 are pending, with the embedding 55,949,824: a
  // second bucket, and 15,949,824 remain (31.9 MB).
  EXPECT_THAT(
      words(sharded(2, true), kW, 0),
      ElementsAre("head", "layer 1 mlp", "layer 1 attention", "DP reduce-scatter 80 MB beside",
                  "layer 0 mlp", "layer 0 attention", "embedding", "DP reduce-scatter 80 MB beside",
                  "DP reduce-scatter 31.9 MB beside"));
  // F and I neither gather nor reduce.
  EXPECT_EQ(words(sharded(2, true), kF, 0), words(sharded(0, true), kF, 0));
  EXPECT_EQ(words(sharded(2, true), kI, 0), words(sharded(0, true), kI, 0));
}

TEST(TransferBytes, IncludeMtpOutputsAfterTheirStage) {
  rankwright::plan::TrainingConfig config = sample::dense_config({.pp = 4});
  config.model.mtp_layers = 1;
  EXPECT_EQ(count_transfer_bytes(config, 2), bytes(2048 * 1024, 2));
  config.plan.stages = *plan::parse_layout("Et*4|t*4|m|L");
  EXPECT_EQ(count_transfer_bytes(config, 1), bytes(2048 * 1024, 2));
  EXPECT_EQ(count_transfer_bytes(config, 2), 2 * bytes(2048 * 1024, 2));
}

/// Lists the collectives of a body in sorted order.
std::vector<std::string> collectives(const Body& body) {
  std::vector<std::string> list;
  for (const Step& step : body)
    if (!step.computes())
      list.push_back(std::to_string(step.layer) + " " + show(step) + " " +
                     std::to_string(step.bytes.value) + std::string(name(step.op)) +
                     std::string(name(step.group)));
  std::sort(list.begin(), list.end());
  return list;
}

RC_GTEST_PROP(Body, BackwardHasTheCollectivesOfInputAndWeightGradient, ()) {
  const plan::TrainingConfig config = sample::random_config();
  const std::vector<std::array<Body, 4>> bodies = build_bodies(config);
  RC_ASSERT(!bodies.empty());
  for (const std::array<Body, 4>& stage : bodies) {
    Body halves = stage[kI];
    halves.insert(halves.end(), stage[kW].begin(), stage[kW].end());
    RC_ASSERT(collectives(stage[kB]) == collectives(halves));
  }
}

RC_GTEST_PROP(Body, ComputesEveryLayerOncePerPass, ()) {
  const plan::TrainingConfig config = sample::random_config();
  for (const std::size_t kind : {kF, kB, kI, kW}) {
    std::vector<i64> attentions(std::size_t(config.model.layers() + config.model.mtp_layers), 0);
    for (const std::array<Body, 4>& stage : build_bodies(config))
      for (const Step& step : stage[kind])
        if (step.part == Part::attention && !step.again) ++attentions[std::size_t(step.layer)];
    RC_ASSERT(std::count(attentions.begin(), attentions.end(), 1) == i64(attentions.size()));
  }
}

RC_GTEST_PROP(Body, RecomputationEqualsForward, ()) {
  // With full recomputation of all layers, the repeated steps are F without embedding and head.
  plan::TrainingConfig config = sample::random_config();
  config.plan.recompute = plan::Recompute::full;
  config.plan.recompute_layers = 0;
  const auto inner = [](const Body& body, bool again) {
    Body kept;
    for (Step step : body) {
      const bool edge = step.layer < 0 || step.part == Part::embedding || step.part == Part::head ||
                        step.kind == plan::TrafficKind::tp_embedding ||
                        step.kind == plan::TrafficKind::tp_head_gather ||
                        step.kind == plan::TrafficKind::tp_cross_entropy;
      if (step.again != again || (edge && !again)) continue;
      step.again = false;
      kept.push_back(step);
    }
    std::stable_sort(kept.begin(), kept.end(),
                     [](const Step& a, const Step& b) { return a.layer < b.layer; });
    return kept;
  };
  const std::vector<std::array<Body, 4>> bodies = build_bodies(config);
  RC_ASSERT(!bodies.empty());
  for (const std::array<Body, 4>& stage : bodies) {
    RC_ASSERT(inner(stage[kB], true) == inner(stage[kF], false));
    RC_ASSERT(inner(stage[kI], true) == inner(stage[kF], false));
    RC_ASSERT(inner(stage[kW], true).empty());
  }
}

}  // namespace body_test
}  // namespace rankwright::program
