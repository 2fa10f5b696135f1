#include "rankwright/planner/explain/explain_view.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "rankwright/catalog/catalog.h"
#include "tests/support/golden.h"
#include "tests/support/typed_configs.h"

namespace rankwright::planner {
namespace worksheet_test {

using ::testing::ElementsAre;

/// Formats the rows of states, one per line.
std::string format_states(const std::string& heading, const std::vector<StateRow>& rows) {
  std::string text = heading + "\n";
  for (const StateRow& row : rows)
    text += fmt::format("  {}: tp {}, pp {}, cp {}, dp {}, ep {}; {}; {}\n", row.state, row.tp,
                        row.pp, row.cp, row.dp, row.ep, row.consistent, row.critical);
  return text;
}

std::vector<std::string> axes_of(const ExplainView& view) {
  std::vector<std::string> names;
  for (const AxisRow& row : view.axes) names.push_back(row.axis);
  return names;
}

/// Formats the axes of a plan, one per line.
std::string format_axes(const std::string& heading, const ExplainView& view) {
  std::string text = heading + "\n";
  for (const AxisRow& row : view.axes)
    text += fmt::format("  {} {}: {}; {}\n", row.axis, row.degree, row.placement, row.reason);
  return text;
}

// Returns the placement text of a group.

std::string placement_of(const std::string& cluster, const std::string& parallelism,
                         mesh::GroupKind kind) {
  const rankwright::plan::TrainingConfig config =
      config_of("model: llama-3.1-70b\n" + cluster + "parallelism: {" + parallelism + "}\n");
  return describe_span(config.cluster, cost::find_span(config, kind));
}

TEST(PlacementText, Groups_SayHowManyRanksAreInsideAndAcrossEachLevel) {
  std::string text;
  const auto add = [&](const std::string& cluster, const std::string& parallelism,
                       mesh::GroupKind kind) {
    text += fmt::format("{} of {}: {}\n", mesh::name(kind), parallelism,
                        placement_of(cluster, parallelism, kind));
  };
  // Nodes of 8: dp 32 with tp 2 has 4 ranks in each of 8 nodes.
  const std::string nodes = "cluster: dgx-h100 x 8\n";
  add(nodes, "dp_size: 64", mesh::GroupKind::tp);
  add(nodes, "tp_size: 8, dp_size: 8", mesh::GroupKind::tp);
  add(nodes, "tp_size: 8, dp_size: 8", mesh::GroupKind::dp);
  add(nodes, "tp_size: 2, dp_size: 32", mesh::GroupKind::dp);
  // Groups of 16 in racks of 72: four are inside a rack, the fifth has 8 ranks in each.
  add("cluster: gb200-nvl72 x 2\n", "tp_size: 16, pp_size: 3, dp_size: 3", mesh::GroupKind::tp);
  // Three levels: hosts of 4, rails of 2 hosts, a spine of 2 rails.
  const std::string levels =
      "cluster:\n  device: h100-sxm\n  levels:\n"
      "    - {name: nvlink, arity: 4, bandwidth: 450 GB/s, latency: 2 us}\n"
      "    - {name: rail, arity: 2, bandwidth: 50 GB/s, latency: 5 us}\n"
      "    - {name: spine, arity: 2, bandwidth: 25 GB/s, latency: 9 us}\n";
  add(levels, "dp_size: 16", mesh::GroupKind::dp);
  add(levels, "tp_size: 8, dp_size: 2", mesh::GroupKind::dp);
  add(levels, "tp_size: 8, dp_size: 2", mesh::GroupKind::tp);
  golden::expect("planner/placements.txt", text);
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

TEST(Axes, Reasons_HaveNumbersOrSayThatNothingIsSplit) {
  const ExplainView one =
      make_explain_view(config_of("model: llama-3.2-1b\ncluster: dgx-h100 x 1\nworld_size: 1\n"
                                  "parallelism: {dp_size: 1}\n"));
  // 32 microbatches on 4 pp ranks: 3 / (32 + 3) = 8.57 % bubble.
  const ExplainView pipeline = make_explain_view(
      config_of("model: llama-3.1-70b\ncluster: dgx-h100 x 8\n"
                "job: {global_batch: 64, sequence: 4096}\n"
                "parallelism: {tp_size: 8, pp_size: 4, dp_size: 2, zero_stage: 1}\n"));
  // DualPipe has every stage twice: (4/2 - 1) x (3 + 2 - 3) = 2 idle slots of 32 x 3 + 2.
  const ExplainView mirror = make_explain_view(
      config_of("model: llama-3.2-1b\ncluster: dgx-h100 x 1\n"
                "parallelism: {tp_size: 2, pp_size: 4, dp_size: 1, schedule: dualpipe}\n"));
  golden::expect("planner/axes.txt", format_axes("one rank", one) +
                                         format_axes("tp 8, pp 4, dp 2, ZeRO-1", pipeline) +
                                         format_axes("tp 2, pp 4, DualPipe", mirror));
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
  EXPECT_EQ(rows[0].dp, "same");
  EXPECT_EQ(rows[1].dp, "same");
  EXPECT_EQ(rows[2].dp, "same");
}

TEST(States, ZeroStage1_ShardsTheOptimizer) {
  const std::vector<StateRow> rows = states_with(1);
  EXPECT_EQ(rows[0].dp, "same");
  EXPECT_EQ(rows[1].dp, "same");
  EXPECT_EQ(rows[2].dp, "sharded");
}

TEST(States, ZeroStage2_ShardsGradientsToo) {
  const std::vector<StateRow> rows = states_with(2);
  EXPECT_EQ(rows[0].dp, "same");
  EXPECT_EQ(rows[1].dp, "sharded");
  EXPECT_EQ(rows[2].dp, "sharded");
}

TEST(States, ZeroStage3_ShardsParametersToo) {
  const std::vector<StateRow> rows = states_with(3);
  EXPECT_EQ(rows[0].dp, "sharded");
  EXPECT_EQ(rows[1].dp, "sharded");
  EXPECT_EQ(rows[2].dp, "sharded");
}

TEST(States, EveryZeroStage_SaysHowStatesStayConsistentAndWhen) {
  std::string text;
  for (const int zero : {0, 1, 2, 3})
    text += format_states("ZeRO-" + std::to_string(zero), states_with(zero));
  golden::expect("planner/states-by-zero-stage.txt", text);
}

TEST(States, OneCopy_NeedsNoCollectives) {
  const std::vector<StateRow> rows =
      make_explain_view(config_of("model: llama-3.2-1b\ncluster: dgx-h100 x 1\nworld_size: 1\n"
                                  "parallelism: {dp_size: 1, zero_stage: 3}\n"))
          .states;
  golden::expect("planner/states-one-rank.txt", format_states("one rank", rows));
}

std::vector<StateRow> mirror_states(const std::string& degrees) {
  return make_explain_view(config_of("model: llama-3.2-1b\ncluster: dgx-h100 x 1\n"
                                     "parallelism: {schedule: dualpipe, " +
                                     degrees + "}\n"))
      .states;
}

TEST(States, DualPipe_HoldsStatesTwiceAndReducesOverDataRanksFirst) {
  golden::expect("planner/states-dualpipe.txt",
                 format_states("tp 2, pp 4", mirror_states("tp_size: 2, pp_size: 4")) +
                     format_states("pp 4, dp 2, ZeRO-2",
                                   mirror_states("pp_size: 4, dp_size: 2, zero_stage: 2")));
}

TEST(States, ContextAndExpertParallelism_AreShown) {
  const std::vector<StateRow> rows =
      make_explain_view(
          config_of("model: mixtral-8x7b\ncluster: dgx-h100 x 2\n"
                    "parallelism: {cp_size: 2, dp_size: 8, ep_size: 8, zero_stage: 1}\n"))
          .states;
  golden::expect("planner/states-experts.txt", format_states("cp 2, dp 8, ep 8, ZeRO-1", rows));
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
  ASSERT_GT(view.communication.size(), 2u);
  for (std::size_t i = 1; i < view.communication.size(); ++i)
    EXPECT_LT(view.communication[i - 1].evaluated.traffic.kind,
              view.communication[i].evaluated.traffic.kind);
}

}  // namespace worksheet_test
}  // namespace rankwright::planner
