#include "rankwright/report/explain/plan_summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/report/render/labels.h"
#include "rankwright/rules/memory_verdict.h"

namespace rankwright::report {
namespace {

/// Says which links the collectives of a group use: "stay on nvlink", "cross infiniband at 50
/// GB/s".
std::string describe_links(const plan::TrainingConfig& s, mesh::GroupKind kind) {
  const mesh::Span span = cost::find_span(s, kind);
  if (span.level <= 0) return fmt::format("stay on {}", s.cluster.levels[0].name);
  const cluster::Level& level = s.cluster.levels[std::size_t(span.level)];
  return fmt::format("cross {} at {}", level.name, show(level.bandwidth));
}

std::string describe_tensor(const plan::TrainingConfig& s) {
  if (s.plan.tp == 1) return "Layers are not split: TP is 1.";
  return fmt::format("TP splits the matrices of every layer over {} ranks, whose collectives {}{}.",
                     s.plan.tp, describe_links(s, mesh::GroupKind::tp),
                     s.plan.sequence_parallel ? "; SP splits the norms along the sequence" : "");
}

std::string describe_pipeline(const plan::TrainingConfig& s, const cost::StepTime& step) {
  const plan::Plan& p = s.plan;
  if (p.pp == 1)
    return fmt::format("Every rank holds {}: PP is 1.",
                       p.tp > 1 ? "its part of all layers" : "all layers");
  const std::string mirror =
      p.mirrored() ? fmt::format(
                         " Every stage is on two PP ranks, each of which runs half of "
                         "the micro-batches; their gradients {} to be added up.",
                         describe_links(s, mesh::GroupKind::mirror))
                   : "";
  return fmt::format(
      "PP splits the {} layers into {} stages on {} ranks, whose sends and receives {}. With {} of "
      "{}, the bubble is {} of the step.{}",
      s.model.layers(), p.pp * p.virtual_stages, p.pp, describe_links(s, mesh::GroupKind::pp),
      plural(s.microbatches(), "micro-batch", "micro-batches"), name(p.schedule),
      percent(step[cost::Item::bubble] / step.total()), mirror);
}

std::string describe_context(const plan::TrainingConfig& s) {
  if (s.plan.cp == 1) return "";
  return fmt::format(" CP splits each sequence over {} ranks, whose keys and values {}.", s.plan.cp,
                     describe_links(s, mesh::GroupKind::cp));
}

std::string describe_experts(const plan::TrainingConfig& s) {
  if (s.plan.ep == 1) return "";
  i64 total = 0;
  for (const model::LayerRun& run : s.model.runs) total = std::max(total, run.layer.ffn.experts);
  return fmt::format(
      " EP places the {} experts of a layer on {} ranks, {} on each, whose all-to-alls {}.", total,
      s.plan.ep, total / s.plan.ep, describe_links(s, mesh::GroupKind::ep));
}

std::string describe_data(const plan::TrainingConfig& s) {
  const plan::Plan& p = s.plan;
  if (p.dp == 1) return p.mirrored() ? " DP is 1." : " DP is 1: there is one replica.";
  constexpr std::string_view kKept[] = {
      "replicate all states", "shard the optimizer states (ZeRO-1)",
      "shard optimizer states and gradients (ZeRO-2)",
      "shard parameters, gradients and optimizer states (ZeRO-3)"};
  return fmt::format(" {} DP replicas share a batch of {} x {} tokens and {}; their gradients {}.",
                     count(p.dp), count(s.job.global_batch), count(s.job.sequence), kKept[p.zero],
                     describe_links(s, mesh::GroupKind::dp_cp));
}

std::string describe_fullest_rank(const plan::TrainingConfig& s, const cost::Estimate& e) {
  return fmt::format(" The fullest rank (PP rank {}) needs {}{}: it {}.", e.memory.pp_rank,
                     show_memory(e.memory.total(), e.capacity), name_assumed_model(s),
                     rules::state_memory_verdict(e));
}

/// Returns a phrase for an item that the step waits for; empty for items that compute.
std::string_view describe_wait(cost::Item item) {
  switch (item) {
    case cost::Item::tp:
      return "TP collectives";
    case cost::Item::cp:
      return "the CP exchange";
    case cost::Item::ep:
      return "the EP all-to-all";
    case cost::Item::sends:
      return "PP sends";
    case cost::Item::imbalance:
      return "the slowest PP rank (imbalance)";
    case cost::Item::bubble:
      return "the pipeline bubble";
    case cost::Item::dp:
      return "DP communication";
    case cost::Item::offload:
      return "offload to the host";
    case cost::Item::jitter:
      return "jitter between nodes";
    default:
      return {};
  }
}

std::string describe_bottleneck(const cost::StepTime& step) {
  cost::Item longest = cost::Item::matmul;
  Seconds max{};
  for (const cost::ItemRow& row : cost::items())
    if (!row.computes && step[row.item] > max) longest = row.item, max = step[row.item];
  if (max <= Seconds{}) return " All of the step is compute.";
  return fmt::format(
      " {} of the {} step is compute. The largest other part is {}: {}. Confirm by profiling one "
      "step.",
      show(step.compute()), show(step.total()), describe_wait(longest), show(max));
}

}  // namespace

std::string describe_plan(const plan::TrainingConfig& s, const planner::ExplainView& view) {
  return describe_tensor(s) + " " + describe_pipeline(s, view.estimate.step) + describe_context(s) +
         describe_experts(s) + describe_data(s) + describe_fullest_rank(s, view.estimate) +
         describe_bottleneck(view.estimate.step);
}

}  // namespace rankwright::report
