#include "rankwright/planner/plan/objective.h"

#include <algorithm>
#include <limits>

namespace rankwright::planner {
namespace {

constexpr std::string_view kObjectives[] = {"time", "max-seq", "max-batch"};
constexpr i64 kTokens = 1024;              // step of sequence lengths
constexpr i64 kMostTokens = i64{1} << 24;  // limit if the model states none
constexpr i64 kMostSequences = 1 << 14;

}  // namespace

std::span<const std::string_view> objective_names() { return kObjectives; }
std::string_view name(Objective objective) { return kObjectives[std::size_t(objective)]; }

search::Problem set_objective(const search::Problem& problem, Objective objective, i64 value) {
  search::Problem changed = problem;
  plan::TrainingConfig& config = changed.config;
  if (objective == Objective::max_seq) {
    config.job.sequence = value;
    if (config.left_open("job.global_batch"))
      config.job.global_batch =
          assume_global_batch(config).value_or(std::numeric_limits<i64>::max());
  }
  if (objective == Objective::max_batch) {
    changed.limits.micro_batch = {value, value};
    config.job.global_batch = value * config.world;
  }
  return changed;
}

std::optional<i64> find_largest(const search::Problem& problem, Objective objective,
                                const std::function<bool(const search::Problem&)>& fits) {
  const bool tokens = objective == Objective::max_seq;
  const i64 step = tokens ? kTokens : 1;
  const i64 known = problem.config.model.max_sequence;
  const i64 most = tokens ? std::max<i64>(1, (known > 0 ? known : kMostTokens) / step)
                          : std::min(kMostSequences, plan::kMaxBatch / problem.config.world);
  const auto works = [&](i64 steps) {
    return fits(set_objective(problem, objective, steps * step));
  };
  i64 good = 0, bad = most + 1;
  for (i64 steps = 1; steps <= most; steps *= 2) {
    if (!works(steps)) {
      bad = steps;
      break;
    }
    good = steps;
  }
  if (good == 0) return std::nullopt;
  // Memory grows with both, so halving finds the largest; three digits are enough.
  while (bad - good > std::max<i64>(1, good / 512)) {
    const i64 middle = good + (bad - good) / 2;
    (works(middle) ? good : bad) = middle;
  }
  return good * step;
}

}  // namespace rankwright::planner
