// Tests that lower bounds hold: no plan is faster than its bound.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/memory/memory.h"
#include "rankwright/cost/step.h"
#include "rankwright/search/explore.h"
#include "rankwright/search/lower_bounds.h"
#include "rankwright/search/memory_bounds.h"
#include "tests/support/brute_force.h"
#include "tests/support/problems.h"
#include "tests/support/timed_configs.h"

namespace rankwright::search {
namespace bounds_test {

using problems::Dice;

constexpr double kRounding = 1e-12;

/// Returns a random config: any schedule, stages, ZeRO stage and recompute, on links of three
/// speeds.
rankwright::plan::TrainingConfig make_random_config() {
  rankwright::plan::TrainingConfig config = sample::random_timed_config();
  config.software = *rc::gen::elementOf(
      std::vector<plan::Software>(plan::frameworks().begin(), plan::frameworks().end()));
  config.cluster.levels[0].bandwidth = {1e9 * double(sample::one_of({5, 50, 450}))};
  return config;
}

RC_GTEST_PROP(Bounds, StepTakesAtLeastTheTimeOfItsLayers, ()) {
  const rankwright::plan::TrainingConfig config = make_random_config();
  const cost::LayerCosts prices = estimate_layer_costs(
      config, cost::Links(config, catalog::get_calibration()), catalog::get_calibration());
  const Seconds min = min_time(config, catalog::get_calibration(), prices);
  const Seconds total = cost::estimate_step_time(config, catalog::get_calibration()).total();
  RC_ASSERT(min <= (1 + kRounding) * total);
}

RC_GTEST_PROP(Bounds, StepTakesAtLeastTheTimeOfTheRankWithTheMostLayers, ()) {
  const rankwright::plan::TrainingConfig config = make_random_config();
  const cost::LayerCosts prices = estimate_layer_costs(
      config, cost::Links(config, catalog::get_calibration()), catalog::get_calibration());
  const Problem problem = make_problem(config);
  const SearchContext context = make_context(problem, catalog::get_calibration(), {});
  const Seconds total = cost::estimate_step_time(config, catalog::get_calibration()).total();
  const Seconds halved = min_time_of_whole_layers(context, config, prices, true);
  const Seconds whole = min_time_of_whole_layers(context, config, prices, false);
  RC_ASSERT(halved <= (1 + kRounding) * total);
  RC_ASSERT(halved <= (1 + kRounding) * whole);
  if (!config.plan.mirrored()) {
    RC_ASSERT(whole <= (1 + kRounding) * total);
  }
}

TEST(Bounds, LayersAreNotDividedAmongRanks) {
  // 80 layers on 32 pp ranks: 2.5 per rank, so some rank has 3. With DualPipe, each of a pair of
  // ranks runs 5 layers for half of the microbatches.
  plan::TrainingConfig config{.model = *catalog::find_model("llama-3.1-70b"),
                              .cluster = *catalog::find_cluster("dgx-h100 x 8"),
                              .job = {},
                              .plan = {.tp = 2, .pp = 32},
                              .world = 64};
  config.job.sequence = 8192;
  config.job.global_batch = 64;
  const cluster::Calibration& calibration = catalog::get_calibration();
  const Problem problem = make_problem(config);
  const SearchContext context = make_context(problem, calibration, {});
  const cost::LayerCosts prices =
      estimate_layer_costs(config, cost::Links::none(config, calibration), calibration);
  const Seconds whole = min_time_of_whole_layers(context, config, prices, false);
  const Seconds halved = min_time_of_whole_layers(context, config, prices, true);
  EXPECT_NEAR(whole / halved, 3 / 2.5, 1e-9);
  EXPECT_LE(whole, cost::estimate_step_time(config, calibration).total());
}

RC_GTEST_PROP(Bounds, StepTakesAtLeastTheTimeOfItsLayersAndTheSendsOfItsChunks, ()) {
  const rankwright::plan::TrainingConfig config = make_random_config();
  const cost::LayerCosts prices = estimate_layer_costs(
      config, cost::Links(config, catalog::get_calibration()), catalog::get_calibration());
  const double more = double(config.plan.virtual_stages - 1);
  const Seconds min = min_time(config, catalog::get_calibration(), prices) +
                      more * min_time_per_extra_chunk(config, catalog::get_calibration(), prices);
  RC_ASSERT(min <=
            (1 + kRounding) * cost::estimate_step_time(config, catalog::get_calibration()).total());
}

RC_GTEST_PROP(Bounds, CommunicationOnlyAddsTime, ()) {
  const rankwright::plan::TrainingConfig config = make_random_config();
  const cost::LayerCosts linked = estimate_layer_costs(
      config, cost::Links(config, catalog::get_calibration()), catalog::get_calibration());
  const cost::LayerCosts unlinked = estimate_layer_costs(
      config, cost::Links::none(config, catalog::get_calibration()), catalog::get_calibration());
  RC_ASSERT(min_time(config, catalog::get_calibration(), unlinked) <=
            (1 + kRounding) * min_time(config, catalog::get_calibration(), linked));
}

RC_GTEST_PROP(Bounds, NoStepIsFasterWithASmallerMicrobatch, ()) {
  rankwright::plan::TrainingConfig config = make_random_config();
  config.job.global_batch *= 4;
  const Problem problem = make_problem(config);
  const SearchContext context = make_context(problem, catalog::get_calibration(), {});
  const auto min = [&](i64 micro_batch) {
    config.plan.micro_batch = micro_batch;
    return min_step_time(
        context, config,
        estimate_layer_costs(config, cost::Links(config, catalog::get_calibration()),
                             catalog::get_calibration()));
  };
  const i64 micro_batch = config.plan.micro_batch;
  const Seconds large = min(4 * micro_batch);
  for (const i64 times : {1, 2}) RC_ASSERT(min(times * micro_batch) >= (1 - kRounding) * large);
}

RC_GTEST_PROP(Bounds, NoPipelineEndsBeforeItsLowerBound, ()) {
  const rankwright::plan::TrainingConfig config = make_random_config();
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

RC_GTEST_PROP(Bounds, LaterPipelineEndLengthensTheStepByItsOverheadsAlone, ()) {
  const rankwright::plan::TrainingConfig config = make_random_config();
  RC_PRE(config.plan.pp > 1);
  const cost::Links links(config, catalog::get_calibration());
  const cost::LayerCosts prices = estimate_layer_costs(config, links, catalog::get_calibration());
  const cost::StageCosts staged = estimate_stage_costs(config, catalog::get_calibration(), prices);
  const Seconds end = estimate_pipeline_end(config, staged);
  const Seconds later = Seconds{1};
  const auto with = [&](Seconds at) {
    return estimate_step_time(config, catalog::get_calibration(), links, prices, staged,
                              make_heaviest_shape(config, staged), at)
        .total();
  };
  const Seconds more = with(end + later) - with(end);
  const Seconds longer = cost::find_overheads(config, catalog::get_calibration()).lengthen(later);
  RC_ASSERT(std::abs(more / longer - 1) < 1e-9);
}

RC_GTEST_PROP(Bounds, PpRankWithTheMostParametersHasAtLeastTheirBound, ()) {
  const rankwright::plan::TrainingConfig config = make_random_config();
  const ShareBounds bounds = bound_shares(config);
  const cost::LayerCosts prices = estimate_layer_costs(
      config, cost::Links(config, catalog::get_calibration()), catalog::get_calibration());
  const cost::StageCosts staged = estimate_stage_costs(config, catalog::get_calibration(), prices);
  RC_ASSERT(bounds.heaviest.dense <= staged.heaviest.share.dense);
  RC_ASSERT(bounds.heaviest.expert <= staged.heaviest.share.expert);
  RC_ASSERT(bounds.heaviest.dense <= bounds.all.dense);
  RC_ASSERT(bounds.heaviest.expert <= bounds.all.expert);
}

RC_GTEST_PROP(Bounds, StepTakesAtLeastTheTimeOfItsPipelineAndData, ()) {
  // Many: a mistake shows where fixed times of calls count, in small models on fast links.
  for (int k = 0; k < 30; ++k) {
    const rankwright::plan::TrainingConfig config = make_random_config();
    const cluster::Calibration& calibration = catalog::get_calibration();
    const cost::Links links(config, calibration);
    const cost::LayerCosts prices = estimate_layer_costs(config, links, calibration);
    const cost::Overheads overheads = cost::find_overheads(config, calibration);
    const ShareBounds shares = bound_shares(config);
    const cost::MinDataTime data =
        min_data_time(config, min_sync(config, shares.heaviest, shares.all, links), calibration);
    const Seconds total = cost::estimate_step_time(config, calibration).total();
    const cost::StageCosts staged = estimate_stage_costs(config, calibration, prices);
    const Seconds idle = std::max(Seconds{}, min_end(config, staged) - staged.busiest);
    const Seconds known = overheads.lengthen(staged.step.total() + idle);
    const Seconds layers = min_time(config, calibration, prices);
    for (const Seconds pipeline : {Seconds{}, layers, known}) {
      const Seconds min = min_time_with_data(overheads, pipeline, data);
      RC_ASSERT(min >= (1 - kRounding) * pipeline);
      RC_ASSERT(min <= (1 + kRounding) * total);
    }
  }
}

TEST(Bounds, DataThatNothingHidesIsAddedToThePipeline) {
  // One pp rank holds all 8.03 billion parameters, and its gradients of 2 bytes wait for nothing:
  // the bound is one all-reduce of 16.1 GB. In buckets, as the estimate has them, it takes longer.
  plan::TrainingConfig config{.model = *catalog::find_model("llama-3.1-8b"),
                              .cluster = *catalog::find_cluster("dgx-h100 x 4"),
                              .job = {.global_batch = 32, .sequence = 4096},
                              .plan = {.dp = 32, .zero = 0},
                              .world = 32};
  config.plan.overlap.grad_reduce = false;
  const cluster::Calibration& calibration = catalog::get_calibration();
  const cost::Links links(config, calibration);
  const ShareBounds shares = bound_shares(config);
  EXPECT_EQ(shares.heaviest.dense, 8'030'261'248);
  const cost::MinDataTime data =
      min_data_time(config, min_sync(config, shares.heaviest, shares.all, links), calibration);
  const cost::StepTime step = cost::estimate_step_time(config, calibration);
  const Seconds whole = links.time(plan::TrafficKind::dp_all_reduce, plan::Op::all_reduce,
                                   Bytes{2.0 * 8'030'261'248}, mesh::GroupKind::shard);
  EXPECT_NEAR(data.exposed(Seconds{10}) / whole, 1, 1e-9);
  EXPECT_LE(data.exposed(Seconds{10}), step[cost::Item::dp]);
}

TEST(Bounds, LongPipelineHidesWhatAShortOneShows) {
  // 3 s of traffic beside the pipeline, slowed by a quarter: 1 s of it is left beside 2 s of
  // computation, the rest is slowed.
  //   exposed(2 s) = 0.25·3 + 0.75·(3 - 2) = 1.5 s, exposed(5 s) = 0.25·3 = 0.75 s
  const cost::MinDataTime data{
      .always = Seconds{0.25 * 3}, .spread = Seconds{3}, .not_slowed = 0.75};
  EXPECT_DOUBLE_EQ(data.exposed(Seconds{2}).value, 1.5);
  EXPECT_DOUBLE_EQ(data.exposed(Seconds{5}).value, 0.75);
  // A longer pipeline adds more than it hides: 2 + 1.5 s against 3 + 0.75 s.
  EXPECT_DOUBLE_EQ(min_time_with_data({}, Seconds{2}, data).value, 3.5);
  // 2 s overlap 90 % of the pipeline, and 10 % show in any case.
  //   exposed(1 s) = max(0.2, 2 - 0.9) = 1.1 s, exposed(2 s) = max(0.2, 2 - 1.8) = 0.2 s
  const cost::MinDataTime window{.windowed = Seconds{2}, .shown = 0.1, .window = 0.9};
  EXPECT_DOUBLE_EQ(window.exposed(Seconds{1}).value, 1.1);
  EXPECT_DOUBLE_EQ(window.exposed(Seconds{2}).value, 0.2);
  EXPECT_DOUBLE_EQ(min_time_with_data({}, Seconds{1}, window).value, 2.1);
  // Were more hidden than the pipeline grows, the longer one would be the bound: 1 + 0.2 s instead
  // of 0.5 + 1.1 s.
  const cost::MinDataTime wide{.windowed = Seconds{2}, .shown = 0.1, .window = 1.8};
  EXPECT_DOUBLE_EQ(min_time_with_data({}, Seconds{0.5}, wide).value, 1.2);
}

TEST(Bounds, NoCandidateIsFasterThanTheBoundOfItsNode) {
  std::size_t candidates = 0;
  for (std::uint64_t seed = 2000; seed < 2025; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Dice dice(seed);
    Problem one = problems::random_problem(dice);
    BruteForce force(one, catalog::get_calibration());
    while (force.count(1500) > 1500) problems::narrow(one.limits, dice);
    const SearchContext context = make_context(one, catalog::get_calibration(), {});
    std::map<std::vector<i64>, NodeBound> bounds;
    const auto degrees = [](const auto& p) {
      return std::vector<i64>{p.tp, p.cp, p.pp, p.dp, p.ep, p.etp};
    };
    for (const Node& node : list_nodes(one)) bounds[degrees(node)] = bound_node(context, node);
    for (const Candidate& run : force.all().runs) {
      ++candidates;
      ASSERT_TRUE(bounds.contains(degrees(run.plan))) << format_findings(run);
      const NodeBound& bound = bounds[degrees(run.plan)];
      EXPECT_FALSE(bound.violation) << format_findings(run);
      EXPECT_LE(bound.min, (1 + kRounding) * run.time) << format_findings(run);
    }
  }
  EXPECT_GT(candidates, 1000u);
}

TEST(Bounds, NodeBoundHoldsForEveryContextParallelAlgorithm) {
  // With 2,048 tokens per rank, a ring's short blocks and the sums of their outputs take longer
  // than the all-to-alls that replace them.
  plan::TrainingConfig config{.model = *catalog::find_model("llama-3.1-8b"),
                              .cluster = *catalog::find_cluster("dgx-h100"),
                              .job = {},
                              .plan = {.cp = 8},
                              .world = 8};
  config.job.sequence = 16384;
  config.job.global_batch = 256;
  const Problem problem = make_problem(config, {.micro_batch = {1, 1}});
  const SearchContext context = make_context(problem, catalog::get_calibration(), {});
  const Seconds min = bound_node(context, {.cp = 8}).min;
  for (const plan::CpComm comm : {plan::CpComm::p2p, plan::CpComm::all_gather, plan::CpComm::a2a}) {
    config.plan.cp_comm = comm;
    EXPECT_LE(min, cost::estimate_step_time(config, catalog::get_calibration()).total());
  }
}

TEST(Bounds, NodeBoundHoldsForTheStatedDispatcher) {
  // HybridEP permutes and launches less than an all-to-all. Links that take no time leave only
  // that.
  plan::TrainingConfig config{.model = *catalog::find_model("qwen3-30b-a3b"),
                              .cluster = *catalog::find_cluster("dgx-h100"),
                              .job = {},
                              .plan = {.dp = 8, .ep = 8},
                              .world = 8};
  config.cluster.levels[0].bandwidth = BytesPerSecond{1e18};
  config.cluster.levels[0].latency = {};
  config.job.sequence = 4096;
  config.job.global_batch = 256;
  config.plan.dispatcher = plan::Dispatcher::hybridep;
  Problem problem = make_problem(config, {.micro_batch = {1, 1}});
  problem.capacity = 1000.0_GiB;
  const SearchContext context = make_context(problem, catalog::get_calibration(), {});
  const Seconds min = bound_node(context, {.dp = 8, .ep = 8}).min;
  EXPECT_LE(min, cost::estimate_step_time(config, catalog::get_calibration()).total());
}

TEST(Bounds, CandidatesOfAllNodesAddUpToTheSpace) {
  i64 candidates = 0;
  for (std::uint64_t seed = 2100; seed < 2125; ++seed) {
    Dice dice(seed);
    Problem one = problems::random_problem(dice);
    BruteForce force(one, catalog::get_calibration());
    constexpr i64 kMax = 5'000;
    while (force.count(kMax) > kMax) problems::narrow(one.limits, dice);
    const SearchContext context = make_context(one, catalog::get_calibration(), {});
    i64 sum = 0;
    for (const Node& node : list_nodes(one)) sum += bound_node(context, node).candidates;
    EXPECT_EQ(sum, force.count(kMax)) << "seed " << seed;
    candidates += sum;
  }
  EXPECT_GT(candidates, 1000);
}

RC_GTEST_PROP(Bounds, RulesThatRemoveAChoiceDependOnNoOther, ()) {
  const rankwright::plan::TrainingConfig config = make_random_config();
  const rankwright::plan::Plan& all = config.plan;
  rankwright::plan::TrainingConfig with_zero = config;
  with_zero.plan = {};
  with_zero.plan.tp = all.tp;
  with_zero.plan.cp = all.cp;
  with_zero.plan.pp = all.pp;
  with_zero.plan.dp = all.dp;
  with_zero.plan.ep = all.ep;
  with_zero.plan.etp = all.etp;
  rankwright::plan::TrainingConfig with_sequence = with_zero;
  with_zero.plan.zero = all.zero;
  with_zero.plan.sequence_parallel = !all.sequence_parallel;
  with_sequence.plan.zero = 3 - all.zero;
  with_sequence.plan.sequence_parallel = all.sequence_parallel;
  for (const rules::TargetRow& row : rules::targets()) {
    const Problem problem = make_problem(config, {.target = row.target});
    const SearchContext context = make_context(problem, catalog::get_calibration(), {});
    for (const rules::Rule* rule : context.zero_rules)
      RC_ASSERT(rule->fault(config) == rule->fault(with_zero));
    for (const rules::Rule* rule : context.sequence_rules)
      RC_ASSERT(rule->fault(config) == rule->fault(with_sequence));
  }
}

TEST(Bounds, TargetsRemoveChoicesBeforeBounding) {
  const Problem problem = make_problem({.model = *catalog::find_model("qwen3-30b-a3b"),
                                        .cluster = *catalog::find_cluster("dgx-h100 x 2"),
                                        .job = {.global_batch = 64, .sequence = 4096},
                                        .plan = {},
                                        .world = 16},
                                       {.target = rules::Target::megatron});
  const SearchContext context = make_context(problem, catalog::get_calibration(), {});
  const Node node{.tp = 2, .pp = 2, .dp = 4};
  const NodeSpace space = make_unordered_space(context, node);
  EXPECT_EQ(space.sequence_parallels, std::vector<bool>{true});
  for (const Sharding& sharding : space.shardings) EXPECT_LE(sharding.zero, 1);
  EXPECT_EQ(space.states.mean[3], kInfiniteBytes);
  // Each candidate is counted once: removed by a rule, or left.
  i64 sum = space.candidates_per_order();
  for (const auto& [code, count] : space.refused) sum += count;
  EXPECT_EQ(sum * i64(list_orders(problem, node).size()), candidates(problem, node));
  EXPECT_GT(space.refused.at("RW0507"), 0);
  EXPECT_GT(space.refused.at("RW0510"), 0);
}

/// Compares the memory bounds of all pipelines of a node with the memory of each way to shard them.
/// Returns the number of comparisons.
i64 compare_memory_bounds(const Problem& problem, const Node& node) {
  const cluster::Calibration& calibration = catalog::get_calibration();
  const SearchContext context = make_context(problem, calibration, {});
  SearchStats stats;
  const NodeSpace space = make_node_space(context, node, stats);
  StageSplitCache splits;
  plan::TrainingConfig config = space.config;
  i64 compared = 0;
  std::map<bool, Bytes> before;  // the bound of the next smaller microbatch
  for (const i64 size : space.micro_batches)
    for (const bool sequence_parallel : space.sequence_parallels) {
      config.plan.micro_batch = size;
      config.plan.sequence_parallel = sequence_parallel;
      choose(config.plan, Pipe{});
      choose(config.plan, RecomputeChoice{});
      choose(config.plan, 0, 0, problem);
      BatchMemory memory(space);
      const Bytes min = memory.min(config);
      EXPECT_GE(min, (1 - kRounding) * before[sequence_parallel]) << "microbatch " << size;
      before[sequence_parallel] = min;
      if (min < kInfiniteBytes) {  // infinite if the target refuses all choices
        EXPECT_TRUE(BatchMemory(space).may_fit(min, config));
        EXPECT_FALSE(BatchMemory(space).may_fit((1 - kRounding) * min, config));
      }
      for (std::size_t k = 0; k < space.recomputes.size(); ++k)
        for (const Pipe& pipe : space.pipes) {
          if (!combines(space.recomputes[k], pipe)) continue;
          choose(config.plan, pipe);
          choose(config.plan, space.recomputes[k]);
          choose(config.plan, 0, 0, problem);
          if (find_first_pipeline_violation(config)) continue;
          if (pipe.balanced)
            config.plan.stages = *splits.stages(
                config,
                weigh_parts(config.model,
                            estimate_layer_costs(config, cost::Links::none(config, calibration),
                                                 calibration)));
          if (find_first_violation(config)) continue;
          for (const Sharding& sharding : space.shardings) {
            choose(config.plan, sharding.zero, 0, problem);
            const Bytes real = (1 + kRounding) * cost::fullest(config, calibration).total();
            const auto text = [&] {
              return testing::Message()
                     << "pp " << node.pp << " chunks " << pipe.chunks << " schedule "
                     << name(pipe.schedule) << " balanced " << pipe.balanced << " recompute " << k
                     << " ZeRO " << sharding.zero << " microbatch " << size;
            };
            EXPECT_LE(memory.with(k, pipe.schedule)[std::size_t(sharding.zero)], real) << text();
            EXPECT_LE(min, real) << text();
            EXPECT_LE(min_memory_on_first_rank(
                          space, sum_activations(space, space.recomputes[k], memory.activations(k)),
                          memory.overhead(), config, config.stages()),
                      real)
                << text();
            ++compared;
          }
        }
    }
  return compared;
}

TEST(Bounds, NoPlanOfDeepSeekV3TakesLessMemoryThanItsBounds) {
  // Its first three layers are dense and small, so the first pp rank holds less than the mean.
  plan::TrainingConfig config{.model = *catalog::find_model("deepseek-v3"),
                              .cluster = *catalog::find_cluster("dgx-h100 x 32"),
                              .job = {},
                              .plan = {},
                              .world = 256};
  config.job.sequence = 4096;
  config.job.global_batch = 256;
  for (const Range& zero : {Range{0, 3}, Range{1, 1}}) {
    const Problem problem = make_problem(config, {.micro_batch = {1, 1}, .zero = zero});
    EXPECT_GT(compare_memory_bounds(problem, {.pp = 16, .dp = 16, .ep = 16}), 100);
    EXPECT_GT(compare_memory_bounds(problem, {.tp = 2, .pp = 8, .dp = 16, .ep = 8}), 100);
  }
}

TEST(Bounds, OffloadedActivationsTakeNoDeviceMemory) {
  plan::TrainingConfig config{.model = *catalog::find_model("llama-3.1-70b"),
                              .cluster = *catalog::find_cluster("dgx-h100 x 8"),
                              .job = {},
                              .plan = {.offload = {.activations = true}},
                              .world = 64};
  config.job.sequence = 32768;
  config.job.global_batch = 64;
  const Problem problem =
      make_problem(config, {.micro_batch = {1, 2}, .recompute = plan::Recompute::full});
  EXPECT_GT(compare_memory_bounds(problem, {.tp = 8, .pp = 8}), 100);
}

TEST(Bounds, NoPlanTakesLessMemoryThanItsBounds) {
  i64 compared = 0;
  for (std::uint64_t seed = 2200; seed < 2220; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Dice dice(seed);
    Problem one = problems::random_problem(dice);
    BruteForce force(one, catalog::get_calibration());
    while (force.count(1500) > 1500) problems::narrow(one.limits, dice);
    for (const Node& node : list_nodes(one))
      if (!find_first_violation(config_of(one, node))) compared += compare_memory_bounds(one, node);
  }
  EXPECT_GT(compared, 1000);
}

}  // namespace bounds_test
}  // namespace rankwright::search
