// What a bound promises: nothing that it bounds takes less.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/step.h"
#include "rankwright/search/explore.h"
#include "tests/brute.h"
#include "tests/problems.h"
#include "tests/timed.h"

namespace rankwright {
namespace bounds_test {

using problems::Dice;

constexpr double kRounding = 1e-12;

/// Any schedule, stages, ZeRO and recompute, on links of three speeds.
rankwright::Setup random_laid() {
  rankwright::Setup setup = sample::random_timed();
  setup.software =
      *rc::gen::elementOf(std::vector<Software>(frameworks().begin(), frameworks().end()));
  setup.cluster.levels[0].bandwidth = {1e9 * double(sample::one_of({5, 50, 450}))};
  return setup;
}

RC_GTEST_PROP(Bounds, NoStepTakesLessThanItsLayers, ()) {
  const rankwright::Setup setup = random_laid();
  const LayerPrices prices = layer_prices(setup, Links(setup, calibration()), calibration());
  const Seconds least = least_time(setup, calibration(), prices);
  const Seconds total = step_time(setup, calibration()).total();
  RC_ASSERT(least <= (1 + kRounding) * total);
}

/// Every chunk sends.
RC_GTEST_PROP(Bounds, NoStepTakesLessThanItsLayersAndTheSendsOfItsChunks, ()) {
  const rankwright::Setup setup = random_laid();
  const LayerPrices prices = layer_prices(setup, Links(setup, calibration()), calibration());
  const double more = double(setup.plan.virtual_stages - 1);
  const Seconds least =
      least_time(setup, calibration(), prices) + more * least_more(setup, calibration(), prices);
  RC_ASSERT(least <= (1 + kRounding) * step_time(setup, calibration()).total());
}

RC_GTEST_PROP(Bounds, LinksOnlyAdd, ()) {
  const rankwright::Setup setup = random_laid();
  const LayerPrices linked = layer_prices(setup, Links(setup, calibration()), calibration());
  const LayerPrices unlinked =
      layer_prices(setup, Links::none(setup, calibration()), calibration());
  RC_ASSERT(least_time(setup, calibration(), unlinked) <=
            (1 + kRounding) * least_time(setup, calibration(), linked));
}

RC_GTEST_PROP(Bounds, NoPipelineEndsBeforeItsLeast, ()) {
  const rankwright::Setup setup = random_laid();
  const LayerPrices prices = layer_prices(setup, Links(setup, calibration()), calibration());
  const StagePrices staged = stage_prices(setup, calibration(), prices);
  const Seconds least = least_end(setup, staged);
  RC_ASSERT(least <= (1 + kRounding) * pipeline_end(setup, staged));
  if (setup.plan.pp > 1) {
    RC_ASSERT(least <= (1 + kRounding) * std::max(staged.busiest, played_end(setup, staged)));
  }
}

/// A later end of the pipeline costs what slowed() says, whatever else the step has.
RC_GTEST_PROP(Bounds, AStepGrowsByItsPipelineAlone, ()) {
  const rankwright::Setup setup = random_laid();
  RC_PRE(setup.plan.pp > 1);
  const Links links(setup, calibration());
  const LayerPrices prices = layer_prices(setup, links, calibration());
  const StagePrices staged = stage_prices(setup, calibration(), prices);
  const Seconds end = pipeline_end(setup, staged);
  const Seconds later = Seconds{1};
  const auto with = [&](Seconds at) {
    return step_time(setup, calibration(), links, prices, staged, at).total();
  };
  const Seconds more = with(end + later) - with(end);
  RC_ASSERT(std::abs(more / slowed(setup, calibration(), later) - 1) < 1e-9);
}

/// Of every node of random problems, by trying all that is in it.
TEST(Bounds, NoCandidateIsFasterThanItsNodePromises) {
  for (std::uint64_t seed = 2000; seed < 2025; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Dice dice(seed);
    Problem one = problems::random_problem(dice);
    BruteForce force(one, calibration());
    while (force.count(1500) > 1500) problems::narrow(one.limits, dice);
    const Ground on = ground(one, calibration(), {});
    std::map<std::vector<i64>, Prospect> prospects;
    const auto degrees = [](const auto& p) {
      return std::vector<i64>{p.tp, p.cp, p.pp, p.dp, p.ep, p.etp};
    };
    for (const Node& node : nodes(one)) prospects[degrees(node)] = prospect(on, node);
    for (const Candidate& run : force.all().runs) {
      ASSERT_TRUE(prospects.contains(degrees(run.plan))) << told(run);
      const Prospect& of = prospects[degrees(run.plan)];
      EXPECT_FALSE(of.misfit) << told(run);
      EXPECT_LE(of.least, (1 + kRounding) * run.time) << told(run);
    }
  }
}

/// Candidates of the nodes are all that there are.
TEST(Bounds, NodesCountTheSpace) {
  for (std::uint64_t seed = 2100; seed < 2125; ++seed) {
    Dice dice(seed);
    Problem one = problems::random_problem(dice);
    BruteForce force(one, calibration());
    constexpr i64 kMost = 5'000;
    while (force.count(kMost) > kMost) problems::narrow(one.limits, dice);
    const Ground on = ground(one, calibration(), {});
    i64 sum = 0;
    for (const Node& node : nodes(one)) sum += prospect(on, node).candidates;
    EXPECT_EQ(sum, force.count(kMost)) << "seed " << seed;
  }
}

}  // namespace bounds_test
}  // namespace rankwright
