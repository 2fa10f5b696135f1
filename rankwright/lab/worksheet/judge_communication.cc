// Judges the table of the communication: frequency, preferred link, risk.
#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/check.h"
#include "rankwright/base/format.h"
#include "rankwright/lab/worksheet/sheet_cell.h"
#include "rankwright/lab/worksheet/words.h"

namespace rankwright::lab {
namespace judge_communication_impl {
namespace {

constexpr CellOutcome kRight = CellOutcome::right, kHalf = CellOutcome::half_right,
                      kWrong = CellOutcome::wrong, kOpen = CellOutcome::open;

/// Returns the time that the step waits for a collective: "735 ms exposed of a step of 5.72 s".
std::string describe_exposure(const SheetCell& cell) {
  const planner::CommunicationRow& row = cell.plan.view.communication[cell.index];
  return fmt::format("{} exposed and {} overlapped, in a step of {}", show(row.exposed),
                     show(row.overlapped), show(cell.plan.view.estimate.step.total()));
}

/// The accepted words of one frequency of `explain`, and those that are half-right.
struct FrequencyRow {
  std::string_view expected;
  std::string_view right, half;
};
constexpr std::string_view kStep = "step|iteration|once|update|optimizer";
constexpr FrequencyRow kFrequencies[] = {
    {"per layer", "layer|matmul|block|gemm", "micro batch|microbatch|forward|backward|pass"},
    {"per MoE layer", "layer|moe|expert|block", "micro batch|microbatch|forward|backward"},
    {"per micro-batch", "micro batch|microbatch|forward|backward", "layer"},
    {"per stage boundary", "boundar|stage|micro batch|microbatch", "forward|backward|layer"},
    {"per step", kStep, "batch"},
    {"per backward bucket", "bucket|backward|gradient", "layer"},
    {"per wrapped unit", "unit|wrap|module", ""},
};

/// Returns whether the collective runs with every micro-batch rather than once per step, which
/// decides between the words for gradients and gathers.
bool runs_often(const SheetCell& cell) {
  const plan::TrainingConfig& config = cell.plan.config;
  const plan::TrafficKind kind = cell.plan.view.communication[cell.index].evaluated.traffic.kind;
  const bool gathers =
      kind == plan::TrafficKind::dp_all_gather || kind == plan::TrafficKind::expert_dp_all_gather;
  return gathers ? config.plan.zero >= 3 : plan::reduces_every_microbatch(config);
}

}  // namespace
}  // namespace judge_communication_impl

CellJudgment judge_frequency(const SheetCell& cell) {
  const auto row = std::find_if(std::begin(judge_communication_impl::kFrequencies),
                                std::end(judge_communication_impl::kFrequencies),
                                [&](const judge_communication_impl::FrequencyRow& one) {
                                  return one.expected == cell.expected;
                                });
  RW_CHECK(row != std::end(judge_communication_impl::kFrequencies));
  const i64 calls = cell.plan.view.communication[cell.index].evaluated.traffic.calls;
  const std::string numbers =
      fmt::format("{} on a rank, {} per step", plural(calls, "call", "calls"),
                  plural(cell.plan.config.microbatches(), "micro-batch", "micro-batches"));
  const bool unit = row->expected == "per wrapped unit";
  const bool by_data = unit || row->expected == "per backward bucket";
  std::string accepted(row->right), half(row->half);
  if (by_data && judge_communication_impl::runs_often(cell)) {
    accepted += unit ? "|layer|block" : "|micro batch|microbatch|layer|unit";
    half = "micro batch|microbatch|forward|backward|step";
  } else if (by_data) {
    accepted += "|" + std::string(judge_communication_impl::kStep) + (unit ? "|bucket" : "");
    half = "layer|batch";
  }
  if (mentions(cell.given, accepted)) return {judge_communication_impl::kRight, numbers};
  if (mentions(cell.given, half)) return {judge_communication_impl::kHalf, "not quite: " + numbers};
  for (const judge_communication_impl::FrequencyRow& other : judge_communication_impl::kFrequencies)
    if (mentions(cell.given, other.right)) return {judge_communication_impl::kWrong, numbers};
  if (count_words(cell.given) < kMinWords)
    return {judge_communication_impl::kOpen, "write the unit that repeats: per layer, per step"};
  return {judge_communication_impl::kWrong, numbers};
}

CellJudgment judge_link(const SheetCell& cell) {
  const cluster::Cluster& cluster = cell.plan.config.cluster;
  const LevelSet named = find_levels(normalize_assertion(cell.typed), cluster);
  const std::string numbers = judge_communication_impl::describe_exposure(cell);
  if (named.empty()) {
    std::string names;
    for (const cluster::Level& level : cluster.levels)
      names += fmt::format("{}{}", names.empty() ? "" : ", ", level.name);
    return {judge_communication_impl::kOpen,
            fmt::format("name a link of this cluster ({}) or any", names)};
  }
  if (cell.expected == "any") return {judge_communication_impl::kRight, numbers};
  if (named.inner() && !named.beyond()) return {judge_communication_impl::kRight, numbers};
  return {named.inner() ? judge_communication_impl::kHalf : judge_communication_impl::kWrong,
          "its link decides the step: " + numbers};
}

CellJudgment judge_risk(const SheetCell& cell) {
  const std::span<const AnswerPart> parts =
      risk_parts(cell.plan.view.communication[cell.index].evaluated.traffic.kind);
  return judge_parts(cell, {parts.begin(), parts.end()},
                     judge_communication_impl::describe_exposure(cell));
}

}  // namespace rankwright::lab
