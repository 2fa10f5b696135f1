#include "rankwright/report/plan/search_sentences.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "rankwright/base/format.h"

namespace rankwright::report {
namespace {

struct ViolationRow {
  plan::ConstraintViolation::Why why;
  std::string_view name, words;
};
using Why = plan::ConstraintViolation::Why;
constexpr ViolationRow kViolations[] = {
    {Why::none, "none", "nothing"},
    {Why::degrees, "degrees", "the degrees do not multiply to the world"},
    {Why::devices, "devices", "more ranks than devices"},
    {Why::expert_ranks, "expert_ranks", "etp x ep x pp does not divide the ranks"},
    {Why::pipelines_differ, "pipelines_differ", "dense and expert layers have other pp groups"},
    {Why::placement, "placement", "the placement is not one device a rank"},
    {Why::heads, "heads", "tp does not divide the attention heads"},
    {Why::kv_heads, "kv_heads", "tp and the key-value heads do not divide each other"},
    {Why::ffn, "ffn", "tp does not divide the feed-forward's width"},
    {Why::expert_ffn, "expert_ffn", "etp does not divide an expert's width"},
    {Why::no_experts, "no_experts", "ep without experts"},
    {Why::experts, "experts", "ep does not divide the experts"},
    {Why::stages, "stages", "more stages than layers"},
    {Why::stage_count, "stage_count", "another number of stages than pp x chunks"},
    {Why::stage_layers, "stage_layers", "stages with another number of layers than the model"},
    {Why::chunks, "chunks", "chunks that the schedule does not take"},
    {Why::pp_multiple, "pp_multiple", "an odd pp where the schedule takes pairs"},
    {Why::microbatch_multiple, "microbatch_multiple",
     "odd microbatches where the schedule takes pairs"},
    {Why::microbatches, "microbatches", "too few microbatches for the schedule"},
    {Why::group, "group", "too few microbatches in a group"},
    {Why::batch, "batch", "microbatch x dp does not divide the batch"},
    {Why::sequence_cp, "sequence_cp", "2 x cp does not divide the sequence"},
    {Why::sequence_tp, "sequence_tp", "tp does not divide a cp rank's sequence"},
    {Why::ulysses, "ulysses", "cp does not divide the heads of a tp rank"},
    {Why::shard, "shard", "shards that do not cut the data ranks evenly"},
    {Why::buckets, "buckets", "buckets so small that there are more than a million"},
};
static_assert(std::size(kViolations) == std::size_t(Why::buckets) + 1);

/// Returns the share of the space that a stopped search had decided.
std::string format_decided_share(const search::Answer& answer) {
  const double decided = double(answer.stats.candidates);
  const double all = decided + double(answer.undecided);
  return percent(all > 0 ? decided / all : 0);
}

}  // namespace

std::string_view name(planner::StopReason reason) {
  constexpr std::string_view kNames[] = {"none", "asked", "time", "memory"};
  return kNames[std::size_t(reason)];
}

std::string describe_budget(planner::StopReason reason, const planner::SearchBudget& budget) {
  if (reason == planner::StopReason::time)
    return fmt::format("The search used up its {}; --search-time {:.0f}s would give it more.",
                       show(budget.time), 4 * std::max(1.0, budget.time.value));
  if (reason == planner::StopReason::memory)
    return fmt::format(
        "The search used up its {} of memory; --search-memory {}GiB would give it more.",
        show_memory(budget.memory),
        i64(4 * std::max(1.0, budget.memory.value / (1024.0 * 1024 * 1024))));
  return {};
}

std::string describe_stop(const search::Answer& answer) {
  return answer.complete ? ""
                         : fmt::format("the best of {} of the space", format_decided_share(answer));
}

std::string_view name(plan::ConstraintViolation::Why why) {
  return kViolations[std::size_t(why)].name;
}
std::string_view words(plan::ConstraintViolation::Why why) {
  return kViolations[std::size_t(why)].words;
}

std::string describe_search(const search::Answer& answer) {
  const search::SearchStats& t = answer.stats;
  std::string text = fmt::format("{} layouts", count(t.candidates + answer.undecided));
  std::string parts;
  const auto add = [&](i64 n, std::string_view words) {
    if (n > 0) parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", count(n), words);
  };
  add(t.broken(), "break a rule");
  add(t.duplicates, "cost what a plainer one costs");
  add(t.memory, "do not fit");
  add(t.pruned, "cannot be as fast as the best");
  add(t.evaluated, "evaluated");
  add(answer.undecided, "not looked at");
  if (!parts.empty()) text += ": " + parts;
  text += answer.complete ? ". Complete."
                          : fmt::format(". Stopped: best so far of {} of the space.",
                                        format_decided_share(answer));
  if (answer.ranked_again > 0)
    text += fmt::format(" {} near the fastest ranked again: ",
                        plural(answer.ranked_again, "plan", "plans"));
  if (answer.simulated > 0)
    text += fmt::format(
        "{} simulated, the closed form at most {} off; the others cannot be faster.",
        plural(answer.simulated, "pipeline", "pipelines"), percent(answer.simulation_error));
  else if (answer.ranked_again > 0)
    text += "none has a pipeline that may be faster than its closed form.";
  return text;
}

std::string describe_space(const planner::PlanAnswer& answer) {
  const plan::TrainingConfig& s = answer.problem.config;
  const search::Limits& limits = answer.problem.limits;
  std::string inner;
  for (std::size_t k = 0; k + 1 < s.cluster.levels.size(); ++k)
    inner += (inner.empty() ? "" : ", ") + s.cluster.levels[k].name;
  const std::string pipes = limits.schedule
                                ? std::string(name(*limits.schedule))
                                : fmt::format("{} schedules", pipeline::schedules().size());
  const std::string shards = limits.hybrid && !inner.empty()
                                 ? fmt::format(" over all data ranks or inside {}", inner)
                                 : " over all data ranks";
  return fmt::format(
      "{} choices of tp x cp x pp x dp = {}{}; each with its microbatches, all orders of the axes, "
      "{} and their chunks, {} stages, ZeRO {} to {}{}, recompute {}, sequence parallelism, {} of "
      "context.",
      count(answer.degree_choices), count(s.world), s.model.sparse() ? " with ep and etp" : "",
      pipes, limits.even ? "even" : "even and balanced", limits.zero.min,
      std::min<i64>(3, limits.zero.max), shards,
      limits.recompute ? name(*limits.recompute) : "none, selective or full",
      limits.cp_comm ? "one exchange" : "3 exchanges");
}

std::string describe_violations(const search::SearchStats& stats) {
  std::vector<std::pair<i64, std::string>> all;
  for (const auto& [why, n] : stats.violations) all.emplace_back(n, std::string(words(why)));
  for (const auto& [code, n] : stats.rules)
    all.emplace_back(n, fmt::format("{} ({})", rules::find_page(code)->title, code));
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (const auto& [n, words] : all)
    text += fmt::format("{}{} {}", text.empty() ? "Rules broken: " : ", ", count(n), words);
  return text.empty() ? text : text + ".";
}

std::string describe_tie(const search::Answer& answer) {
  if (answer.tied <= 1) return {};
  return fmt::format(
      "{} choices of degrees, ZeRO and recompute are within {} of the fastest, the model's error "
      "in a comparison: measure.",
      count(answer.tied), percent(answer.band));
}

std::string describe_hosts(const planner::HostUse& out, i64 host_devices) {
  const i64 idle = out.left - out.used;
  std::string text =
      fmt::format("{} out, {} left", plural(out.count, "host is", "hosts are"), count(out.left));
  if (out.used == 0) return text + ", and no layout fits on any number of them.";
  if (idle == 0) return text + ", and all of them are used.";
  text += fmt::format(", {} used ({} GPUs), {} idle", count(out.used),
                      count(out.used * host_devices), count(idle));
  std::string rules;
  for (const auto& [why, n] : out.broken)
    rules += fmt::format("{}{} ({})", rules.empty() ? "" : ", ", words(why), count(n));
  text += out.broken.empty() ? ": this plan is faster than any on more of them"
                             : ". On all of them every choice of degrees breaks a rule: " + rules;
  text += fmt::format(". {} of hosts tried", plural(out.counts_tried, "number", "numbers"));
  if (out.cut_short) text += ", fewer ones not";
  text += ".";
  if (out.listed.empty())
    text += " Which hosts are out is not said: --exclude-nodes 3,17 places the ranks around them.";
  return text;
}

}  // namespace rankwright::report
