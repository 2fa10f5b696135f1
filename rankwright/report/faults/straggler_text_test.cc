#include "rankwright/report/faults/straggler_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "rankwright/catalog/catalog.h"
#include "rankwright/report/faults/faults_json.h"
#include "tests/support/golden.h"
#include "tests/support/typed_configs.h"

namespace rankwright::report {
namespace straggler_text_test {

const std::string kPlan =
    "model: llama-3.1-8b\ncluster: dgx-h100 x 4\njob: {global_batch: 64, sequence: 2048}\n"
    "parallelism: {pp_size: 2, tp_size: 8, dp_size: 2}\n";

std::string describe(const std::string& plan, i64 rank, double factor) {
  const rankwright::plan::TrainingConfig config = config_of(plan);
  const cost::SlowRank slow[] = {{rank, factor}};
  const cost::Straggler out = estimate_straggler(config, catalog::get_calibration(), slow);
  return render_straggler_text(
      config, out, mitigate_straggler(config, catalog::get_calibration(), out), {}, 100);
}

TEST(StragglerText, NamesTheRankAndWhichRanksWait) {
  // Order tp-dp-pp: rank 17 has tp 1 and dp 0 on pp rank 1, and is device 17, on node 17 / 8 = 2.
  // The 8 - 1 tp peers, the 8 ranks of the other pp rank and the 16 of the other replica wait. Its
  // replica does half of the work.
  golden::expect("faults/straggler.txt", describe(kPlan, 17, 1.3));
}

TEST(StragglerText, FasterRank_SaysThatNothingIsLost) {
  // No mitigation is offered.
  golden::expect("faults/straggler-faster.txt", describe(kPlan, 17, 0.9));
}

TEST(StragglerText, Zero3_SaysThatAllReplicasSlowDown) {
  golden::expect("faults/straggler-zero-3.txt",
                 describe("model: llama-3.2-1b\ncluster: dgx-h100\njob: {global_batch: 8}\n"
                          "parallelism: {dp_size: 8, zero_stage: 3}\n",
                          3, 2));
}

TEST(LinkText, ListsTheCollectivesThatCrossTheLink) {
  const rankwright::plan::TrainingConfig config = config_of(kPlan);
  const cost::SlowLink links[] = {{1, 25.0_GBps}};
  // Gradients cross InfiniBand; tp 8 stays inside a node.
  golden::expect(
      "faults/slow-link.txt",
      render_link_text(config, estimate_link_loss(config, catalog::get_calibration(), links), {},
                       100));
}

TEST(Longer, HasASign) {
  EXPECT_EQ(format_slowdown(1.0_s, 1.25_s), "+25 %");
  EXPECT_EQ(format_slowdown(1.0_s, 0.75_s), "-25 %");
  EXPECT_EQ(format_slowdown(1.0_s, 1.0_s), "unchanged");
}

TEST(Bar, HasAtLeastOneMarkForAPositiveShare) {
  EXPECT_EQ(bar(0, 1, 10), "");
  EXPECT_EQ(bar(-1, 1, 10), "");
  EXPECT_EQ(bar(1e-9, 1, 10), "#");
  EXPECT_EQ(bar(0.5, 1, 10), "#####");
  EXPECT_EQ(bar(2, 1, 10), "##########");
}

TEST(Typed, ReadsBackAsThePlacement) {
  const auto read = [](const std::string& text) {
    return config_of(
               "cluster: dgx-h100 x 2\nworld_size: 16\nparallelism: {tp_size: 8, pp_size: "
               "2}\nplacement: " +
               text + "\n")
        .plan.placement;
  };
  mesh::Placement hosts{.kind = mesh::Placement::Kind::listed},
      ranks{.kind = mesh::Placement::Kind::listed};
  for (i64 r = 0; r < 16; ++r) hosts.devices.push_back((r + 8) % 16);
  for (i64 r = 0; r < 16; ++r) ranks.devices.push_back(r == 1 ? 2 : r == 2 ? 1 : r);
  EXPECT_EQ(typed(hosts, 8), "{hosts: [1, 0]}");
  EXPECT_EQ(read(typed(hosts, 8)), hosts);
  EXPECT_EQ(read(typed(ranks, 8)), ranks);
}

TEST(FaultsJson, PartsThatWereNotRequestedAreNull) {
  const rankwright::plan::TrainingConfig config = config_of(kPlan);
  const cost::SlowRank slow[] = {{17, 1.3}};
  planner::Faults faults{.slow = estimate_straggler(config, catalog::get_calibration(), slow)};
  const nlohmann::json json = nlohmann::json::parse(make_faults_json(config, faults));
  EXPECT_EQ(json["schema"], "rankwright.faults/1");
  EXPECT_TRUE(json["slow_links"].is_null());
  EXPECT_TRUE(json["dead_rank"].is_null());
  EXPECT_EQ(json["slow_ranks"]["ranks"][0]["rank"], 17);
  EXPECT_EQ(json["slow_ranks"]["places"].size(), 2u);
  EXPECT_GT(json["slow_ranks"]["step_after"], json["slow_ranks"]["step_before"]);
}

}  // namespace straggler_text_test
}  // namespace rankwright::report
