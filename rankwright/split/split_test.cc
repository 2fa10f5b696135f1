#include "rankwright/split/split.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "rankwright/split/units.h"

namespace rankwright::split {
namespace split_test {

ItemCost weighs(double weight) { return {.weight = weight}; }

/// Returns the items of a task one by one; MTP modules that must stay together are one.
std::vector<ItemCost> items_of(const SplitTask& task) {
  std::vector<ItemCost> items{task.embedding};
  for (const ItemRun& run : task.layers)
    items.insert(items.end(), std::size_t(run.count), run.each);
  const double n = double(task.mtp_modules);
  if (task.mtp_apart)
    items.insert(items.end(), std::size_t(task.mtp_modules), task.mtp);
  else if (task.mtp_modules > 0)
    items.push_back({n * task.mtp.weight, n * task.mtp.states, n * task.mtp.activations});
  items.push_back(task.head);
  return items;
}

struct Figures {
  double rank = 0, stage = 0, memory = 0;
};

/// Computes the maxima from their definition: a rank's share of the weight of its stages, and all
/// of their memory.
Figures figures(const SplitTask& task, const std::vector<i64>& cuts) {
  const std::vector<ItemCost> items = items_of(task);
  Figures max;
  for (std::size_t r = 0; r < task.map.team_of_rank.size(); ++r) {
    const i64 team = task.map.team_of_rank[r];
    const double sharers =
        double(std::count(task.map.team_of_rank.begin(), task.map.team_of_rank.end(), team));
    double weight = 0, memory = 0;
    i64 first = 0;
    for (std::size_t s = 0; s < cuts.size(); ++s) {
      double stage = 0;
      for (i64 i = first; i < cuts[s]; ++i) {
        const ItemCost& item = items[std::size_t(i)];
        stage += item.weight;
        if (task.map.team_of_stage[s] == team && task.capacity)
          memory += item.states.value + task.in_flight[r] * item.activations.value;
      }
      if (task.map.team_of_stage[s] == team) weight += stage;
      max.stage = std::max(max.stage, stage);
      first = cuts[s];
    }
    max.rank = std::max(max.rank, weight / sharers);
    max.memory = std::max(max.memory, memory);
  }
  return max;
}

std::vector<i64> cuts_of(const SplitTask& task, const plan::Stages& stages) {
  std::vector<i64> cuts;
  i64 at = 0;
  for (const plan::Stage& stage : stages) {
    const i64 mtp = task.mtp_apart ? stage.mtp : std::min<i64>(stage.mtp, 1);
    at += (stage.embedding ? 1 : 0) + stage.layers + mtp + (stage.loss ? 1 : 0);
    cuts.push_back(at);
  }
  return cuts;
}

void each_split(i64 items, i64 stages, std::vector<i64>& cuts,
                const std::function<void(const std::vector<i64>&)>& see) {
  const i64 first = cuts.empty() ? 0 : cuts.back();
  const i64 left = stages - i64(cuts.size());
  if (left == 1) {
    cuts.push_back(items);
    see(cuts);
    cuts.pop_back();
    return;
  }
  for (i64 end = first + 1; end <= items - (left - 1); ++end) {
    cuts.push_back(end);
    each_split(items, stages, cuts, see);
    cuts.pop_back();
  }
}

/// Finds the best of all splits.
Figures brute_force(const SplitTask& task) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  Figures best{kNone, kNone, kNone};
  std::vector<i64> cuts;
  each_split(i64(items_of(task).size()), i64(task.map.team_of_stage.size()), cuts,
             [&](const std::vector<i64>& ends) {
               const Figures one = figures(task, ends);
               best.memory = std::min(best.memory, one.memory);
               if (task.capacity && one.memory > task.capacity->value) return;
               if (std::pair(one.rank, one.stage) < std::pair(best.rank, best.stage)) {
                 best.rank = one.rank;
                 best.stage = one.stage;
               }
             });
  return best;
}

ItemCost random_cost(int max) {
  return {.weight = double(*rc::gen::inRange(0, max)),
          .states = Bytes{double(*rc::gen::inRange(0, 20))},
          .activations = Bytes{double(*rc::gen::inRange(0, 10))}};
}

/// Makes a random task with runs of up to `longest` equal layers: with 1 they all differ.
SplitTask random_task(StageMap map, i64 longest) {
  const int weights = *rc::gen::element(3, 12, 1000);
  SplitTask task{.embedding = random_cost(weights),
                 .mtp = random_cost(weights),
                 .mtp_modules = *rc::gen::inRange<i64>(0, 3),
                 .mtp_apart = *rc::gen::arbitrary<bool>(),
                 .head = random_cost(2 * weights),
                 .map = std::move(map)};
  for (i64 left = *rc::gen::inRange<i64>(0, 11); left > 0;) {
    const i64 count = std::min(left, *rc::gen::inRange<i64>(1, longest + 1));
    task.layers.push_back({count, random_cost(weights)});
    left -= count;
  }
  return task;
}

i64 random_pp() { return *rc::gen::inRange<i64>(1, 5); }
i64 random_longest() { return *rc::gen::element<i64>(1, 2, 4, 10); }

StageMap random_map() {
  const i64 pp = random_pp(), chunks = *rc::gen::inRange<i64>(1, 4);
  const int kind = *rc::gen::inRange(0, 3);
  return kind == 0   ? map_round_robin(pp, chunks)
         : kind == 1 ? map_v_shape(pp, chunks)
                     : map_both_ends(pp);
}

/// Sets a capacity near the minimum required, so that the limit matters.
void limit_memory(SplitTask& task) {
  for (std::size_t r = 0; r < task.map.team_of_rank.size(); ++r)
    task.in_flight.push_back(*rc::gen::inRange(0, 9) / 2.0);
  task.capacity = Bytes{0};
  const double min =
      items_of(task).size() < task.map.team_of_stage.size() ? 0 : brute_force(task).memory;
  task.capacity = Bytes{std::max(0.0, min + *rc::gen::inRange(-5, 40))};
}

void expect_best(const SplitTask& task) {
  const Split split = find_best_split(task);
  RC_ASSERT(split.proved);
  if (items_of(task).size() < task.map.team_of_stage.size()) {
    RC_ASSERT(split.fault == Split::Fault::items);
    return;
  }
  const Figures best = brute_force(task);
  if (task.capacity && best.memory > task.capacity->value) {
    RC_ASSERT(split.fault == Split::Fault::memory);
    RC_ASSERT(split.memory.value == best.memory);
    return;
  }
  RC_ASSERT(split.fault == Split::Fault::none);
  const std::vector<i64> cuts = cuts_of(task, split.stages);
  for (std::size_t s = 0; s < cuts.size(); ++s) RC_ASSERT(cuts[s] > (s == 0 ? 0 : cuts[s - 1]));
  const Figures mine = figures(task, cuts);
  RC_ASSERT(mine.rank == best.rank);
  RC_ASSERT(mine.stage == best.stage);
  RC_ASSERT(split.rank_weight == mine.rank);
  RC_ASSERT(split.stage_weight == mine.stage);
  RC_ASSERT(split.min_rank_weight == mine.rank);
  RC_ASSERT(split.memory.value == mine.memory);
  if (task.capacity) RC_ASSERT(mine.memory <= task.capacity->value);
}

RC_GTEST_PROP(BestSplit, OneStagePerRank_MatchesBruteForce, ()) {
  expect_best(random_task(map_round_robin(random_pp(), 1), random_longest()));
}

RC_GTEST_PROP(BestSplit, RoundRobinChunks_MatchesBruteForce, ()) {
  const i64 chunks = *rc::gen::inRange<i64>(2, 4);
  expect_best(random_task(map_round_robin(random_pp(), chunks), random_longest()));
}

RC_GTEST_PROP(BestSplit, VShape_MatchesBruteForce, ()) {
  const i64 chunks = *rc::gen::inRange<i64>(2, 4);
  expect_best(random_task(map_v_shape(random_pp(), chunks), random_longest()));
}

RC_GTEST_PROP(BestSplit, BothEnds_MatchesBruteForce, ()) {
  expect_best(random_task(map_both_ends(random_pp()), random_longest()));
}

RC_GTEST_PROP(BestSplit, MemoryLimit_MatchesBruteForce, ()) {
  SplitTask task = random_task(random_map(), random_longest());
  limit_memory(task);
  expect_best(task);
}

TEST(StageMaps, AssignStagesToRanks) {
  EXPECT_EQ(map_round_robin(3, 2).team_of_stage, (std::vector<i64>{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(map_v_shape(3, 2).team_of_stage, (std::vector<i64>{0, 1, 2, 2, 1, 0}));
  EXPECT_EQ(map_both_ends(5).team_of_stage, (std::vector<i64>{0, 1, 2, 1, 0}));
  EXPECT_EQ(map_both_ends(4).team_of_rank, (std::vector<i64>{0, 1, 1, 0}));
}

/// Makes a random problem of one stage per rank, with limits near what its items need.
SplitProblem random_chain(SplitLimits& limits) {
  const i64 stages = *rc::gen::inRange<i64>(1, 6);
  SplitProblem problem{.limited = *rc::gen::arbitrary<bool>()};
  for (i64 s = 0; s < stages; ++s) problem.team_of_stage.push_back(s);
  problem.ranks.assign(std::size_t(stages), 1);
  for (i64 runs = *rc::gen::inRange<i64>(1, 5); runs > 0; --runs) {
    SplitProblem::Run run{.count = *rc::gen::inRange<i64>(0, 6),
                          .weight = *rc::gen::inRange<i64>(0, 6)};
    for (i64 s = 0; problem.limited && s < stages; ++s)
      run.memory.push_back(*rc::gen::inRange<i64>(0, 5));
    problem.runs.push_back(std::move(run));
  }
  const i64 mean = problem.weight() / stages;
  limits = {.load = mean + *rc::gen::inRange<i64>(0, 8),
            .stage = mean + *rc::gen::inRange<i64>(0, 8)};
  if (problem.limited) limits.memory = *rc::gen::inRange<i64>(1, 20);
  return problem;
}

RC_GTEST_PROP(StagesFit, IsExactForChains, ()) {
  for (int k = 0; k < 20; ++k) {
    SplitLimits limits;
    const SplitProblem problem = random_chain(limits);
    Steps steps(1000);
    const Probe exact = find_split_by_items(problem, limits, steps);
    RC_ASSERT(stages_fit(problem, limits) == (exact.verdict == Probe::Verdict::yes));
  }
}

TEST(StagesFit, CountsBackFromTheLastStage) {
  // Items 1 3 3 3 2 in three stages of at most 6, from the back: 3 2, 3 3, 1. With at most 4, 2, 3
  // and 3 leave two items.
  SplitProblem problem{
      .runs = {{1, 1}, {3, 3}, {1, 2}}, .team_of_stage = {0, 1, 2}, .ranks = {1, 1, 1}};
  EXPECT_TRUE(stages_fit(problem, {.stage = 6}));
  EXPECT_FALSE(stages_fit(problem, {.stage = 4}));
  // Five stages take one item each; a sixth has none.
  problem.team_of_stage = {0, 1, 2, 0, 1};
  EXPECT_TRUE(stages_fit(problem, {.stage = 3}));
  problem.team_of_stage.push_back(2);
  EXPECT_FALSE(stages_fit(problem, {.stage = 3}));
}

TEST(BestSplit, OneStage_HoldsEverything) {
  const SplitTask task{.layers = {{3, weighs(2)}},
                       .mtp_modules = 1,
                       .head = weighs(1),
                       .map = map_round_robin(1, 1)};
  const Split split = find_best_split(task);
  EXPECT_EQ(show_layout(split.stages), "EtttmL");
  EXPECT_EQ(split.rank_weight, 7);
  EXPECT_TRUE(split.proved);
}

TEST(BestSplit, EmbeddingAndHead_MayBeStagesOfTheirOwn) {
  const SplitTask task{.layers = {{1, weighs(1)}}, .map = map_round_robin(3, 1)};
  EXPECT_EQ(show_layout(find_best_split(task).stages), "E|t|L");
}

TEST(BestSplit, FewerItemsThanStages_IsAFault) {
  const SplitTask task{.layers = {{1, weighs(1)}}, .map = map_round_robin(2, 2)};
  EXPECT_EQ(find_best_split(task).fault, Split::Fault::items);  // 3 items, 4 stages
}

TEST(BestSplit, ZeroWeights_GiveASplit) {
  const SplitTask task{.layers = {{6, {}}}, .map = map_round_robin(4, 1)};
  const Split split = find_best_split(task);
  EXPECT_EQ(count_layers(split.stages), 6);
  EXPECT_EQ(split.rank_weight, 0);
  EXPECT_TRUE(split.proved);
}

TEST(BestSplit, Chunks_MatchTheWorkedExample) {
  // 5 layers of 2 and a head of 3 on 2 ranks with 2 chunks: rank 1 has 3 + 2a, rank 0 has 2b, and a
  // + b = 5. b = 3: 6 and 7. b = 4: 8. So the best is 7, with two layers on the head's rank: both
  // in its first stage (4), because one of them in the last stage would make that 5.
  const SplitTask task{.layers = {{5, weighs(2)}}, .head = weighs(3), .map = map_round_robin(2, 2)};
  const Split split = find_best_split(task);
  EXPECT_EQ(split.rank_weight, 7);
  EXPECT_EQ(split.stage_weight, 4);
  EXPECT_EQ(split.stages[1].layers, 2);
  EXPECT_EQ(split.stages[3].layers, 0);
}

TEST(BestSplit, BothEnds_BalancesPairsOfStages) {
  // 8 layers of 1 and a head of 4 on 4 ranks: ranks 0 and 3 share stages 0 and 3, ranks 1 and 2 the
  // others. The total is 12, so 3 per rank and 6 per pair. The stage with the head has at least 4,
  // and no stage needs more.
  const SplitTask task{.layers = {{8, weighs(1)}}, .head = weighs(4), .map = map_both_ends(4)};
  const Split split = find_best_split(task);
  EXPECT_EQ(split.rank_weight, 3);
  EXPECT_EQ(split.stage_weight, 4);
  EXPECT_EQ(split.stages[0].layers + split.stages[3].layers, 2);
}

TEST(BestSplit, MtpModules_StayTogetherUnlessMtpApart) {
  // 2 modules of 3, 2 layers of 1 and a head of 1: together the modules are 6 of 9.
  SplitTask task{.layers = {{2, weighs(1)}},
                 .mtp = weighs(3),
                 .mtp_modules = 2,
                 .head = weighs(1),
                 .map = map_round_robin(2, 1)};
  EXPECT_EQ(find_best_split(task).rank_weight, 7);  // Ett|mmL
  task.mtp_apart = true;
  EXPECT_EQ(find_best_split(task).rank_weight, 5);  // Ettm|mL
  EXPECT_EQ(show_layout(find_best_split(task).stages), "Ettm|mL");
}

TEST(BestSplit, MemoryLimit_MovesLayersToRanksWithFewerMicrobatchesInFlight) {
  // 10 layers of 10 bytes and 1 byte per microbatch in flight. Rank 0 holds 10 microbatches, so a
  // layer takes 20 bytes there and 11 on rank 1. With 80 bytes: 4 layers on rank 0 and 6 on rank 1,
  // although 5 and 5 weigh less.
  SplitTask task{.layers = {{10, {1, Bytes{10}, Bytes{1}}}}, .map = map_round_robin(2, 1)};
  EXPECT_EQ(show_layers(find_best_split(task).stages), "5 5");
  task.capacity = Bytes{80};
  task.in_flight = {10, 1};
  const Split split = find_best_split(task);
  EXPECT_EQ(show_layers(split.stages), "4 6");
  EXPECT_EQ(split.memory, Bytes{80});
}

TEST(BestSplit, TooLittleMemory_ReturnsTheMinimumRequired) {
  // 4 layers of 10 bytes on 2 ranks: 20.
  SplitTask task{.layers = {{4, {1, Bytes{10}, {}}}}, .map = map_round_robin(2, 1)};
  task.in_flight = {1, 1};
  task.capacity = Bytes{19};
  const Split split = find_best_split(task);
  EXPECT_EQ(split.fault, Split::Fault::memory);
  EXPECT_TRUE(split.stages.empty());
  EXPECT_EQ(split.memory, Bytes{20});
  EXPECT_TRUE(split.proved);
  task.capacity = split.memory;
  EXPECT_EQ(find_best_split(task).fault, Split::Fault::none);
}

TEST(BestSplit, InvalidWeights_Abort) {
  SplitTask task{.layers = {{4, weighs(-1)}}, .map = map_round_robin(2, 1)};
  EXPECT_DEATH(find_best_split(task), "internal error");
  task.layers[0].each.weight = std::numeric_limits<double>::quiet_NaN();
  EXPECT_DEATH(find_best_split(task), "internal error");
}

RC_GTEST_PROP(BestSplit, IsInvariantUnderScaling, ()) {
  SplitTask task = random_task(random_map(), random_longest());
  const Split split = find_best_split(task);
  const double factor = *rc::gen::element(1e-12, 3.0, 1e12);
  for (ItemCost* cost : {&task.embedding, &task.mtp, &task.head}) cost->weight *= factor;
  for (ItemRun& run : task.layers) run.each.weight *= factor;
  const Split scaled = find_best_split(task);
  RC_ASSERT(scaled.fault == split.fault);
  RC_ASSERT(std::abs(scaled.rank_weight - factor * split.rank_weight) <=
            1e-9 * factor * split.rank_weight);
}

// Makes a task as in practice: a few equal layers, then many others.
SplitTask realistic_task() {
  SplitTask task{.mtp = weighs(*rc::gen::inRange(50, 200)),
                 .mtp_modules = *rc::gen::inRange<i64>(0, 2),
                 .head = weighs(*rc::gen::inRange(0, 500))};
  task.layers.push_back({*rc::gen::inRange<i64>(0, 5), weighs(*rc::gen::inRange(50, 150))});
  task.layers.push_back({*rc::gen::inRange<i64>(60, 127), weighs(100)});
  const i64 pp = *rc::gen::element<i64>(2, 4, 8, 16, 30);
  const int kind = *rc::gen::inRange(0, 4);
  task.map = kind == 0   ? map_round_robin(pp, 1)
             : kind == 1 ? map_round_robin(pp, *rc::gen::inRange<i64>(2, 1 + 60 / pp))
             : kind == 2 ? map_v_shape(pp, 2)
                         : map_both_ends(pp);
  return task;
}

RC_GTEST_PROP(BestSplit, RealisticModels_AreProvedOptimal, ()) {
  const SplitTask task = realistic_task();
  const Split split = find_best_split(task);
  RC_ASSERT(split.fault == Split::Fault::none);
  RC_ASSERT(split.proved);
  RC_ASSERT(split.min_rank_weight == split.rank_weight);
  const Figures mine = figures(task, cuts_of(task, split.stages));
  RC_ASSERT(mine.rank == split.rank_weight);
  RC_ASSERT(mine.stage == split.stage_weight);
  RC_ASSERT(plan::parse_layout(show_layout(split.stages)).value() == split.stages);
}

/// Returns whether ranks that hold less than `max` each have room for layers of weight 1, one of
/// them beside a head. Nothing else matters if every stage can have a layer.
bool has_room(double max, i64 layers, i64 pp, double head) {
  const auto below = [](double room) { return std::max<i64>(0, i64(std::ceil(room)) - 1); };
  return head < max && (pp - 1) * below(max) + below(max - head) >= layers;
}

TEST(BestSplit, FullSize_IsProvedOptimal) {
  constexpr double kHead = 0.66;
  struct Case {
    i64 layers, pp, chunks;
  };
  std::vector<Case> cases{{128, 64, 2}, {1000, 128, 4}, {61, 16, 2}};
  for (i64 chunks = 1; chunks <= 7; ++chunks) cases.push_back({126, 16, chunks});
  for (const auto& [layers, pp, chunks] : cases) {
    const SplitTask task{
        .layers = {{layers, weighs(1)}}, .head = weighs(kHead), .map = map_round_robin(pp, chunks)};
    const Split split = find_best_split(task);
    EXPECT_TRUE(split.proved) << layers;
    EXPECT_EQ(count_layers(split.stages), layers);
    EXPECT_FALSE(has_room(split.rank_weight, layers, pp, kHead)) << layers << " on " << pp;
  }
}

RC_GTEST_PROP(BestSplit, StepsExhausted_GivesAValidSplitAndBound, ()) {
  SplitTask task = random_task(random_map(), random_longest());
  RC_PRE(items_of(task).size() >= task.map.team_of_stage.size());
  task.steps = *rc::gen::inRange(0, 20'000);
  if (*rc::gen::arbitrary<bool>()) limit_memory(task);
  const Split split = find_best_split(task);
  const Figures best = brute_force(task);
  if (split.fault == Split::Fault::memory) {
    RC_ASSERT(split.memory.value >= best.memory);
    if (split.proved) RC_ASSERT(best.memory > task.capacity->value);
    return;
  }
  const Figures mine = figures(task, cuts_of(task, split.stages));
  RC_ASSERT(split.rank_weight == mine.rank);
  RC_ASSERT(mine.rank >= best.rank);
  RC_ASSERT(split.min_rank_weight <= best.rank);
  if (split.proved) RC_ASSERT(mine.rank == best.rank && mine.stage == best.stage);
}

TEST(BestSplit, LargeProblem_ReportsThatItIsNotProved) {
  // 5,000 layers, all different within any 4,096 neighbors, on 256 ranks: more than it examines one
  // by one.
  SplitTask task{.map = map_round_robin(256, 1)};
  for (i64 i = 0; i < 5000; ++i) task.layers.push_back({1, weighs(double(10'000 + i % 4096))});
  const Split split = find_best_split(task);
  EXPECT_FALSE(split.proved);
  EXPECT_EQ(count_layers(split.stages), 5000);
  EXPECT_LT(split.min_rank_weight, split.rank_weight);
  EXPECT_EQ(figures(task, cuts_of(task, split.stages)).rank, split.rank_weight);
}

}  // namespace split_test
}  // namespace rankwright::split
