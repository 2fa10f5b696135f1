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
    {Why::degrees, "degrees", "the degrees do not multiply to the world size"},
    {Why::devices, "devices", "more ranks than devices"},
    {Why::expert_ranks, "expert_ranks", "ETP x EP x PP does not divide the ranks"},
    {Why::pipelines_differ, "pipelines_differ", "dense and expert layers have different PP groups"},
    {Why::placement, "placement", "the placement does not give every rank its own device"},
    {Why::heads, "heads", "TP does not divide the attention heads"},
    {Why::kv_heads, "kv_heads", "TP and the key-value heads do not divide each other"},
    {Why::ffn, "ffn", "TP does not divide the feed-forward width"},
    {Why::expert_ffn, "expert_ffn", "ETP does not divide the expert width"},
    {Why::no_experts, "no_experts", "EP without experts"},
    {Why::experts, "experts", "EP does not divide the experts"},
    {Why::stages, "stages", "more stages than layers"},
    {Why::stage_count, "stage_count", "the number of stages is not PP x virtual stages"},
    {Why::stage_layers, "stage_layers", "the stages do not add up to the layers of the model"},
    {Why::chunks, "chunks", "virtual stages that the schedule does not support"},
    {Why::pp_multiple, "pp_multiple", "an odd PP, and the schedule needs an even one"},
    {Why::microbatch_multiple, "microbatch_multiple",
     "an odd number of micro-batches, and the schedule needs an even one"},
    {Why::microbatches, "microbatches", "too few micro-batches for the schedule"},
    {Why::group, "group", "too few micro-batches in a group"},
    {Why::batch, "batch", "micro-batch x DP does not divide the global batch"},
    {Why::sequence_cp, "sequence_cp", "2 x CP does not divide the sequence"},
    {Why::sequence_tp, "sequence_tp", "TP does not divide the sequence of a CP rank"},
    {Why::ulysses, "ulysses", "CP does not divide the heads of a TP rank"},
    {Why::shard, "shard", "the shard group does not divide the DP ranks"},
    {Why::buckets, "buckets", "buckets so small that there are more than a million of them"},
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
    return fmt::format("It used its {} of time: --search-time {:.0f}s gives it more.",
                       show(budget.time), 4 * std::max(1.0, budget.time.value));
  if (reason == planner::StopReason::memory)
    return fmt::format("It used its {} of memory: --search-memory {}GiB gives it more.",
                       show_memory(budget.memory),
                       i64(4 * std::max(1.0, budget.memory.value / (1024.0 * 1024 * 1024))));
  return {};
}

std::string describe_stop(const search::Answer& answer) {
  return answer.complete
             ? ""
             : fmt::format("the best of {} of the layouts", format_decided_share(answer));
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
  add(t.duplicates, "equivalent to a simpler layout");
  add(t.memory, "do not fit");
  add(t.pruned, "pruned (lower bound)");
  add(t.evaluated, "evaluated");
  add(answer.undecided, "not searched");
  if (!parts.empty()) text += ": " + parts;
  text += answer.complete
              ? ". Complete."
              : fmt::format(". Stopped after {} of the layouts.", format_decided_share(answer));
  if (answer.ranked_again > 0)
    text += fmt::format(" {} near the fastest ranked by simulation: ",
                        plural(answer.ranked_again, "plan", "plans"));
  if (answer.simulated > 0)
    text += fmt::format(
        "{} simulated (closed form off by at most {}); the others cannot be faster.",
        plural(answer.simulated, "pipeline", "pipelines"), percent(answer.simulation_error));
  else if (answer.ranked_again > 0)
    text += "none needed, as no simulation could be faster than its closed form.";
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
                                 ? fmt::format(" over all DP ranks or within {}", inner)
                                 : " over all DP ranks";
  return fmt::format(
      "{} choices of TP x CP x PP x DP = {}{}; each with all micro-batch sizes, axis orders, {} "
      "with "
      "their virtual stages, {} stages, ZeRO {} to {}{}, recomputation {}, sequence parallelism, "
      "{}.",
      count(answer.degree_choices), count(s.world), s.model.sparse() ? " with EP and ETP" : "",
      pipes, limits.even ? "even" : "even and balanced", limits.zero.min,
      std::min<i64>(3, limits.zero.max), shards,
      limits.recompute ? name(*limits.recompute) : "none, selective or full",
      limits.cp_comm ? "one context-parallel algorithm" : "3 context-parallel algorithms");
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
      "{} choices of degrees, ZeRO and recomputation are within {} of the fastest: too close to "
      "call, benchmark these.",
      count(answer.tied), percent(answer.band));
}

std::string describe_hosts(const planner::HostUse& out, i64 host_devices) {
  const i64 idle = out.left - out.used;
  std::string text = fmt::format("{} excluded, {} left", plural(out.count, "host is", "hosts are"),
                                 count(out.left));
  if (out.used == 0) return text + "; no layout fits on any number of them.";
  if (idle == 0) return text + "; all of them are used.";
  text += fmt::format(", {} used ({} GPUs), {} idle", count(out.used),
                      count(out.used * host_devices), count(idle));
  std::string rules;
  for (const auto& [why, n] : out.broken)
    rules += fmt::format("{}{} ({})", rules.empty() ? "" : ", ", words(why), count(n));
  if (!out.broken.empty())
    text += ". On all of them every choice of degrees breaks a rule: " + rules;
  else if (!out.all_factor)
    text += fmt::format(". No allowed degrees multiply to the {} GPUs of all of them",
                        count(out.left * host_devices));
  else
    text += ": no plan on more of them is faster";
  if (out.other_batch)
    text += fmt::format(
        ". The global batch is not divisible by DP {}: --global-batch {} uses {} hosts, {} per "
        "step",
        count(out.other_batch->dp), out.other_batch->global_batch, count(out.other_batch->hosts),
        show(out.other_batch->step));
  text += fmt::format(". {} tried", plural(out.counts_tried, "host count", "host counts"));
  if (out.cut_short) text += ", smaller ones not";
  text += ".";
  if (out.listed.empty())
    text += " --exclude-nodes 3,17 names the hosts, so that ranks are placed around them.";
  return text;
}

}  // namespace rankwright::report
