#include "rankwright/report/sweep/sweep_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "rankwright/base/format.h"
#include "rankwright/report/render/bars.h"
#include "rankwright/report/render/labels.h"
#include "rankwright/report/render/markdown.h"
#include "rankwright/report/render/table.h"
#include "rankwright/report/sweep/sweep_sentences.h"

namespace rankwright::report {
namespace {

enum class SweepField : unsigned char { dp, bubble, step, tokens, mfu, memory, exposed, link };

/// One figure of a row: when it says something, and how it is written.
struct SweepColumn {
  SweepField field;
  std::string_view head;
  Table::Align align;
  bool (*applies)(const planner::SweepRow&);
  std::string (*show)(const planner::SweepRow&);
};

constexpr SweepColumn kSweepColumns[] = {
    {SweepField::dp, "DP", kRight, [](const planner::SweepRow&) { return true; },
     [](const planner::SweepRow& row) { return count(row.config.plan.dp); }},
    {SweepField::bubble, "bubble", kRight,
     [](const planner::SweepRow& row) { return row.config.plan.pp > 1; },
     [](const planner::SweepRow& row) { return format_exact_percent(row.bubble); }},
    {SweepField::step, "step", kRight, [](const planner::SweepRow&) { return true; },
     [](const planner::SweepRow& row) { return show(row.estimate.time()); }},
    {SweepField::tokens, "tokens/s/GPU", kRight, [](const planner::SweepRow&) { return true; },
     [](const planner::SweepRow& row) { return count(std::llround(row.tokens)); }},
    {SweepField::mfu, "MFU", kRight, [](const planner::SweepRow&) { return true; },
     [](const planner::SweepRow& row) { return format_exact_percent(row.mfu); }},
    {SweepField::memory, "memory", kRight, [](const planner::SweepRow&) { return true; },
     [](const planner::SweepRow& row) { return show_memory(row.estimate.memory.total()); }},
    {SweepField::exposed, "exposed", kRight,
     [](const planner::SweepRow& row) { return row.exposed > Seconds{}; },
     [](const planner::SweepRow& row) { return show(row.exposed); }},
    {SweepField::link, "link", Table::Align::left,
     [](const planner::SweepRow& row) { return !row.link.empty(); },
     [](const planner::SweepRow& row) { return row.link; }},
};

using F = SweepField;

/// The columns of one kind of bar: the figure that it draws, and those that a narrow table leaves
/// out, the first ones first.
struct SweepPriority {
  SweepField drawn;
  std::array<SweepField, 7> dropped;
};
// In the order of planner::SweepBar.
constexpr SweepPriority kSweepPriorities[] = {
    {F::bubble, {F::link, F::exposed, F::dp, F::mfu, F::memory, F::step, F::tokens}},
    {F::step, {F::dp, F::bubble, F::tokens, F::mfu, F::memory, F::exposed, F::link}},
    {F::memory, {F::link, F::exposed, F::dp, F::mfu, F::bubble, F::tokens, F::step}},
};

/// Returns the columns that apply to at least one value; dp only if it follows from the value. The
/// last one is drawn as bars.
std::vector<SweepColumn> select_sweep_columns(const planner::SweepView& view) {
  std::vector<SweepColumn> columns;
  for (const SweepColumn& column : kSweepColumns)
    if ((column.field != SweepField::dp || view.key->moves_dp) &&
        std::any_of(view.rows.begin(), view.rows.end(), [&](const planner::SweepRow& row) {
          return row.estimated() && column.applies(row);
        }))
      columns.push_back(column);
  const SweepField drawn = kSweepPriorities[std::size_t(view.key->bar)].drawn;
  std::stable_partition(columns.begin(), columns.end(),
                        [&](const SweepColumn& column) { return column.field != drawn; });
  return columns;
}

/// Returns "fastest", "this plan", "over by 1.2 GiB", the code of a rule, or several of them.
std::string note_sweep_row(const planner::SweepView& view, std::size_t i) {
  const planner::SweepRow& row = view.rows[i];
  if (!row.estimated()) return {};
  std::vector<std::string> notes;
  if (view.best == i) notes.emplace_back("fastest");
  if (row.own) notes.emplace_back("this plan");
  const Bytes over = row.estimate.memory.total() - row.estimate.capacity;
  if (row.estimate.verdict() == cost::MemoryVerdict::tight) notes.emplace_back("tight");
  if (!row.estimate.fits()) notes.push_back("over by " + show_memory(over));
  if (!row.refused.empty()) notes.emplace_back(row.refused);
  return fmt::format("{}", fmt::join(notes, ", "));
}

/// Makes the table: values, figures, bars of at most `bar_columns`, notes. Values that the plan
/// cannot have are alone in their row.
Table make_sweep_table(const planner::SweepView& view, const std::vector<SweepColumn>& columns,
                       std::size_t bar_columns, const Paint& paint) {
  const SweepFigure& figure = get_sweep_figure(view.key->bar);
  double max = 0;
  for (const planner::SweepRow& row : view.rows)
    if (row.estimated()) max = std::max(max, figure.read(row));
  Table table{{{std::string(view.key->head), kRight}}};
  for (const SweepColumn& column : columns)
    table.columns.push_back({std::string(column.head), column.align});
  if (bar_columns > 0) table.columns.push_back({""});
  table.columns.push_back({""});
  for (std::size_t i = 0; i < view.rows.size(); ++i) {
    const planner::SweepRow& row = view.rows[i];
    std::vector<std::string> cells{format_bare_value(*view.key, row.value)};
    for (const SweepColumn& column : columns)
      cells.push_back(!row.estimated() ? "" : column.applies(row) ? column.show(row) : "-");
    if (bar_columns > 0)
      cells.push_back(row.estimated() && max > 0 ? bar(figure.read(row) / max, bar_columns, paint)
                                                 : "");
    cells.push_back(note_sweep_row(view, i));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

std::vector<std::string> split_sweep_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

/// Draws the table in at most `width` columns. A value that the plan cannot have is followed by the
/// reason in place of figures.
std::string draw_sweep_table(const planner::SweepView& view, const Paint& paint,
                             std::size_t width) {
  constexpr std::size_t kMaxBar = 24, kMinBar = 8;
  constexpr std::string_view kIndent = "  ";
  std::vector<SweepColumn> columns = select_sweep_columns(view);
  const auto fits = [&](std::size_t bar_columns) {
    const Table table = make_sweep_table(view, columns, bar_columns, {});
    for (const std::string& line : split_sweep_lines(table.text({}, kIndent)))
      if (display_width(line) > width) return false;
    return true;
  };
  for (const SweepField field : kSweepPriorities[std::size_t(view.key->bar)].dropped)
    if (!fits(kMinBar))
      std::erase_if(columns, [&](const SweepColumn& column) { return column.field == field; });
  std::size_t bar_columns = kMaxBar;
  while (bar_columns > kMinBar && !fits(bar_columns)) --bar_columns;

  const std::vector<std::string> lines =
      split_sweep_lines(make_sweep_table(view, columns, bar_columns, paint).text(paint, kIndent));
  std::string out = lines.front() + "\n";
  for (std::size_t i = 0; i < view.rows.size(); ++i) {
    const std::string& line = lines[i + 1];
    if (view.rows[i].estimated()) {
      out += line + "\n";
      continue;
    }
    const std::string blanks(display_width(line) + kIndent.size(), ' ');
    out += line + wrap_text(view.rows[i].impossible, width - blanks.size(), blanks)
                      .substr(display_width(line));
  }
  return out;
}

}  // namespace

std::string render_sweep_text(const planner::SweepAnswer& answer, const Paint& paint,
                              std::size_t width) {
  const planner::SweepView& view = answer.view;
  std::string out =
      make_bold(break_lines(format_headline(answer.plan.config()), " · ", " ·", width, ""), paint);
  out += "\n" + wrap_text(describe_sweep(view), width, "");
  out += "\n" + draw_sweep_table(view, paint, width);
  out += "\n" + wrap_text(view.fixed, width, "");
  for (const std::string& line : list_sweep_refusals(view)) out += wrap_text(line, width, "");
  return out + wrap_text(suggest_after_sweep(answer), width, "");
}

std::string render_sweep_markdown(const planner::SweepAnswer& answer) {
  const planner::SweepView& view = answer.view;
  Table table = make_sweep_table(view, select_sweep_columns(view), 0, {});
  table.columns.back().name = "note";
  for (std::size_t i = 0; i < view.rows.size(); ++i)
    if (!view.rows[i].estimated()) table.rows[i].back() = view.rows[i].impossible;
  std::string out = fmt::format(
      "# {}\n\n{}\n\n{}\n{}\n", escape_markdown(format_headline(answer.plan.config())),
      escape_markdown(describe_sweep(view)), table.markdown(), escape_markdown(view.fixed));
  for (const std::string& line : list_sweep_refusals(view))
    out += "\n" + escape_markdown(line) + "\n";
  return out;
}

}  // namespace rankwright::report
