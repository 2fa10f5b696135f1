// RW0311: data-parallel traffic that compute does not hide.
#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/cost/estimate.h"
#include "rankwright/cost/traffic_cost.h"
#include "rankwright/rules/change.h"
#include "rankwright/rules/fitting.h"
#include "rankwright/rules/rule.h"

namespace rankwright::rules {
namespace data_traffic_impl {
namespace {

/// Returns changes that send less over the slow level: fewer gathers, shards inside a node, and
/// stages in place of replicas.
std::vector<Change> list_changes(const plan::TrainingConfig& s, const mesh::Span& span,
                                 const std::vector<int>& stages) {
  std::vector<Change> all;
  for (const int stage : stages)
    if (stage > 0 && stage < s.plan.zero) all.push_back(Change(s).zero(stage));
  if (s.plan.zero > 0 && span.inside[0] > 1 && s.plan.shards() == s.plan.data_ranks() &&
      valid_shard_size(s.plan.meshes(), span.inside[0]))
    all.push_back(Change(s).shard_size(span.inside[0]));
  constexpr i64 kMaxFactor = 16;
  for (i64 factor = 2; factor <= kMaxFactor && divides(factor, s.plan.dp); factor *= 2) {
    Change staged = Change(s).degrees(s.plan.tp, factor * s.plan.pp, s.plan.dp / factor);
    if (stages.front() < s.plan.zero) staged.zero(stages.front());
    all.push_back(std::move(staged));
  }
  return all;
}

/// Returns whether the target refuses a plan for a reason that the subject does not have.
bool is_refused(const Subject& subject, const plan::TrainingConfig& after) {
  return std::ranges::any_of(find_refusals(subject.target), [&](const Rule* rule) {
    return rule->fault(after) && !rule->fault(subject.config);
  });
}

std::optional<Finding> check_exposed_data_traffic(const Subject& subject) {
  constexpr double kMinExposed = 0.1, kMinGain = 0.1;
  const plan::TrainingConfig& s = subject.config;
  const mesh::Span span = cost::find_span(s, mesh::GroupKind::dp_cp);
  if (s.plan.data_ranks() == 1 || span.level < 1) return std::nullopt;
  const cluster::Calibration& calibration = select_calibration(s);
  const cost::Estimate now = cost::estimate_plan(s, calibration);
  const double exposed = now.step[cost::Item::dp] / now.time();
  if (exposed < kMinExposed) return std::nullopt;
  std::optional<Change> best;
  Seconds shortest = (1 - kMinGain) * now.time();
  for (const Change& change : list_changes(s, span, supported_zero_stages(subject.target))) {
    if (find_first_violation(change.config()) || is_refused(subject, change.config())) continue;
    const cost::Estimate after = cost::estimate_plan(change.config(), calibration);
    const bool fits = after.verdict() <= now.verdict();
    if (!fits || after.time() >= shortest) continue;
    shortest = after.time();
    best = change;
  }
  if (!best) return std::nullopt;
  return Finding{
      .detail = fmt::format("{} of the {} step is exposed communication on {}", percent(exposed),
                            show(now.time()), s.cluster.levels[std::size_t(span.level)].name),
      .key = s.plan.zero > 0 ? "parallelism.zero_stage" : "parallelism.dp_size",
      .fix = best->edits(),
      .notes = {fmt::format("with this change the step takes {}", show(shortest))}};
}

constexpr Rule kRules[] = {
    {{"RW0311", Severity::warning, "data-parallel traffic between nodes is exposed",
      "Gradients cross nodes, and with ZeRO-3 also the parameters of each layer in every "
      "micro-batch. The part that compute does not overlap adds to the step. The warning compares "
      "a few other plans that fit and proposes the fastest.",
      "Lower zero_stage, shard inside a node (shard_size: 8), or raise pp_size instead of dp_size.",
      "",
      "world_size: 64\n"
      "cluster: dgx-h100 x 8\n"
      "model: llama-3.1-70b\n"
      "parallelism: {tp_size: 8, dp_size: 8, zero_stage: 3, order: tp-dp-pp}\n"
      "job: {global_batch: 512, sequence: 8192}\n"},
     Target::any,
     Rule::When::without_violations,
     check_exposed_data_traffic},
};

}  // namespace
}  // namespace data_traffic_impl

std::span<const Rule> data_traffic_rules() { return data_traffic_impl::kRules; }

}  // namespace rankwright::rules
