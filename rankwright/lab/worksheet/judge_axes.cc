// Judges the table of the axes: degree, placement, reason.
#include <fmt/format.h>

#include <set>

#include "rankwright/base/format.h"
#include "rankwright/lab/worksheet/sheet_cell.h"
#include "rankwright/lab/worksheet/words.h"
#include "rankwright/mesh/mesh.h"

namespace rankwright::lab {
namespace judge_axes_impl {
namespace {

constexpr CellOutcome kRight = CellOutcome::right, kHalf = CellOutcome::half_right,
                      kWrong = CellOutcome::wrong, kOpen = CellOutcome::open;

std::set<i64> to_set(const std::vector<i64>& numbers) { return {numbers.begin(), numbers.end()}; }

/// Returns the numbers of an answer. A 1 beside other numbers is part of the wording.
std::set<i64> find_numbers(std::string_view normalized) {
  std::set<i64> numbers = to_set(list_numbers(normalized));
  if (numbers.size() > 1) numbers.erase(1);
  return numbers;
}

/// Returns the facts from which a placement follows: "order tp-cp-ep-dp-pp, 8 GPUs per nvlink".
std::string describe_layout(const plan::TrainingConfig& config) {
  return fmt::format("the order is {} (innermost first), and {} joins {} GPUs",
                     mesh::show(config.plan.order), config.cluster.levels[0].name,
                     count(config.cluster.domain(0)));
}

/// Returns the numbers that may be in a placement: its own counts, the degree, the sizes of nodes.
std::set<i64> allowed_numbers(const SheetCell& cell) {
  std::set<i64> allowed = to_set(list_numbers(normalize_answer(cell.expected)));
  allowed.merge(to_set(list_numbers(normalize_answer(cell.plan.view.axes[cell.index].degree))));
  const cluster::Cluster& cluster = cell.plan.config.cluster;
  for (int level = 0; level < int(cluster.levels.size()); ++level) {
    allowed.insert(cluster.domain(level));
    allowed.insert(cluster.domain(int(cluster.levels.size()) - 1) / cluster.domain(level));
  }
  allowed.insert({1, cluster.host_devices});
  return allowed;
}

}  // namespace
}  // namespace judge_axes_impl

CellJudgment judge_degree(const SheetCell& cell) {
  const std::string axis = cell.plan.view.axes[cell.index].axis;
  const plan::Plan& plan = cell.plan.config.plan;
  const bool off = axis == "FSDP/ZeRO" && plan.zero == 0;
  if (axis == "SP") {
    if (mentions(cell.given, "tp |tensor|with |same|yes|on ") ||
        judge_axes_impl::find_numbers(cell.given) == std::set<i64>{plan.tp})
      return {judge_axes_impl::kRight, ""};
    return {judge_axes_impl::kWrong,
            "SP has no degree of its own: it uses the ranks of another axis"};
  }
  const std::set<i64> given = judge_axes_impl::find_numbers(cell.given);
  if (off) {
    if (given == std::set<i64>{1} && !mentions(cell.given, "stage|zero"))
      return {judge_axes_impl::kHalf, "1 may mean stage 1; write 0 or none if nothing is sharded"};
    if (given == std::set<i64>{0} || (given.empty() && mentions(cell.given, "no|off|ddp")))
      return {judge_axes_impl::kRight, ""};
    return {judge_axes_impl::kWrong, "compare the stage with zero_stage of the plan"};
  }
  std::set<i64> wanted = judge_axes_impl::to_set(list_numbers(normalize_answer(cell.expected)));
  if (wanted.size() > 1 && axis != "FSDP/ZeRO") wanted.erase(1);
  if (given.empty()) return {judge_axes_impl::kOpen, "write the degree as a number"};
  std::set<i64> common;
  for (const i64 number : given)
    if (wanted.contains(number)) common.insert(number);
  // Stage 1 is a number of its own in "stage 1 over 16".
  if (wanted.contains(1) && wanted.size() > 1 &&
      mentions(cell.given, "stage 1 |zero 1 |zero stage 1 "))
    common.insert(1);
  if (common == wanted && given.size() <= wanted.size()) return {judge_axes_impl::kRight, ""};
  if (common == wanted)
    return {judge_axes_impl::kHalf, "the degree is there, with other numbers beside it"};
  if (!common.empty())
    return {judge_axes_impl::kHalf, axis == "FSDP/ZeRO"
                                        ? "state both the stage and the ranks that share a copy"
                                        : "one number is missing or wrong"};
  return {judge_axes_impl::kWrong,
          fmt::format("TP x CP x PP x DP must be {} ranks", count(cell.plan.config.world))};
}

CellJudgment judge_placement(const SheetCell& cell) {
  const plan::TrainingConfig& config = cell.plan.config;
  const std::string given = normalize_assertion(cell.typed);
  const LevelSet named = find_levels(given, config.cluster);
  const std::string wanted_text = normalize_answer(cell.expected);
  const LevelSet wanted = find_levels(wanted_text, config.cluster);
  if (wanted.empty()) {  // "-" or "one rank"
    if (mentions(given, "one rank|single rank|one gpu|single gpu|alone|whole|1 rank"))
      return {judge_axes_impl::kRight, ""};
    return {judge_axes_impl::kWrong, "a group of one rank has no placement"};
  }
  if (named.empty())
    return {judge_axes_impl::kOpen, fmt::format("name a link of this cluster ({}) or the node",
                                                config.cluster.levels[0].name)};
  bool too_far = false, missing = false;
  for (std::size_t level = 1; level < wanted.named.size(); ++level) {
    too_far = too_far || (named.named[level] && !wanted.named[level]);
    missing = missing || (wanted.named[level] && !named.named[level] && !named.outer);
  }
  too_far = too_far || (named.outer && !wanted.beyond());
  const bool inner_right = named.inner() == wanted.inner();
  if (!inner_right || too_far || missing) {
    const bool some = (named.inner() && wanted.inner()) || (named.beyond() && wanted.beyond());
    return {some ? judge_axes_impl::kHalf : judge_axes_impl::kWrong,
            judge_axes_impl::describe_layout(config)};
  }
  const std::set<i64> numbers = judge_axes_impl::to_set(list_numbers(given)),
                      allowed = judge_axes_impl::allowed_numbers(cell);
  for (const i64 number : numbers)
    if (!allowed.contains(number))
      return {judge_axes_impl::kHalf, fmt::format("right link, but not {}: {}", count(number),
                                                  judge_axes_impl::describe_layout(config))};
  for (const i64 number : list_numbers(wanted_text))
    if (wanted.inner() && wanted.beyond() && !numbers.contains(number))
      return {judge_axes_impl::kHalf,
              "right links; also state how many ranks are inside and across"};
  return {judge_axes_impl::kRight, cell.expected};
}

CellJudgment judge_reason(const SheetCell& cell) {
  return judge_parts(cell,
                     reason_parts(cell.plan.view.axes[cell.index].axis, cell.plan.config.plan),
                     cell.expected);
}

}  // namespace rankwright::lab
