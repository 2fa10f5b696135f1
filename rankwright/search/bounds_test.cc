// What a bound promises: nothing that it bounds takes less.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/step.h"
#include "rankwright/search/explore.h"
#include "tests/support/brute_force.h"
#include "tests/support/problems.h"
#include "tests/support/timed_configs.h"

namespace rankwright::search {
namespace bounds_test {

using problems::Dice;

constexpr double kRounding = 1e-12;

/// Any schedule, stages, ZeRO and recompute, on links of three speeds.
rankwright::plan::TrainingConfig random_laid() {
  rankwright::plan::TrainingConfig config = sample::random_timed_config();
  config.software = *rc::gen::elementOf(
      std::vector<plan::Software>(plan::frameworks().begin(), plan::frameworks().end()));
  config.cluster.levels[0].bandwidth = {1e9 * double(sample::one_of({5, 50, 450}))};
  return config;
}

RC_GTEST_PROP(Bounds, NoStepTakesLessThanItsLayers, ()) {
  const rankwright::plan::TrainingConfig config = random_laid();
  const cost::LayerCosts prices = estimate_layer_costs(
      config, cost::Links(config, catalog::get_calibration()), catalog::get_calibration());
  const Seconds min = min_time(config, catalog::get_calibration(), prices);
  const Seconds total = cost::estimate_step_time(config, catalog::get_calibration()).total();
  RC_ASSERT(min <= (1 + kRounding) * total);
}

/// Every chunk sends.
RC_GTEST_PROP(Bounds, NoStepTakesLessThanItsLayersAndTheSendsOfItsChunks, ()) {
  const rankwright::plan::TrainingConfig config = random_laid();
  const cost::LayerCosts prices = estimate_layer_costs(
      config, cost::Links(config, catalog::get_calibration()), catalog::get_calibration());
  const double more = double(config.plan.virtual_stages - 1);
  const Seconds min = min_time(config, catalog::get_calibration(), prices) +
                      more * min_time_per_extra_chunk(config, catalog::get_calibration(), prices);
  RC_ASSERT(min <=
            (1 + kRounding) * cost::estimate_step_time(config, catalog::get_calibration()).total());
}

RC_GTEST_PROP(Bounds, LinksOnlyAdd, ()) {
  const rankwright::plan::TrainingConfig config = random_laid();
  const cost::LayerCosts linked = estimate_layer_costs(
      config, cost::Links(config, catalog::get_calibration()), catalog::get_calibration());
  const cost::LayerCosts unlinked = estimate_layer_costs(
      config, cost::Links::none(config, catalog::get_calibration()), catalog::get_calibration());
  RC_ASSERT(min_time(config, catalog::get_calibration(), unlinked) <=
            (1 + kRounding) * min_time(config, catalog::get_calibration(), linked));
}

RC_GTEST_PROP(Bounds, NoPipelineEndsBeforeItsLeast, ()) {
  const rankwright::plan::TrainingConfig config = random_laid();
  const cost::LayerCosts prices = estimate_layer_costs(
      config, cost::Links(config, catalog::get_calibration()), catalog::get_calibration());
  const cost::StageCosts staged = estimate_stage_costs(config, catalog::get_calibration(), prices);
  const Seconds min = min_end(config, staged);
  RC_ASSERT(min <= (1 + kRounding) * estimate_pipeline_end(config, staged));
  if (config.plan.pp > 1) {
    RC_ASSERT(min <=
              (1 + kRounding) * std::max(staged.busiest, simulate_pipeline_end(config, staged)));
  }
}

/// A later end of the pipeline costs what apply_overheads() says, whatever else the step has.
RC_GTEST_PROP(Bounds, AStepGrowsByItsPipelineAlone, ()) {
  const rankwright::plan::TrainingConfig config = random_laid();
  RC_PRE(config.plan.pp > 1);
  const cost::Links links(config, catalog::get_calibration());
  const cost::LayerCosts prices = estimate_layer_costs(config, links, catalog::get_calibration());
  const cost::StageCosts staged = estimate_stage_costs(config, catalog::get_calibration(), prices);
  const Seconds end = estimate_pipeline_end(config, staged);
  const Seconds later = Seconds{1};
  const auto with = [&](Seconds at) {
    return estimate_step_time(config, catalog::get_calibration(), links, prices, staged, at)
        .total();
  };
  const Seconds more = with(end + later) - with(end);
  RC_ASSERT(std::abs(more / cost::apply_overheads(config, catalog::get_calibration(), later) - 1) <
            1e-9);
}

/// Of every node of random problems, by trying all that is in it.
TEST(Bounds, NoCandidateIsFasterThanItsNodePromises) {
  for (std::uint64_t seed = 2000; seed < 2025; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Dice dice(seed);
    Problem one = problems::random_problem(dice);
    BruteForce force(one, catalog::get_calibration());
    while (force.count(1500) > 1500) problems::narrow(one.limits, dice);
    const SearchContext on = make_context(one, catalog::get_calibration(), {});
    std::map<std::vector<i64>, NodeBound> prospects;
    const auto degrees = [](const auto& p) {
      return std::vector<i64>{p.tp, p.cp, p.pp, p.dp, p.ep, p.etp};
    };
    for (const Node& node : list_nodes(one)) prospects[degrees(node)] = bound_node(on, node);
    for (const Candidate& run : force.all().runs) {
      ASSERT_TRUE(prospects.contains(degrees(run.plan))) << format_findings(run);
      const NodeBound& of = prospects[degrees(run.plan)];
      EXPECT_FALSE(of.violation) << format_findings(run);
      EXPECT_LE(of.min, (1 + kRounding) * run.time) << format_findings(run);
    }
  }
}

/// Candidates of the nodes are all that there are.
TEST(Bounds, NodesCountTheSpace) {
  for (std::uint64_t seed = 2100; seed < 2125; ++seed) {
    Dice dice(seed);
    Problem one = problems::random_problem(dice);
    BruteForce force(one, catalog::get_calibration());
    constexpr i64 kMax = 5'000;
    while (force.count(kMax) > kMax) problems::narrow(one.limits, dice);
    const SearchContext on = make_context(one, catalog::get_calibration(), {});
    i64 sum = 0;
    for (const Node& node : list_nodes(one)) sum += bound_node(on, node).candidates;
    EXPECT_EQ(sum, force.count(kMax)) << "seed " << seed;
  }
}

}  // namespace bounds_test
}  // namespace rankwright::search
