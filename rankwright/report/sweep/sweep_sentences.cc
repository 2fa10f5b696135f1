#include "rankwright/report/sweep/sweep_sentences.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "rankwright/base/format.h"
#include "rankwright/base/shell_word.h"
#include "rankwright/report/render/labels.h"

namespace rankwright::report {
namespace {

// In the order of planner::SweepBar.
constexpr SweepFigure kSweptFigures[] = {
    {"ideal bubble", [](const planner::SweepRow& row) { return row.bubble; },
     [](const planner::SweepRow& row) { return format_exact_percent(row.bubble); }},
    {"step time", [](const planner::SweepRow& row) { return row.estimate.time().value; },
     [](const planner::SweepRow& row) { return show(row.estimate.time()); }},
    {"memory of the fullest rank",
     [](const planner::SweepRow& row) { return row.estimate.memory.total().value; },
     [](const planner::SweepRow& row) { return show_memory(row.estimate.memory.total()); }},
};

/// Returns "8, 16 and 32".
std::string list_swept_values(const planner::SweepKey& key,
                              const std::vector<const planner::SweepRow*>& rows) {
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i)
    text += (i == 0                 ? ""
             : i + 1 == rows.size() ? " and "
                                    : ", ") +
            format_bare_value(key, rows[i]->value);
  return text;
}

std::string describe_fastest_value(const planner::SweepView& view) {
  const planner::SweepKey& key = *view.key;
  if (!view.best) {
    const planner::SweepRow *least = nullptr, *most = nullptr;
    for (const planner::SweepRow& row : view.rows) {
      if (!row.estimated()) continue;
      const Bytes memory = row.estimate.memory.total();
      if (least == nullptr || memory < least->estimate.memory.total()) least = &row;
      if (most == nullptr || memory > most->estimate.memory.total()) most = &row;
    }
    if (least == nullptr) return "The plan can have none of these values.";
    if (least->estimate.fits()) return "The framework can run none of these values.";
    const std::string need = show_memory(least->estimate.memory.total(), least->estimate.capacity);
    return least == most ? fmt::format("No value fits: each needs {}.", need)
                         : fmt::format("No value fits: {} needs the least memory, {}.",
                                       format_sweep_value(key, least->value), need);
  }
  const planner::SweepRow& best = view.rows[*view.best];
  std::string text = fmt::format(
      "Fastest: {}, {} tokens/s/GPU, MFU {}, memory {}.", format_sweep_value(key, best.value),
      count(std::llround(best.tokens)), format_mfu(best.config, best.estimate.time()),
      show_memory(best.estimate.memory.total(), best.estimate.capacity));
  const auto own = std::find_if(view.rows.begin(), view.rows.end(),
                                [](const planner::SweepRow& row) { return row.own && row.runs(); });
  if (own != view.rows.end() && !best.own && own->throughput() > 0)
    text += fmt::format(" That is {} more tokens per second than this plan ({}).",
                        format_exact_percent(best.throughput() / own->throughput() - 1),
                        format_bare_value(key, own->value));
  const std::vector<const planner::SweepRow*> tied = list_tied_rows(view);
  if (tied.size() > 1)
    text += fmt::format(" Values {} are within {}, too close to call.",
                        list_swept_values(key, tied), percent(view.tie_band));
  return text;
}

/// Describes how the figure of the bars changes along the values: it falls, grows, or does one
/// after the other. Empty if it goes up and down more often.
std::string describe_figure_change(const planner::SweepView& view) {
  std::vector<const planner::SweepRow*> rows;
  for (const planner::SweepRow& row : view.rows)
    if (row.estimated()) rows.push_back(&row);
  if (rows.size() < 2) return {};
  const SweepFigure& figure = get_sweep_figure(view.key->bar);
  const auto less = [&](const planner::SweepRow* a, const planner::SweepRow* b) {
    return figure.read(*a) < figure.read(*b);
  };
  const auto turn = std::min_element(rows.begin(), rows.end(), less);
  const planner::SweepRow &first = *rows.front(), &last = *rows.back(), &lowest = **turn;
  if (figure.show(first) == figure.show(last) && figure.show(first) == figure.show(lowest))
    return {};
  if (!std::is_sorted(turn, rows.end(), less) ||
      !std::is_sorted(std::make_reverse_iterator(turn + 1), rows.rend(), less))
    return {};
  if (turn != rows.begin() && turn + 1 != rows.end())
    return fmt::format(" The {} falls from {} at {} to {} at {}, then grows to {} at {}.",
                       figure.name, figure.show(first), format_sweep_value(*view.key, first.value),
                       figure.show(lowest), format_bare_value(*view.key, lowest.value),
                       figure.show(last), format_bare_value(*view.key, last.value));
  return fmt::format(" The {} {} from {} at {} to {} at {}.", figure.name,
                     turn == rows.begin() ? "grows" : "falls", figure.show(first),
                     format_sweep_value(*view.key, first.value), figure.show(last),
                     format_bare_value(*view.key, last.value));
}

/// Names the first value at which the key's group crosses another link than before.
std::string describe_link_change(const planner::SweepView& view) {
  const planner::SweepRow* before = nullptr;
  std::string text;
  for (const planner::SweepRow& row : view.rows) {
    if (!row.estimated() || row.link.empty()) continue;
    if (before != nullptr && row.link != before->link)
      text += fmt::format(" {} crosses {} instead of {}: exposed communication {} instead of {}.",
                          format_sweep_value(*view.key, row.value), row.link, before->link,
                          show(row.exposed), show(before->exposed));
    before = &row;
  }
  return text;
}

}  // namespace

const SweepFigure& get_sweep_figure(planner::SweepBar bar) {
  return kSweptFigures[std::size_t(bar)];
}

std::string describe_sweep(const planner::SweepView& view) {
  return describe_fastest_value(view) + describe_figure_change(view) + describe_link_change(view);
}

std::vector<std::string> list_sweep_refusals(const planner::SweepView& view) {
  std::set<std::string_view> codes;
  for (const planner::SweepRow& row : view.rows)
    if (!row.refused.empty()) codes.insert(row.refused);
  std::vector<std::string> lines;
  for (const std::string_view code : codes)
    if (const rules::Page* const page = rules::find_page(code))
      lines.push_back(fmt::format("{}: {}", code, page->title));
  return lines;
}

std::string suggest_after_sweep(const planner::SweepAnswer& answer) {
  const planner::SweepView& view = answer.view;
  const std::string file = quote_shell_path(answer.plan.name());
  const std::vector<const planner::SweepRow*> tied = list_tied_rows(view);
  const bool own_ties =
      std::any_of(tied.begin(), tied.end(), [](const planner::SweepRow* row) { return row->own; });
  if (!view.key->instead.empty())
    return fmt::format("Next: rankwright explain {} --sweep {}, which keeps the job as it is", file,
                       view.key->instead);
  if (!view.best || own_ties)
    return fmt::format("Next: rankwright report {} compares this plan with other layouts", file);
  std::vector<std::string> edits;
  for (const planner::KeyDifference& one : view.changes)
    if (!one.b_assumed && !one.key.starts_with("parallelism.overlap."))  // defaults that follow
      edits.push_back(fmt::format("{}: {}", one.key, one.b));
  return fmt::format("Next: set {}; then rankwright check {}", fmt::join(edits, ", "), file);
}

}  // namespace rankwright::report
