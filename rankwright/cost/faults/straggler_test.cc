
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/durations.h"
#include "rankwright/cost/estimate.h"
#include "rankwright/cost/faults/straggler_mitigation.h"
#include "rankwright/program/expand.h"
#include "tests/support/typed_configs.h"

namespace rankwright::cost {
namespace straggler_test {

const std::string kPipeline =
    "model: llama-3.2-1b\ncluster: dgx-h100 x 2\njob: {global_batch: 32, sequence: 2048}\n"
    "parallelism: {pp_size: 4, tp_size: 2, dp_size: 2}\n";

Seconds after(const rankwright::plan::TrainingConfig& config, i64 rank, double factor,
              bool simulate = true) {
  const SlowRank slow[] = {{rank, factor}};
  return SlowSteps(config, catalog::get_calibration(), simulate).step(slow);
}

TEST(Straggler, FactorOneChangesNothing) {
  const rankwright::plan::TrainingConfig config = config_of(kPipeline);
  for (const bool simulate : {false, true})
    for (i64 rank = 0; rank < 16; ++rank)
      EXPECT_EQ(after(config, rank, 1, simulate),
                (simulate ? estimate_closely(config, catalog::get_calibration())
                          : estimate_plan(config, catalog::get_calibration()))
                    .time());
}

TEST(Straggler, SingleGpuMatchesTheWorkedExample) {
  // One GPU has no collective, no pipeline and no jitter, so the step takes exactly twice as long.
  const rankwright::plan::TrainingConfig config = config_of(
      "model: llama-3.2-1b\ncluster: dgx-h100\njob: {global_batch: 4, sequence: 2048}\n"
      "world_size: 1\n");
  const Seconds before = estimate_closely(config, catalog::get_calibration()).time();
  EXPECT_NEAR(after(config, 0, 2, false) / before, 2, 1e-9);
  // A faster single GPU is faster, because no other rank limits it.
  EXPECT_NEAR(after(config, 0, 0.5, false) / before, 0.5, 1e-9);
}

TEST(Straggler, FasterStageNeedsAllItsRanks) {
  // tp 2 x cp 2 share a stage: 4 ranks that are twice as fast halve its time; 2 wait for the
  // others.
  const rankwright::plan::TrainingConfig config = config_of(
      "model: llama-3.2-1b\ncluster: dgx-h100\njob: {global_batch: 8, sequence: 2048}\n"
      "parallelism: {tp_size: 2, cp_size: 2, dp_size: 2}\n");
  const SlowSteps steps(config, catalog::get_calibration(), false);
  const SlowRank all[] = {{0, 0.5}, {1, 0.5}, {2, 0.5}, {3, 0.5}};
  ASSERT_EQ(config.plan.meshes().dense.coordinate(3, mesh::Axis::dp), 0);
  EXPECT_EQ(steps.factors(all, 0), std::vector<double>{0.5});
  EXPECT_EQ(steps.factors({all, 2}, 0), std::vector<double>{1});
}

TEST(Straggler, FasterRankDoesNotSpeedUpItsPeers) {
  const rankwright::plan::TrainingConfig config = config_of(kPipeline);
  const Seconds before = estimate_closely(config, catalog::get_calibration()).time();
  EXPECT_EQ(after(config, 5, 0.5), before);  // neither its tp peer nor the other replica is faster
  EXPECT_GT(after(config, 5, 1.5), before);
}

TEST(Straggler, RanksOfOneStageCostTheSame) {
  // Ranks that share a stage cost the same: 2 tp ranks x 2 replicas on each pp rank.
  const rankwright::plan::TrainingConfig config = config_of(kPipeline);
  for (i64 pp = 0; pp < 4; ++pp)
    for (i64 other = 1; other < 4; ++other)
      EXPECT_EQ(after(config, 4 * pp + other, 1.7), after(config, 4 * pp, 1.7));
}

TEST(Straggler, SameStageInTwoReplicasCountsOnce) {
  // Two replicas with the same slow stage end together; two slow stages of one replica do not.
  const rankwright::plan::TrainingConfig config = config_of(kPipeline);
  const SlowSteps steps(config, catalog::get_calibration(), true);
  const SlowRank apart[] = {{0, 1.5}, {2, 1.5}}, together[] = {{0, 1.5}, {4, 1.5}};
  EXPECT_EQ(config.plan.meshes().dense.coordinate(2, mesh::Axis::dp), 1);
  EXPECT_EQ(steps.step(apart), after(config, 0, 1.5));
  EXPECT_GT(steps.step(together), after(config, 0, 1.5));
}

TEST(Straggler, SimulationMatchesTheProgramWithLongerCells) {
  // Computes the slow stage's cells directly: without splits inside layers, all time is
  // computation.
  const rankwright::plan::TrainingConfig config = config_of(
      "model: llama-3.2-1b\ncluster: dgx-h100\njob: {global_batch: 16, sequence: 2048}\n"
      "parallelism: {pp_size: 4, overlap: {pp: true}}\nworld_size: 4\n");
  const CellTimes cells = estimate_cell_times(config, catalog::get_calibration());
  const program::Program program = program::expand(config);
  program::Durations times = compute_durations(config, program, catalog::get_calibration());
  const Seconds before = simulate(program, times).end;
  for (std::size_t kind = 0; kind < 4; ++kind) {
    const pipeline::StageTimes& c = cells.compute[2];
    const Seconds parts[] = {c.forward, c.input + c.weight, c.input, c.weight};
    times.cells[2][kind] += 0.5 * parts[kind];
  }
  for (std::size_t k = 0; k < program.steps[2].size(); ++k)
    if (program.steps[2][k].computes()) times.steps[2][k] = 1.5 * times.steps[2][k];
  const Seconds more = simulate(program, times).end - before;
  const Seconds whole = estimate_closely(config, catalog::get_calibration()).time();
  const Seconds said = after(config, 2, 1.5) - whole;
  EXPECT_NEAR(said / more, std::min(1.0, whole / before), 1e-9);
}

TEST(ReplicaSync, DependsOnZeroAndExperts) {
  const auto plan = [](int zero) {
    return config_of(
        "model: llama-3.2-1b\ncluster: dgx-h100\njob: {global_batch: 8, sequence: 2048}\n"
        "parallelism: {dp_size: 8, zero_stage: " +
        std::to_string(zero) + "}\n");
  };
  EXPECT_EQ(find_replica_sync(plan(3).plan), ReplicaSync::gathers);
  EXPECT_EQ(find_replica_sync(plan(1).plan), ReplicaSync::gradients);
  // ep 8 spans 8 replicas if nothing else is split; with tp 8 it is inside one replica.
  EXPECT_EQ(find_replica_sync({.dp = 8, .ep = 8}), ReplicaSync::experts);
  EXPECT_EQ(find_replica_sync({.tp = 8, .dp = 8, .ep = 8}), ReplicaSync::gradients);
  rankwright::plan::TrainingConfig alone = plan(1);
  alone.plan.dp = 1;
  EXPECT_EQ(find_replica_sync(alone.plan), ReplicaSync::never);
}

TEST(Straggler, BestPlaceMatchesBruteForce) {
  const rankwright::plan::TrainingConfig config = config_of(kPipeline);
  for (i64 rank = 0; rank < 16; ++rank) {
    const SlowRank slow[] = {{rank, 1.4}};
    const Straggler out = estimate_straggler(config, catalog::get_calibration(), slow);
    ASSERT_EQ(out.places.size(), 4u);
    Seconds min = out.places[0].after;
    for (i64 pp = 0; pp < 4; ++pp) {
      EXPECT_EQ(out.places[std::size_t(pp)].after, after(config, rank % 4 + 4 * pp, 1.4));
      min = std::min(min, out.places[std::size_t(pp)].after);
    }
    EXPECT_EQ(out.places[std::size_t(out.best)].after, min);
    EXPECT_EQ(out.places[std::size_t(out.now)].after, out.after);
  }
}

/// A random pipeline and a rank in it.
rankwright::plan::TrainingConfig any_setup() {
  const i64 pp = *rc::gen::element<i64>(1, 2, 4), tp = *rc::gen::element<i64>(1, 2);
  const i64 dp = 16 / pp / tp, zero = *rc::gen::element<i64>(0, 1, 3);
  const std::string schedule =
      pp == 1 ? "1f1b" : *rc::gen::element<std::string>("gpipe", "1f1b", "zb-h1");
  return config_of(
      "model: llama-3.2-1b\ncluster: dgx-h100 x 2\njob: {global_batch: 64, sequence: 1024}\n"
      "parallelism: {pp_size: " +
      std::to_string(pp) + ", tp_size: " + std::to_string(tp) + ", dp_size: " + std::to_string(dp) +
      ", zero_stage: " + std::to_string(pp > 1 && zero == 3 ? 1 : zero) +
      ", schedule: " + schedule + "}\n");
}

RC_GTEST_PROP(Straggler, StepGrowsByAtMostTheFactor, ()) {
  const rankwright::plan::TrainingConfig config = any_setup();
  const i64 rank = *rc::gen::inRange<i64>(0, 16);
  const double factor = 1 + *rc::gen::inRange(0, 500) / 100.0;
  const Seconds before = estimate_closely(config, catalog::get_calibration()).time();
  for (const bool simulate : {false, true}) {
    const Seconds slow = after(config, rank, factor, simulate);
    RC_ASSERT(slow >= before * (1 - 1e-12));
    RC_ASSERT(slow <= after(config, rank, factor + 0.5, simulate) * (1 + 1e-12));
    RC_ASSERT(slow / before - 1 <= factor - 1 + 1e-9);
  }
}

RC_GTEST_PROP(Straggler, SimulationAndClosedFormAgree, ()) {
  const rankwright::plan::TrainingConfig config = any_setup();
  const i64 rank = *rc::gen::inRange<i64>(0, 16);
  const double simulated = after(config, rank, 1.5, true).value;
  RC_ASSERT(std::abs(after(config, rank, 1.5, false).value / simulated - 1) < 0.05);
}

TEST(StragglerMitigation, OffersOnlyShorterSteps) {
  int places = 0, lighter = 0;
  const rankwright::plan::TrainingConfig config = config_of(kPipeline);
  for (i64 rank = 0; rank < 16; ++rank) {
    const SlowRank slow[] = {{rank, 2}};
    const Straggler out = estimate_straggler(config, catalog::get_calibration(), slow);
    const StragglerMitigation offer = mitigate_straggler(config, catalog::get_calibration(), out);
    if (offer.place) {
      EXPECT_LT(offer.place->after, out.after);
      ++places;
    }
    if (offer.lighter) {
      ++lighter;
      EXPECT_LT(offer.lighter->after, out.after);
      EXPECT_EQ(count_layers(offer.lighter->stages), config.model.layers());
    }
    ASSERT_TRUE(offer.without);
    EXPECT_EQ(offer.without->throughput, 0.5);
  }
  EXPECT_GT(places, 0);
  EXPECT_GT(lighter, 0);
}

TEST(StragglerMitigation, SwapsWholeNodesAndEstimatesTheResult) {
  // tp fills a node, so a pp rank is a node, and the head makes the last one the busiest. The slow
  // device costs less on another pp rank, and the step time is that of the swapped plan.
  const rankwright::plan::TrainingConfig config = config_of(
      "model: llama-3.2-1b\ncluster: dgx-h100 x 4\njob: {global_batch: 16, sequence: 2048}\n"
      "parallelism: {pp_size: 4, tp_size: 8}\n");
  const SlowRank slow[] = {{30, 3}};
  const Straggler out = estimate_straggler(config, catalog::get_calibration(), slow);
  const std::optional<Swap> swap = find_better_place(config, catalog::get_calibration(), out);
  ASSERT_TRUE(swap);
  EXPECT_TRUE(swap->hosts);
  EXPECT_EQ(swap->first, 3);
  EXPECT_EQ(swap->second, swap->pp_rank);
  ASSERT_TRUE(swap->placement);
  // Device 30 is the seventh of its node and belongs to rank 8 x pp + 6 after the swap.
  EXPECT_EQ(swap->placement->rank(30), 8 * swap->pp_rank + 6);
  rankwright::plan::TrainingConfig moved = config;
  moved.plan.placement = *swap->placement;
  EXPECT_TRUE(find_violations(moved).empty());
  EXPECT_EQ(after(moved, swap->placement->rank(30), 3), swap->after);
}

TEST(StragglerMitigation, MovesLayersOffTheSlowStage) {
  // Four stages of 8 layers, one of them twice as slow: fewer than 8 layers are better for it.
  const rankwright::plan::TrainingConfig config = config_of(
      "model: llama-3.1-8b\ncluster: dgx-h100\njob: {global_batch: 32, sequence: 2048}\n"
      "parallelism: {pp_size: 4, tp_size: 2}\n");
  const SlowRank slow[] = {{2, 2}};
  const Straggler out = estimate_straggler(config, catalog::get_calibration(), slow);
  const std::optional<Rebalance> lighter =
      find_lighter_stages(config, catalog::get_calibration(), out);
  ASSERT_TRUE(lighter);
  EXPECT_EQ(config.stages()[1].layers - lighter->stages[1].layers, lighter->moved);
  EXPECT_GT(lighter->moved, 0);
}

/// Eight replicas of two stages on 16 GPUs.
rankwright::plan::TrainingConfig replicas(i64 batch, const std::string& more = "") {
  return config_of(
      "model: llama-3.2-1b\ncluster: dgx-h100 x 2\nparallelism: {pp_size: 2, dp_size: 8" + more +
      "}\njob: {sequence: 1024, global_batch: " + std::to_string(batch) + "}\n");
}

TEST(WithoutReplica, LeavesTheThroughputOfTheOthers) {
  // 7 of 8 replicas remain: 7/8. A single replica cannot be dropped.
  const std::optional<WithoutReplica> out = estimate_without_replica(replicas(64));
  ASSERT_TRUE(out);
  EXPECT_EQ(out->dp, 7);
  EXPECT_EQ(out->world, 14);
  EXPECT_DOUBLE_EQ(out->throughput, 0.875);
  EXPECT_FALSE(estimate_without_replica(
      config_of("model: llama-3.2-1b\ncluster: dgx-h100\nparallelism: {pp_size: 8, dp_size: 1}\n"
                "job: {global_batch: 8}\n")));
}

TEST(WithoutReplica, NamesABatchThatDividesOverTheOthers) {
  // 64 = 9 x 7 + 1, so 63; 56 is divisible by 8 and by 7; with micro-batches of 2, 128 = 9 x 14
  // + 2.
  EXPECT_EQ(estimate_without_replica(replicas(64))->global_batch, 63);
  EXPECT_EQ(estimate_without_replica(replicas(56))->global_batch, 56);
  EXPECT_EQ(estimate_without_replica(replicas(128, ", micro_batch: 2"))->global_batch, 126);
}

TEST(WithoutReplica, BatchSuitsTheSchedule) {
  // DualPipe needs an even number of micro-batches, at least 2 x pp: 64 = 9 x 7 + 1, so 8 x 7.
  EXPECT_EQ(estimate_without_replica(replicas(64, ", schedule: dualpipe"))->global_batch, 56);
}

TEST(WithoutReplica, ShardGroupsThatDoNotDivide_OfferNothing) {
  // Shards of 4 of 8 data ranks; 7 data ranks have no groups of 4.
  EXPECT_FALSE(estimate_without_replica(replicas(64, ", zero_stage: 1, shard_size: 4")));
}

TEST(RankRemedies, HighestThroughputFirst) {
  // Healthy 10 s. Doing nothing leaves 10/15 = 0.667, fewer layers 10/10.2 = 0.98, dropping 0.875.
  Straggler slow;
  slow.before = 10.0_s;
  slow.after = 15.0_s;
  StragglerMitigation offer;
  offer.lighter = Rebalance{.after = 10.2_s};
  offer.without = WithoutReplica{.dp = 7, .throughput = 0.875};
  const std::vector<RankedRemedy> all = rank_remedies(slow, offer);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].remedy, Remedy::lighter);
  EXPECT_EQ(all[1].remedy, Remedy::without);
  EXPECT_EQ(all[2].remedy, Remedy::wait);
  EXPECT_DOUBLE_EQ(all[2].throughput, 10.0 / 15);
  // At equal throughput nothing is changed: 10 / 20 = 1/2.
  slow.after = 20.0_s;
  EXPECT_EQ(rank_remedies(slow, {.without = WithoutReplica{.throughput = 0.5}})[0].remedy,
            Remedy::wait);
}

}  // namespace straggler_test
}  // namespace rankwright::cost
