#include "rankwright/planner/explain/explain_view.h"

#include <gmock/gmock.h>

#include "rankwright/catalog/catalog.h"
#include "tests/support/typed_configs.h"

namespace rankwright::planner {
namespace worksheet_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> cells(const StateRow& row) {
  return {row.state, row.tp, row.pp, row.cp, row.dp, row.ep, row.consistent, row.critical};
}

std::vector<std::string> axes_of(const ExplainView& view) {
  std::vector<std::string> names;
  for (const AxisRow& row : view.axes) names.push_back(row.axis);
  return names;
}

const AxisRow& axis(const ExplainView& view, std::string_view name) {
  for (const AxisRow& row : view.axes)
    if (row.axis == name) return row;
  return view.axes.front();
}

// Returns the placement text of a group.

std::string placement_of(const std::string& cluster, const std::string& parallelism,
                         mesh::GroupKind kind) {
  const rankwright::plan::TrainingConfig config =
      config_of("model: llama-3.1-70b\n" + cluster + "parallelism: {" + parallelism + "}\n");
  return describe_span(config.cluster, cost::find_span(config, kind));
}

TEST(PlacementText, Groups_SayHowManyRanksAreInsideAndAcross) {
  const std::string cluster = "cluster: dgx-h100 x 8\n";
  EXPECT_EQ(placement_of(cluster, "dp_size: 64", mesh::GroupKind::tp), "one rank");
  EXPECT_EQ(placement_of(cluster, "tp_size: 8, dp_size: 8", mesh::GroupKind::tp), "inside nvlink");
  EXPECT_EQ(placement_of(cluster, "tp_size: 8, dp_size: 8", mesh::GroupKind::dp),
            "8 across infiniband");
  EXPECT_EQ(placement_of(cluster, "tp_size: 2, dp_size: 32", mesh::GroupKind::dp),
            "4 inside nvlink x 8 across infiniband");
}

TEST(PlacementText, UnevenGroups_SayWhere) {
  // Groups of 16 in racks of 72: four are inside a rack, the fifth has 8 ranks in each.
  EXPECT_EQ(placement_of("cluster: gb200-nvl72 x 2\n", "tp_size: 16, pp_size: 3, dp_size: 3",
                         mesh::GroupKind::tp),
            "some inside nvlink, some across infiniband");
}

TEST(PlacementText, EveryLevelThatIsCrossed_IsNamed) {
  const std::string cluster =
      "cluster:\n  device: h100-sxm\n  levels:\n"
      "    - {name: nvlink, arity: 4, bandwidth: 450 GB/s, latency: 2 us}\n"
      "    - {name: rail, arity: 2, bandwidth: 50 GB/s, latency: 5 us}\n"
      "    - {name: spine, arity: 2, bandwidth: 25 GB/s, latency: 9 us}\n";
  EXPECT_EQ(placement_of(cluster, "dp_size: 16", mesh::GroupKind::dp),
            "4 inside nvlink x 2 across rail x 2 across spine");
  EXPECT_EQ(placement_of(cluster, "tp_size: 8, dp_size: 2", mesh::GroupKind::dp), "2 across spine");
  EXPECT_EQ(placement_of(cluster, "tp_size: 8, dp_size: 2", mesh::GroupKind::tp),
            "4 inside nvlink x 2 across rail");
}

TEST(Axes, FourAxesAlways_OthersIfUsed) {
  const std::string plan = "model: llama-3.2-1b\ncluster: dgx-h100 x 1\nparallelism: ";
  EXPECT_THAT(axes_of(make_explain_view(config_of(plan + "{dp_size: 8}\n"))),
              ElementsAre("TP", "PP", "DP", "FSDP/ZeRO"));
  EXPECT_THAT(
      axes_of(make_explain_view(config_of(plan + "{tp_size: 2, cp_size: 2, dp_size: 2}\n"))),
      ElementsAre("TP", "SP", "CP", "PP", "DP", "FSDP/ZeRO"));
  EXPECT_THAT(axes_of(make_explain_view(
                  config_of("model: mixtral-8x7b\ncluster: dgx-h100 x 1\n"
                            "parallelism: {dp_size: 8, ep_size: 8, zero_stage: 1}\n"))),
              ElementsAre("TP", "EP", "PP", "DP", "FSDP/ZeRO"));
}

TEST(Axes, DegreeOne_SaysThatNothingIsSplit) {
  const ExplainView view =
      make_explain_view(config_of("model: llama-3.2-1b\ncluster: dgx-h100 x 1\nworld_size: 1\n"
                                  "parallelism: {dp_size: 1}\n"));
  EXPECT_EQ(axis(view, "TP").reason, "layers stay whole");
  EXPECT_EQ(axis(view, "PP").reason, "no stages, no bubble");
  EXPECT_EQ(axis(view, "DP").reason, "one copy");
  EXPECT_EQ(axis(view, "FSDP/ZeRO").reason, "there is nothing to shard over");
}

TEST(Axes, Reasons_HaveNumbers) {
  // 32 microbatches on 4 pp ranks: 3 / (32 + 3) = 8.57 % bubble.
  const ExplainView view = make_explain_view(
      config_of("model: llama-3.1-70b\ncluster: dgx-h100 x 8\n"
                "job: {global_batch: 64, sequence: 4096}\n"
                "parallelism: {tp_size: 8, pp_size: 4, dp_size: 2, zero_stage: 1}\n"));
  EXPECT_EQ(axis(view, "PP").reason,
            "80 layers over 4 stages; 32 microbatches, ideal bubble 8.57 % (1f1b)");
  EXPECT_EQ(axis(view, "PP").placement, "4 across infiniband");
  EXPECT_EQ(axis(view, "FSDP/ZeRO").degree, "stage 1 over 2");
}

TEST(Axes, DualPipe_HoldsEveryStageTwice) {
  const ExplainView view = make_explain_view(
      config_of("model: llama-3.2-1b\ncluster: dgx-h100 x 1\n"
                "parallelism: {tp_size: 2, pp_size: 4, dp_size: 1, schedule: dualpipe}\n"));
  // (4/2 - 1) x (3 + 2 - 3) = 2 idle slots of 32 x 3 + 2.
  EXPECT_EQ(axis(view, "PP").reason,
            "16 layers over 4 stages, each on two pp ranks; 32 microbatches, ideal bubble "
            "2.04 % (dualpipe)");
  EXPECT_EQ(axis(view, "DP").reason, "no copies but the mirror's");
}

// Returns the states by axis for a ZeRO stage.

std::vector<StateRow> states_with(int zero) {
  return make_explain_view(
             config_of("model: llama-3.2-1b\ncluster: dgx-h100 x 1\n"
                       "parallelism: {tp_size: 2, pp_size: 2, dp_size: 2, zero_stage: " +
                       std::to_string(zero) + "}\n"))
      .states;
}

TEST(States, ZeroStage0_ReplicatesStates) {
  const std::vector<StateRow> rows = states_with(0);
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_THAT(cells(rows[0]), ElementsAre("parameters", "cut", "by layer", "-", "same", "-",
                                          "equal gradients, equal update", "no"));
  EXPECT_THAT(cells(rows[1]), ElementsAre("gradients", "cut", "by layer", "-", "same", "-",
                                          "DP all-reduce", "end of step, beside backward"));
  EXPECT_THAT(cells(rows[2]), ElementsAre("optimizer", "cut", "by layer", "-", "same", "-",
                                          "each rank updates all it holds", "no"));
  EXPECT_THAT(cells(rows[3]), ElementsAre("activations", "cut", "by layer", "-", "by batch", "-",
                                          "TP collectives, PP send/recv", "yes"));
  EXPECT_THAT(cells(rows[4]),
              ElementsAre("batch", "same", "same", "-", "by sample", "-", "the data loader", "no"));
}

TEST(States, ZeroStage1_ShardsTheOptimizer) {
  const std::vector<StateRow> rows = states_with(1);
  EXPECT_THAT(cells(rows[0]), ElementsAre("parameters", "cut", "by layer", "-", "same", "-",
                                          "all-gather after the update", "no"));
  EXPECT_THAT(cells(rows[1]), ElementsAre("gradients", "cut", "by layer", "-", "same", "-",
                                          "DP reduce-scatter", "end of step, beside backward"));
  EXPECT_THAT(cells(rows[2]), ElementsAre("optimizer", "cut", "by layer", "-", "sharded", "-",
                                          "each rank updates its shard", "no"));
}

TEST(States, ZeroStage2_ShardsGradientsToo) {
  const std::vector<StateRow> rows = states_with(2);
  EXPECT_EQ(rows[0].dp, "same");
  EXPECT_THAT(cells(rows[1]), ElementsAre("gradients", "cut", "by layer", "-", "sharded", "-",
                                          "DP reduce-scatter", "every microbatch, beside compute"));
  EXPECT_EQ(rows[2].dp, "sharded");
}

TEST(States, ZeroStage3_ShardsParametersToo) {
  const std::vector<StateRow> rows = states_with(3);
  EXPECT_THAT(cells(rows[0]), ElementsAre("parameters", "cut", "by layer", "-", "sharded", "-",
                                          "FSDP all-gather before use", "yes, unless prefetched"));
  EXPECT_EQ(rows[1].dp, "sharded");
  EXPECT_EQ(rows[2].dp, "sharded");
}

TEST(States, OneCopy_NeedsNoCollectives) {
  const std::vector<StateRow> rows =
      make_explain_view(config_of("model: llama-3.2-1b\ncluster: dgx-h100 x 1\nworld_size: 1\n"
                                  "parallelism: {dp_size: 1, zero_stage: 3}\n"))
          .states;
  EXPECT_THAT(cells(rows[0]), ElementsAre("parameters", "-", "-", "-", "-", "-", "one copy", "no"));
  EXPECT_THAT(cells(rows[1]),
              ElementsAre("gradients", "-", "-", "-", "-", "-", "nothing: one copy", "-"));
  EXPECT_THAT(cells(rows[3]), ElementsAre("activations", "-", "-", "-", "-", "-", "nothing", "-"));
}

std::vector<StateRow> mirror_states(const std::string& degrees) {
  return make_explain_view(config_of("model: llama-3.2-1b\ncluster: dgx-h100 x 1\n"
                                     "parallelism: {schedule: dualpipe, " +
                                     degrees + "}\n"))
      .states;
}

TEST(States, DualPipe_HoldsStatesTwiceAndReducesGradients) {
  const std::vector<StateRow> rows = mirror_states("tp_size: 2, pp_size: 4");
  EXPECT_THAT(cells(rows[0]), ElementsAre("parameters", "cut", "by layer, twice", "-", "-", "-",
                                          "equal gradients, equal update", "no"));
  EXPECT_THAT(cells(rows[1]), ElementsAre("gradients", "cut", "by layer, twice", "-", "-", "-",
                                          "mirror all-reduce", "end of step"));
  EXPECT_EQ(rows[2].pp, "by layer, twice");
  EXPECT_EQ(rows[3].pp, "by layer");
}

TEST(States, DualPipeWithDataParallelism_ReducesOverDataRanksFirst) {
  const std::vector<StateRow> rows = mirror_states("pp_size: 4, dp_size: 2, zero_stage: 2");
  EXPECT_EQ(rows[0].consistent, "all-gather after the update");
  EXPECT_EQ(rows[1].consistent, "DP reduce-scatter, mirror all-reduce");
  EXPECT_EQ(rows[1].critical, "every microbatch, beside compute; mirror: end of step");
}

TEST(States, ContextAndExpertParallelism_AreShown) {
  const std::vector<StateRow> rows =
      make_explain_view(
          config_of("model: mixtral-8x7b\ncluster: dgx-h100 x 2\n"
                    "parallelism: {cp_size: 2, dp_size: 8, ep_size: 8, zero_stage: 1}\n"))
          .states;
  EXPECT_EQ(rows[0].ep, "by expert");
  EXPECT_EQ(rows[3].cp, "by sequence");
  EXPECT_EQ(rows[3].ep, "by token");
  EXPECT_EQ(rows[3].consistent, "CP exchange, EP all-to-all");
}

// Communication rows are from the pp rank that has most of each kind.

TEST(Communication, EachRow_NamesItsLinkAndThePreferredOne) {
  const ExplainView view = make_explain_view(
      config_of("model: llama-3.1-70b\ncluster: dgx-h100 x 8\n"
                "parallelism: {tp_size: 8, pp_size: 4, dp_size: 2, zero_stage: 1}\n"));
  bool tensor = false, sent = false;
  for (const CommunicationRow& c : view.communication) {
    if (c.evaluated.traffic.kind == plan::TrafficKind::tp_all_gather) {
      tensor = true;
      EXPECT_EQ(c.level, "nvlink");
      EXPECT_EQ(c.preferred, "nvlink");
    }
    if (c.evaluated.traffic.kind == plan::TrafficKind::pp_forward) {
      sent = true;
      EXPECT_EQ(c.level, "infiniband");
      EXPECT_EQ(c.preferred, "any");
    }
  }
  EXPECT_TRUE(tensor && sent);
}

TEST(Communication, EachKind_HasOneRowInTableOrder) {
  const ExplainView view = make_explain_view(
      config_of("model: llama-3.1-70b\ncluster: dgx-h100 x 8\n"
                "parallelism: {tp_size: 8, pp_size: 4, dp_size: 2, zero_stage: 1}\n"));
  for (std::size_t i = 1; i < view.communication.size(); ++i)
    EXPECT_LT(view.communication[i - 1].evaluated.traffic.kind,
              view.communication[i].evaluated.traffic.kind);
}

}  // namespace worksheet_test
}  // namespace rankwright::planner
