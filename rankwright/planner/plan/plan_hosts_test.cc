// Excluded hosts: checks the chosen number of hosts against trying all, and the estimates around
// excluded hosts.
#include "rankwright/planner/plan/plan_hosts.h"

#include <gtest/gtest.h>

#include "rankwright/catalog/catalog.h"
#include "rankwright/import/plan/plan_file.h"

namespace rankwright::planner {
namespace plan_hosts_test {

/// Returns a job on four racks of 2 hosts with 2 GPUs each, connected by a slow spine.
search::Problem racks(i64 batch) {
  const std::string text =
      "model: llama-3.2-1b\n"
      "cluster:\n"
      "  device: a100-80g\n"
      "  levels:\n"
      "    - {name: nvlink, arity: 2, bandwidth: 300 GB/s, latency: 2 us}\n"
      "    - {name: rack, arity: 2, bandwidth: 25 GB/s, latency: 5 us}\n"
      "    - {name: spine, arity: 4, bandwidth: 2 GB/s, latency: 9 us}\n"
      "job: {sequence: 2048, global_batch: " +
      std::to_string(batch) + "}\n";
  rankwright::plan::TrainingConfig config =
      resolve(importer::read_plan(text, "racks.yaml", importer::refuse_file).draft);
  search::Limits limits;
  limits.cp = {1, 1};
  limits.schedule = pipeline::Schedule::one_f_one_b;
  limits.recompute = plan::Recompute::none;
  return make_problem(std::move(config), limits);
}

TEST(ChooseHosts, ExcludedHosts_ChoosesTheFastestOverAllCounts) {
  for (const i64 batch : {8, 12, 21, 60})
    for (const i64 out : {1, 2, 3}) {
      const search::Problem asked = racks(batch);
      i64 best = 0;
      Seconds min{1e300};
      for (i64 hosts = 8 - out; hosts >= 1; --hosts) {
        search::Problem fewer = asked;
        fewer.config.world = 2 * hosts;
        const search::SearchResult found = search::search(fewer, catalog::get_calibration());
        if (!found.space.best) continue;
        const search::EvaluatedPlan one =
            evaluate_plan(fewer, found.space.best->plan, catalog::get_calibration());
        if (one.time() < min) min = one.time(), best = hosts;
      }
      const HostUse used = choose_hosts(asked, {.count = out}, {});
      EXPECT_EQ(used.used, best) << batch << " sequences, " << out << " hosts out";
      EXPECT_EQ(used.left, 8 - out);
      EXPECT_FALSE(used.cut_short);
    }
}

TEST(ChooseHosts, NoLayoutForAllHosts_NamesTheViolatedConstraints) {
  // Without a pipeline, 10 GPUs are tp x dp; 5 divides neither 32 heads nor 8 sequences.
  search::Problem asked = racks(8);
  asked.limits.pp = {1, 1};
  const HostUse used = choose_hosts(asked, {.count = 3}, {});
  EXPECT_LT(used.used, 5);
  EXPECT_FALSE(used.broken.empty());
  for (const auto& [why, n] : used.broken)
    EXPECT_TRUE(why == plan::ConstraintViolation::Why::heads ||
                why == plan::ConstraintViolation::Why::batch);
  EXPECT_TRUE(choose_hosts(asked, {.count = 4}, {}).broken.empty());
}

TEST(ChooseHosts, BatchDoesNotDivide_NamesANearBatchThatUsesMoreHosts) {
  // TP 2 on hosts of 2 GPUs: each host is a replica. 1,024 sequences divide over 4 replicas, not
  // over 5, 6 or 7; near multiples of 7 are 146 x 7 = 1,022 and 18 x 8 x 7 = 1,008.
  search::Problem asked = racks(1024);
  asked.limits.tp = {2, 2};
  asked.limits.pp = {1, 1};
  const HostUse used = choose_hosts(asked, {.count = 1}, {});
  EXPECT_EQ(used.used, 4);
  ASSERT_TRUE(used.other_batch);
  EXPECT_EQ(used.other_batch->hosts, 7);
  EXPECT_EQ(used.other_batch->dp, 7);
  EXPECT_TRUE(used.other_batch->global_batch == 1022 || used.other_batch->global_batch == 1008);
  // The named batch does use these hosts.
  asked.config.job.global_batch = used.other_batch->global_batch;
  EXPECT_EQ(choose_hosts(asked, {.count = 1}, {}).used, 7);
}

TEST(ChooseHosts, AllHostsInUse_NamesNoOtherBatch) {
  search::Problem asked = racks(1022);
  asked.limits.tp = {2, 2};
  asked.limits.pp = {1, 1};
  const HostUse used = choose_hosts(asked, {.count = 1}, {});
  EXPECT_EQ(used.used, 7);
  EXPECT_FALSE(used.other_batch);
}

TEST(ChooseHosts, PinnedDegreesDoNotFactorAllHosts_SaysSo) {
  // TP 2 x PP 2 = 4 GPUs do not divide the 14 of 7 hosts.
  search::Problem asked = racks(64);
  asked.limits.tp = asked.limits.pp = {2, 2};
  EXPECT_FALSE(choose_hosts(asked, {.count = 1}, {}).all_factor);
  EXPECT_TRUE(choose_hosts(asked, {.count = 2}, {}).all_factor);
}

TEST(PlaceAround, ExcludedHosts_AreSkipped) {
  const search::Problem asked = racks(8);
  const HostUse out{.count = 2, .listed = {0, 2}, .left = 6, .used = 3};
  const mesh::Placement placement = place_around(out, asked.config.cluster);
  EXPECT_EQ(placement.kind, mesh::Placement::Kind::listed);
  EXPECT_EQ(placement.devices, (std::vector<i64>{2, 3, 6, 7, 8, 9}));
  EXPECT_EQ(place_around({.count = 2, .left = 6, .used = 3}, asked.config.cluster),
            mesh::Placement{});
}

TEST(ApplyPlacement, SkippedHost_MakesTheEstimateSlower) {
  // Two hosts of one rack. With host 1 excluded, the second host is in another rack, across the
  // spine.
  PlanAnswer view{.problem = racks(8)};
  view.problem.config.world = 4;
  plan::Plan plan{.dp = 4};
  view.answer.best = evaluate_plan(view.problem, plan, catalog::get_calibration());
  view.answer.rivals.push_back(*view.answer.best);
  const Seconds before = view.best().time();
  apply_placement(view, place_around({.count = 1, .listed = {1}, .left = 7, .used = 2},
                                     view.problem.config.cluster));
  EXPECT_TRUE(find_violations(view.best().config).empty());
  EXPECT_GT(view.best().time(), before);
  EXPECT_EQ(view.answer.rivals[0].time(), view.best().time());
  plan.placement = view.best().config.plan.placement;
  EXPECT_EQ(view.best().time(),
            evaluate_plan(view.problem, plan, catalog::get_calibration()).time());
}

}  // namespace plan_hosts_test
}  // namespace rankwright::planner
