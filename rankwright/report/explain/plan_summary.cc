#include "rankwright/report/explain/plan_summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
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
  if (s.plan.tp == 1) return "No layer is cut: tensor parallelism is off.";
  return fmt::format("Every layer's matrices are cut over {} ranks, whose collectives {}{}.",
                     s.plan.tp, describe_links(s, mesh::GroupKind::tp),
                     s.plan.sequence_parallel ? ", with the norms cut along the sequence" : "");
}

std::string describe_pipeline(const plan::TrainingConfig& s, const cost::StepTime& step) {
  const plan::Plan& p = s.plan;
  if (p.pp == 1)
    return fmt::format("Every rank holds {}: there is no pipeline.",
                       p.tp > 1 ? "its part of all layers" : "all layers");
  const std::string mirror = p.mirrored()
                                 ? fmt::format(
                                       " Every stage is on two pp ranks, which run half of the "
                                       "microbatches each; their gradients {} to be added up.",
                                       describe_links(s, mesh::GroupKind::mirror))
                                 : "";
  return fmt::format(
      "The {} layers run in {} stages on {} pp ranks, whose sends and receives {}; with {} {} "
      "fills and drains for {} of the step.{}",
      s.model.layers(), p.pp * p.virtual_stages, p.pp, describe_links(s, mesh::GroupKind::pp),
      plural(s.microbatches(), "microbatch", "microbatches"), name(p.schedule),
      percent(step[cost::Item::bubble] / step.total()), mirror);
}

std::string describe_context(const plan::TrainingConfig& s) {
  if (s.plan.cp == 1) return "";
  return fmt::format(" Each sequence is cut over {} ranks, whose keys and values {}.", s.plan.cp,
                     describe_links(s, mesh::GroupKind::cp));
}

std::string describe_experts(const plan::TrainingConfig& s) {
  if (s.plan.ep == 1) return "";
  i64 total = 0;
  for (const model::LayerRun& run : s.model.runs) total = std::max(total, run.layer.ffn.experts);
  return fmt::format(
      " The {} experts of a layer are spread over {} ranks, {} on each, whose "
      "all-to-alls {}.",
      total, s.plan.ep, total / s.plan.ep, describe_links(s, mesh::GroupKind::ep));
}

std::string describe_data(const plan::TrainingConfig& s) {
  const plan::Plan& p = s.plan;
  if (p.dp == 1)
    return p.mirrored() ? " There is no data parallelism."
                        : " There is one copy, so no data parallelism.";
  constexpr std::string_view kKept[] = {
      "keep all their states", "share the optimizer states (ZeRO-1)",
      "share optimizer states and gradients (ZeRO-2)",
      "share parameters, gradients and optimizer states (ZeRO-3)"};
  return fmt::format(
      " {} copies of this work on a batch of {} x {} tokens and {}; their gradients {}.",
      count(p.dp), count(s.job.global_batch), count(s.job.sequence), kKept[p.zero],
      describe_links(s, mesh::GroupKind::dp_cp));
}

std::string describe_fullest_rank(const plan::TrainingConfig& s, const cost::Estimate& e) {
  return fmt::format(" The fullest rank (pp rank {}) needs {}{}: it {}.", e.memory.pp_rank,
                     show_memory(e.memory.total(), e.capacity), name_assumed_model(s),
                     rules::state_memory_verdict(e));
}

/// Returns a phrase for an item that the step waits for; empty for items that compute.
std::string_view describe_wait(cost::Item item) {
  switch (item) {
    case cost::Item::tp:
      return "tensor parallelism's collectives";
    case cost::Item::cp:
      return "context parallelism's exchange";
    case cost::Item::ep:
      return "the experts' all-to-alls";
    case cost::Item::sends:
      return "the pipeline's sends";
    case cost::Item::imbalance:
      return "the slowest pp rank";
    case cost::Item::bubble:
      return "the pipeline's fill and drain";
    case cost::Item::dp:
      return "data parallelism";
    case cost::Item::jitter:
      return "the slowest of many nodes";
    default:
      return {};
  }
}

std::string describe_bottleneck(const cost::StepTime& step) {
  cost::Item longest = cost::Item::matmul;
  Seconds max{};
  for (const cost::ItemRow& row : cost::items())
    if (!row.computes && step[row.item] > max) longest = row.item, max = step[row.item];
  if (max <= Seconds{}) return " Nothing but compute is expected to take time.";
  return fmt::format(
      " Of {} a step, {} is compute; most of what is waited for is {}: {}. A profile of one step "
      "would prove it.",
      show(step.total()), show(step.compute()), describe_wait(longest), show(max));
}

}  // namespace

std::string describe_plan(const plan::TrainingConfig& s, const planner::ExplainView& view) {
  return describe_tensor(s) + " " + describe_pipeline(s, view.estimate.step) + describe_context(s) +
         describe_experts(s) + describe_data(s) + describe_fullest_rank(s, view.estimate) +
         describe_bottleneck(view.estimate.step);
}

}  // namespace rankwright::report
