#include "rankwright/search/why_not.h"

#include <gtest/gtest.h>

#include <map>

#include "rankwright/catalog/catalog.h"
#include "tests/support/brute_force.h"
#include "tests/support/problems.h"

namespace rankwright::search {
namespace why_not_test {

using problems::Dice;
using Kind = Neighbor::Kind;
using Verdict = Neighbor::Verdict;

constexpr double kRounding = 1e-12;

/// A problem with its answer and the neighbors of the best plan.
struct Explained {
  Problem problem;
  Answer answer{};
  std::vector<Neighbor> neighbors{};

  const plan::Plan& plan() const { return answer.best->config.plan; }
};

/// Calls `check` for random problems with seeds from `first`.
template <class Check>
void for_each_problem(std::uint64_t first, std::uint64_t count, const Check& check) {
  int checked = 0;
  std::size_t neighbors = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Dice dice(seed);
    Explained one{.problem = problems::random_problem(dice)};
    for (int k = 0; k < 4; ++k) problems::narrow(one.problem.limits, dice);
    const SearchResult roomy = search(one.problem, catalog::get_calibration());
    if (!roomy.space.best) continue;
    one.problem.capacity = dice.of<double>({1, 1.2, 10}) * roomy.space.best->memory;
    one.answer = find_answer(one.problem, catalog::get_calibration());
    ASSERT_TRUE(one.answer.best);
    one.neighbors = find_neighbors(one.problem, one.answer, catalog::get_calibration());
    check(one);
    ++checked;
    neighbors += one.neighbors.size();
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(checked, int(count) / 2);
  EXPECT_GT(neighbors, count);
}

/// Returns whether `rankwright check --for` would report an error or a warning of the target.
bool is_refused(const plan::TrainingConfig& config, rules::Target target) {
  const std::vector<plan::ConstraintViolation> none;
  for (const rules::Rule* rule : rules::rules())
    if (rule->target != rules::Target::any && holds_for(*rule, target) &&
        rule->page.severity != Severity::note && rule->check({config, none, target}))
      return true;
  return false;
}

Verdict find_verdict(const Problem& problem, const plan::TrainingConfig& config) {
  if (find_first_violation(config)) return Verdict::violation;
  if (is_refused(config, problem.limits.target)) return Verdict::rule;
  const Bytes total = cost::fullest(config, catalog::get_calibration()).total();
  return total <= problem.capacity ? Verdict::evaluated : Verdict::memory;
}

TEST(Neighbors, VerdictsAndEstimatesEqualThoseOfAnyPlan) {
  for_each_problem(5000, 80, [](const Explained& one) {
    for (const Neighbor& other : one.neighbors) {
      EXPECT_EQ(int(other.verdict), int(find_verdict(one.problem, other.config)))
          << int(other.kind);
      EXPECT_EQ(bool(other.violation), other.verdict == Verdict::violation);
      EXPECT_EQ(!other.rule.empty(), other.verdict == Verdict::rule);
      if (other.verdict == Verdict::violation || other.verdict == Verdict::rule) continue;
      EXPECT_EQ(other.memory, cost::fullest(other.config, catalog::get_calibration()));
      EXPECT_EQ(other.time,
                cost::estimate_by_simulation(other.config, catalog::get_calibration()).time());
      EXPECT_EQ(other.step.total(), other.time);
    }
  });
}

TEST(Neighbors, AreInTheOrderOfTheirKinds) {
  for_each_problem(5100, 40, [](const Explained& one) {
    for (std::size_t k = 1; k < one.neighbors.size(); ++k)
      EXPECT_LE(one.neighbors[k - 1].kind, one.neighbors[k].kind);
  });
}

/// Returns `plan` with the settings that `kind` may change taken from `other`.
plan::Plan change(plan::Plan plan, Kind kind, const plan::Plan& other) {
  if (kind == Kind::order) plan.order = other.order;
  if (kind == Kind::zero) plan.zero = other.zero, plan.shard_size = other.shard_size;
  if (kind == Kind::recompute) plan.recompute = other.recompute;
  if (kind == Kind::micro_batch) plan.micro_batch = other.micro_batch;
  if (kind == Kind::sequence_parallel) plan.sequence_parallel = other.sequence_parallel;
  if (kind == Kind::schedule) {
    plan.schedule = other.schedule;
    plan.virtual_stages = other.virtual_stages;
    plan.stages = other.stages;
  }
  plan.overlap = other.overlap;  // follows from ZeRO and sequence parallelism
  return plan;
}

TEST(Neighbors, DifferInOneSettingOrWereSearched) {
  for_each_problem(5200, 60, [](const Explained& one) {
    for (const Neighbor& other : one.neighbors) {
      EXPECT_EQ(other.searched, other.kind <= Kind::ep || other.kind == Kind::data_alone);
      if (other.searched) continue;
      EXPECT_NE(other.config.plan, one.plan());
      EXPECT_EQ(change(one.plan(), other.kind, other.config.plan), other.config.plan)
          << int(other.kind);
    }
  });
}

Range Limits::*range_of(Kind kind) {
  constexpr Range Limits::*kRanges[] = {&Limits::tp, &Limits::cp, &Limits::pp, &Limits::dp,
                                        &Limits::ep};
  return kRanges[std::size_t(kind)];
}

i64 get_degree(const plan::Plan& plan, Kind kind) {
  const i64 degrees[] = {plan.tp, plan.cp, plan.pp, plan.dp, plan.ep};
  return degrees[std::size_t(kind)];
}

TEST(Neighbors, DataAlone_IsTheBestPlanWithoutOtherAxes) {
  int seen = 0;
  for_each_problem(5400, 60, [&](const Explained& one) {
    for (const Neighbor& other : one.neighbors) {
      if (other.kind != Kind::data_alone) continue;
      ++seen;
      const plan::Plan& plan = other.config.plan;
      EXPECT_EQ(plan.tp * plan.cp * plan.pp, 1);
      Problem limited = one.problem;
      limited.limits.tp = limited.limits.cp = limited.limits.pp = {1, 1};
      const PartialResult space = search(limited, catalog::get_calibration()).space;
      EXPECT_EQ(other.verdict == Verdict::evaluated, space.best.has_value());
      if (space.best) {
        EXPECT_NEAR(cost::estimate_step_time(other.config, catalog::get_calibration()).total() /
                        space.best->time,
                    1, kRounding);
      }
    }
  });
  EXPECT_GT(seen, 3);
}

TEST(Neighbors, ChangedDegree_IsTheBestPlanWithThatDegree) {
  for_each_problem(5300, 60, [](const Explained& one) {
    for (const Neighbor& other : one.neighbors) {
      if (!other.searched || other.kind == Kind::data_alone) continue;
      Problem limited = one.problem;
      limited.limits.*range_of(other.kind) = {other.degree, other.degree};
      const PartialResult space = search(limited, catalog::get_calibration()).space;
      if (space.best) {
        EXPECT_EQ(get_degree(other.config.plan, other.kind), other.degree);
        EXPECT_EQ(int(other.verdict), int(Verdict::evaluated));
        const Seconds closed =
            cost::estimate_step_time(other.config, catalog::get_calibration()).total();
        EXPECT_NEAR(closed / space.best->time, 1, kRounding);
      } else if (space.leanest) {
        EXPECT_EQ(int(other.verdict), int(Verdict::memory));
        EXPECT_EQ(other.memory.total(), space.leanest->memory);
      } else {
        EXPECT_TRUE(other.verdict == Verdict::violation || other.verdict == Verdict::rule)
            << int(other.verdict);
      }
    }
  });
}

/// Every degree is doubled and halved if the limits and the world allow it and the space has a
/// plan.
TEST(Neighbors, IncludeEveryDoubledAndHalvedDegree) {
  for_each_problem(5400, 60, [](const Explained& one) {
    std::map<std::pair<Kind, i64>, int> times_listed;
    for (const Neighbor& other : one.neighbors)
      if (other.searched) ++times_listed[{other.kind, other.degree}];
    for (const auto& [which, times] : times_listed) EXPECT_EQ(times, 1);
    for (const Kind kind : {Kind::tp, Kind::cp, Kind::pp, Kind::dp, Kind::ep}) {
      const i64 now = get_degree(one.plan(), kind);
      for (const i64 other : {now % 2 == 0 ? now / 2 : 0, 2 * now}) {
        if (other == 0 || !(one.problem.limits.*range_of(kind)).has(other)) continue;
        Problem limited = one.problem;
        limited.limits.*range_of(kind) = {other, other};
        if (kind == Kind::ep && !one.problem.config.model.sparse()) continue;
        const PartialResult space = search(limited, catalog::get_calibration()).space;
        if (space.best || space.leanest) {
          EXPECT_TRUE(times_listed.contains({kind, other})) << int(kind) << " " << other;
        }
      }
    }
  });
}

/// The fastest over all other schedules and their numbers of chunks.
TEST(Neighbors, Schedule_IsTheFastestOfAllOthers) {
  int seen = 0;
  for_each_problem(5500, 60, [&](const Explained& one) {
    if (one.plan().pp == 1) return;
    std::optional<Seconds> fastest;
    for (const Pipe& pipe : list_pipes(one.problem, node_of(one.plan()))) {
      if (pipe.balanced || pipe.schedule == one.plan().schedule) continue;
      plan::Plan plan = one.plan();
      choose(plan, pipe);
      choose(plan, plan.zero, plan.shard_size, one.problem);  // overlap may depend on the chunks
      const rankwright::plan::TrainingConfig config = config_of(one.problem, plan);
      if (find_verdict(one.problem, config) != Verdict::evaluated) continue;
      const Seconds time = cost::estimate_by_simulation(config, catalog::get_calibration()).time();
      fastest = std::min(fastest.value_or(time), time);
    }
    for (const Neighbor& other : one.neighbors) {
      if (other.kind != Kind::schedule) continue;
      ++seen;
      EXPECT_EQ(other.verdict == Verdict::evaluated, fastest.has_value());
      if (fastest) {
        EXPECT_EQ(other.time, *fastest);
      }
    }
  });
  EXPECT_GT(seen, 3);
}

}  // namespace why_not_test
}  // namespace rankwright::search
