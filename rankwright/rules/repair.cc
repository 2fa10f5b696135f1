#include "rankwright/rules/repair.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <tuple>

namespace rankwright::rules {
namespace {

/// Limits of the candidates that are tried. Fixes are small changes, so larger divisors are
/// useless.
constexpr i64 kMaxTensor = 64;
constexpr i64 kMaxSuggestedStages = 256;

/// Candidate degrees and the keys by which candidates are ordered.
struct Candidate {
  i64 tp, pp, dp;
  int changed;
  double distance;  // sum of |log2| of the three factors
  int touches;      // 4 for tp, 2 for dp, 1 for pp: prefers to keep tp, then dp
};

double log_factor(i64 from, i64 to) { return std::abs(std::log2(double(to) / double(from))); }

Candidate make_candidate(const plan::Plan& plan, i64 tp, i64 pp, i64 dp) {
  const bool a = tp != plan.tp, b = pp != plan.pp, c = dp != plan.dp;
  return {tp,
          pp,
          dp,
          int(a) + int(b) + int(c),
          log_factor(plan.tp, tp) + log_factor(plan.pp, pp) + log_factor(plan.dp, dp),
          4 * int(a) + 2 * int(c) + int(b)};
}

std::vector<Edit> list_edits(const plan::Plan& plan, const Candidate& c) {
  std::vector<Edit> edits;
  if (c.tp != plan.tp) edits.push_back(edit("parallelism.tp_size", c.tp));
  if (c.pp != plan.pp) edits.push_back(edit("parallelism.pp_size", c.pp));
  if (c.dp != plan.dp) edits.push_back(edit("parallelism.dp_size", c.dp));
  return edits;
}

/// Returns the global batch, rounded up to whole microbatches on every data rank.
i64 round_batch(const plan::TrainingConfig& config) {
  const std::optional<i64> at_once = product({config.plan.micro_batch, config.plan.dp});
  return at_once && *at_once <= plan::kMaxBatch ? round_up(config.job.global_batch, *at_once)
                                                : config.job.global_batch;
}

/// Returns the sequence, rounded up to what tp with sequence parallelism and cp cut evenly.
i64 round_sequence(const plan::TrainingConfig& config) {
  const plan::Plan& p = config.plan;
  const i64 halves = p.cp > 1 ? 2 : 1;
  const i64 unit = p.sequence_parallel ? std::lcm(halves, p.tp) : halves;
  const std::optional<i64> parts = product({p.cp, unit});
  return parts && *parts <= kMaxCount / 2 ? round_up(config.job.sequence, *parts)
                                          : config.job.sequence;
}

std::vector<i64> up_to(std::vector<i64> numbers, i64 max) {
  numbers.erase(std::upper_bound(numbers.begin(), numbers.end(), max), numbers.end());
  return numbers;
}

/// As removes_violation() below, with the violations of the config before the change.
bool removes_violation(const std::vector<plan::ConstraintViolation>& old,
                       const plan::TrainingConfig& after, plan::ConstraintViolation::Why why) {
  const std::vector<plan::ConstraintViolation> left = find_violations(after);
  return std::all_of(left.begin(), left.end(), [&](const plan::ConstraintViolation& violation) {
    const bool known = std::any_of(old.begin(), old.end(), [&](const plan::ConstraintViolation& m) {
      return m.why == violation.why;
    });
    return violation.why != why && known;
  });
}

/// Returns the degrees with the world size of the config, nearest first.
std::vector<Candidate> list_candidates(const plan::TrainingConfig& config) {
  const plan::Plan& plan = config.plan;
  // No cluster has this many devices, and such a world size has too many divisors to try.
  if (!divides(plan.cp, config.world) || config.world > cluster::kMaxDevices) return {};
  const i64 ranks = config.world / plan.cp;
  std::vector<Candidate> candidates;
  for (const i64 tp : up_to(list_divisors(ranks), kMaxTensor))
    for (const i64 pp : up_to(list_divisors(ranks / tp), kMaxSuggestedStages))
      candidates.push_back(make_candidate(plan, tp, pp, ranks / tp / pp));
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return std::tie(a.changed, a.distance, a.touches, a.tp, a.pp) <
           std::tie(b.changed, b.distance, b.touches, b.tp, b.pp);
  });
  return candidates;
}

}  // namespace

Edit edit(std::string_view key, i64 value) { return edit(key, std::to_string(value)); }

Edit edit(std::string_view key, std::string value) { return {std::string(key), std::move(value)}; }

plan::TrainingConfig with_degrees(const plan::TrainingConfig& config, i64 tp, i64 pp, i64 dp) {
  plan::TrainingConfig after = config;
  // Unless the file sets etp, it follows tp.
  const bool stated = config.model.sparse() && !config.left_open("parallelism.etp_size");
  if (after.plan.ep == 1 && after.plan.etp == after.plan.tp && (!stated || after.plan.tp == 1))
    after.plan.etp = tp;
  after.plan.tp = tp;
  after.plan.pp = pp;
  after.plan.dp = dp;
  if (config.left_open("job.global_batch"))
    after.job.global_batch = assume_global_batch(after).value_or(config.job.global_batch);
  // Files need not set sequence parallelism at tp 1; above tp 1 it defaults to on.
  if (config.left_open("parallelism.sequence_parallel") || config.plan.tp == 1 || tp == 1)
    after.plan.sequence_parallel = tp > 1;
  return after;
}

bool removes_violation(const plan::TrainingConfig& before, const plan::TrainingConfig& after,
                       plan::ConstraintViolation::Why why) {
  return removes_violation(find_violations(before), after, why);
}

std::vector<Edit> find_other_degrees(const plan::TrainingConfig& config,
                                     plan::ConstraintViolation::Why why,
                                     const ConfigPredicate& wanted) {
  const std::vector<plan::ConstraintViolation> old = find_violations(config);
  for (const Candidate& c : list_candidates(config)) {
    if (c.changed == 0) continue;
    const plan::TrainingConfig after = with_degrees(config, c.tp, c.pp, c.dp);
    if (removes_violation(old, after, why) && (!wanted || wanted(after)))
      return list_edits(config.plan, c);
  }
  return {};
}

std::vector<Edit> find_joint_repair(const plan::TrainingConfig& config) {
  for (const Candidate& c : list_candidates(config)) {
    plan::TrainingConfig after = with_degrees(config, c.tp, c.pp, c.dp);
    std::vector<Edit> edits = list_edits(config.plan, c);
    if (const i64 batch = round_batch(after); batch != after.job.global_batch) {
      after.job.global_batch = batch;
      edits.push_back(edit("job.global_batch", batch));
    }
    if (const i64 tokens = round_sequence(after); tokens != after.job.sequence) {
      after.job.sequence = tokens;
      edits.push_back(edit("job.sequence", tokens));
    }
    if (!edits.empty() && find_violations(after).empty()) return edits;
  }
  return {};
}

}  // namespace rankwright::rules
