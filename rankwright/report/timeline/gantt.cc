#include "rankwright/report/timeline/gantt.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "rankwright/base/format.h"
#include "rankwright/report/render/table.h"
#include "rankwright/report/render/time_ticks.h"
#include "rankwright/report/timeline/timeline_drawing.h"
#include "rankwright/report/timeline/timeline_sentences.h"

namespace rankwright::report {
namespace {

constexpr i64 kMaxRows = 24;      // up to here all ranks are drawn
constexpr i64 kSampledRows = 16;  // drawn of more ranks
constexpr std::size_t kMinWidth = 60;
constexpr double kBusy = 0.5;  // without color, a column that is less busy is drawn as idle
constexpr char kMixed = 'x';   // a column with forward and backward work

/// The layout of the chart, in characters.
struct GanttLayout {
  std::vector<i64> ranks{};
  std::size_t margin = 0;   // before the first bar
  std::size_t columns = 0;  // between the bars
  std::size_t reach = 0;    // radius over which columns are smoothed
  bool cells = false;       // every cell is at least one character wide
  bool figures = true;  // beside each row; below the chart if that would leave no room for cells
  Seconds end{};

  std::size_t column(Seconds t) const {
    if (!(end.value > 0)) return 0;
    // The end of a cell and the start of the next may differ in the last bit, on either side
    // of a half.
    constexpr double kHalf = 0.5 + 1e-9;
    const double at = std::floor(t / end * double(columns) + kHalf);
    return std::min(columns, std::size_t(std::max(0.0, at)));
  }
};

/// One character of a row.
struct Slot {
  std::string text = " ";
  std::optional<Rgb> background{}, foreground{};
};

Seconds compute_mean_cell(const planner::TimelineSummary& s) {
  Seconds busy{};
  for (const planner::RankSummary& rank : s.ranks) busy += rank.cells;
  return busy / double(std::max<i64>(1, s.cells));
}

/// Returns the shortest relevant cell; much shorter ones, of stages with hardly a layer, may
/// disappear.
Seconds find_shortest_cell(const planner::SimulatedStep& p, const planner::TimelineSummary& s,
                           const std::vector<i64>& ranks) {
  constexpr double kSliver = 1.0 / 8;  // of the mean
  const Seconds mean = compute_mean_cell(s);
  Seconds shortest{std::numeric_limits<double>::infinity()};
  for (const i64 rank : ranks)
    for (const program::Event& e : events(p, rank)) {
      const Seconds length = e.end - e.start;
      if (is_cell(e.action.kind) && length.value > 0 && length > kSliver * mean)
        shortest = std::min(shortest, length);
    }
  return shortest;
}

constexpr double kReadable = 2;  // minimum width of a cell that shows its number and its kind
constexpr std::string_view kGanttColumns = "   busy  held";

GanttLayout make_layout(const planner::SimulatedStep& p, const planner::TimelineSummary& s,
                        std::size_t width) {
  GanttLayout where{.end = s.end};
  where.ranks =
      select_ranks_to_draw(p.program.pp(), p.program.pp() <= kMaxRows ? kMaxRows : kSampledRows);
  where.margin = 3 + std::to_string(p.program.pp() - 1).size() + 1;
  where.columns = width - where.margin - 2 - kGanttColumns.size();
  const double share = s.share(find_shortest_cell(p, s, where.ranks));
  const auto fits = [&](std::size_t columns) { return share * double(columns) >= kReadable; };
  if (!fits(where.columns) && fits(where.columns + kGanttColumns.size())) {
    where.columns += kGanttColumns.size();
    where.figures = false;
  }
  const double shortest = share * double(where.columns);
  where.cells = shortest >= 1 && std::isfinite(shortest);
  // Two cells on either side: a forward and a backward.
  where.reach = std::size_t(std::lround(2 * s.share(compute_mean_cell(s)) * double(where.columns)));
  // Cells of equal length look equal if the shortest is an integral number of characters wide.
  const double whole = std::floor(shortest);
  if (where.cells && whole / shortest >= 2.0 / 3)
    where.columns = std::size_t(std::lround(double(where.columns) * whole / shortest));
  return where;
}

/// Returns the label of a cell: "7", or "7b" for the second chunk if there is no color. Without
/// color one character is left for the kind of work.
std::string make_label(const planner::SimulatedStep& p, i64 rank, const pipeline::Action& a,
                       std::size_t columns, bool color) {
  if (!is_cell(a.kind)) return "";
  const std::size_t room = color || columns == 0 ? columns : columns - 1;
  std::string label = std::to_string(a.microbatch);
  if (label.size() > room) return "";
  const i64 shade = find_shade(p.shape, rank, a);
  if (!color && count_shades(p.shape) > 1 && shade < 26 && label.size() < room)
    label += char('a' + shade);
  return label;
}

std::vector<Slot> draw_cells(const planner::SimulatedStep& p, i64 rank, const GanttLayout& where,
                             bool color) {
  std::vector<Slot> slots(where.columns);
  const i64 max = count_shades(p.shape);
  const auto draw = [&](const program::Event& e) {
    const planner::EventKind kind = planner::classify_event(p.program, rank, e.action);
    const std::size_t begin = where.column(e.start), end = where.column(e.end);
    const std::string label = make_label(p, rank, e.action, end - begin, color);
    const Rgb background = shade(kind, find_shade(p.shape, rank, e.action), max);
    for (std::size_t c = begin; c < end; ++c) {
      Slot& slot = slots[c];
      slot.text = c - begin < label.size() ? label[c - begin] : color ? ' ' : row(kind).fill;
      if (color) slot = {slot.text, background, choose_text_color(background)};
    }
  };
  const std::vector<program::Event> all = events(p, rank);
  // Overlapped steps are visible only where no cell runs.
  for (const program::Event& e : all)
    if (planner::is_beside(p.program, rank, e.action)) draw(e);
  for (const program::Event& e : all)
    if (!planner::is_beside(p.program, rank, e.action)) draw(e);
  return slots;
}

/// Returns whether a column has a substantial part of both input and weight gradients, which is
/// drawn as a backward.
bool is_both(const Column& column) {
  constexpr double kPart = 0.3;
  const double input = column.of(planner::EventKind::input_grad),
               weight = column.of(planner::EventKind::weight_grad);
  return std::min(input, weight) >= kPart * (input + weight);
}

/// Returns the kind that fills most of the column, among backward kinds or among the others.
planner::EventKind find_largest(const Column& column, bool backward) {
  if (backward && is_both(column)) return planner::EventKind::backward;
  planner::EventKind found = backward ? planner::EventKind::backward : planner::EventKind::forward;
  for (std::size_t i = 0; i < planner::kEventKinds; ++i)
    if (is_backward(planner::EventKind(i)) == backward && column.share[i] > column.of(found))
      found = planner::EventKind(i);
  return found;
}

/// Draws the two largest of backward, forward and idle in one character: backward below forward,
/// idle on top.
Slot draw_mixture(const Column& column) {
  constexpr std::string_view kBlocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const double below = column.backward(), above = column.busy() - below;
  const double idle = std::max(0.0, 1 - below - above);
  const Rgb back = row(find_largest(column, true)).color,
            front = row(find_largest(column, false)).color;
  const auto eighths = [](double part, double rest) {
    return part + rest > 0 ? std::size_t(std::lround(8 * part / (part + rest))) : 0;
  };
  if (idle <= std::min(below, above))
    return {std::string(kBlocks[eighths(below, above)]), front, back};
  const bool is_back = below >= above;
  const std::size_t height = eighths(is_back ? below : above, idle);
  return {std::string(kBlocks[height]), {}, is_back ? back : front};
}

/// Returns the character that shows a column without color.
char choose_letter(const Column& column) {
  const double busy = column.busy();
  if (busy < kBusy) return ' ';
  const double back = column.backward() / busy;
  if (back > 0.25 && back < 0.75) return kMixed;
  return row(find_largest(column, back >= 0.75)).fill;
}

/// Smooths the kinds of work in a column, which would alternate if a column is about as long as a
/// cell: averages over adjacent busy columns up to `reach` on either side. How busy the column is
/// stays unchanged.
std::vector<Column> smooth(const std::vector<Column>& sharp, std::size_t reach) {
  const auto busy = [&](std::size_t c) { return sharp[c].busy() >= kBusy; };
  std::vector<Column> all(sharp.size());
  for (std::size_t c = 0; c < sharp.size(); ++c) {
    std::size_t begin = c, end = c + 1;
    while (begin > 0 && c - begin < reach && busy(begin - 1)) --begin;
    while (end < sharp.size() && end - c <= reach && busy(end)) ++end;
    Column& column = all[c];
    for (std::size_t i = begin; i < end; ++i)
      for (std::size_t k = 0; k < planner::kEventKinds; ++k) column.share[k] += sharp[i].share[k];
    const double sum = column.busy();
    for (double& share : column.share) share *= sum > 0 ? sharp[c].busy() / sum : 0;
  }
  return all;
}

std::vector<Slot> draw_columns(const planner::SimulatedStep& p, i64 rank, const GanttLayout& where,
                               bool color) {
  std::vector<Slot> slots;
  for (const Column& column : smooth(columns(p, rank, where.columns), where.reach))
    slots.push_back(color ? draw_mixture(column) : Slot{std::string(1, choose_letter(column))});
  return slots;
}

/// Writes the characters with as few color codes as possible.
std::string write_slots(const std::vector<Slot>& slots) {
  std::string out;
  const Slot* before = nullptr;
  const auto plain = [](const Slot& slot) { return !slot.background && !slot.foreground; };
  for (const Slot& slot : slots) {
    if (before == nullptr
            ? !plain(slot)
            : before->background != slot.background || before->foreground != slot.foreground) {
      if (before != nullptr && !plain(*before)) out += "\033[0m";
      if (slot.background)
        out += fmt::format("\033[48;5;{}m", find_terminal_color(*slot.background));
      if (slot.foreground)
        out += fmt::format("\033[38;5;{}m", find_terminal_color(*slot.foreground));
    }
    out += slot.text;
    before = &slot;
  }
  if (before != nullptr && !plain(*before)) out += "\033[0m";
  return out;
}

/// Writes the phases above the rows: "|---- warm-up 10 s ----|---". Names that do not fit are left
/// out.
std::string draw_phases(const std::vector<planner::Band>& bands, const GanttLayout& where) {
  std::string line = "|" + std::string(where.columns, '-') + "|";
  for (const planner::Band& band : bands) {
    const std::size_t begin = where.column(band.begin), end = where.column(band.end);
    if (begin > 0 && begin < where.columns) line[begin + 1] = '|';
    const std::size_t from = begin > 0 ? begin + 2 : 1;  // after the mark
    const std::size_t room = end + 1 > from ? end + 1 - from : 0;
    std::string text = fmt::format(" {} {} ", band.name, show(band.length()));
    if (text.size() > room) text = fmt::format(" {} ", band.name);
    if (text.size() <= room) line.replace(from + (room - text.size()) / 2, text.size(), text);
  }
  return line;
}

/// Returns the tick marks, and the line of their times cut at `room` characters.
std::pair<std::string, std::string> draw_axis(const GanttLayout& where, std::size_t room) {
  constexpr std::size_t kTickGap = 12;
  std::string marks = "+" + std::string(where.columns, '-') + "+", times;
  for (const Seconds t : place_ticks(where.end, i64(where.columns / kTickGap) + 1)) {
    const std::size_t at = where.column(t);
    const std::string text = t.value == 0 ? "0" : show(t);
    marks[at == 0 ? 0 : at + 1] = '+';
    if (at > 0 && (times.size() + 1 > at || at + 1 + text.size() > room)) continue;
    times.resize(at == 0 ? 0 : at + 1, ' ');
    times += text;
  }
  return {marks, times};
}

/// Lists the kinds of work and how they look, in lines of at most `width` characters.
std::string write_legend(const planner::SimulatedStep& p, const GanttLayout& where, bool color,
                         std::size_t width) {
  std::vector<planner::EventKind> kinds = find_used_kinds(p.program);
  const auto has = [&](planner::EventKind kind) {
    return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
  };
  // A column with both gradients is drawn as a backward.
  if (!where.cells && has(planner::EventKind::input_grad) && !has(planner::EventKind::backward))
    kinds.insert(std::find(kinds.begin(), kinds.end(), planner::EventKind::input_grad),
                 planner::EventKind::backward);
  std::string text;
  std::size_t used = 0;
  const auto add = [&](const Slot& sample, std::string_view name) {
    const std::size_t length = display_width(sample.text) + 1 + name.size();
    const bool fits = used + 3 + length <= width - 2;
    text += used == 0 ? "  " : fits ? "   " : "\n  ";
    used = used > 0 && fits ? used + 3 + length : length;
    text += write_slots({sample}) + " " + std::string(name);
  };
  for (const planner::EventKind kind : kinds)
    add(color ? Slot{"  ", row(kind).color}
              : Slot{std::string(where.cells ? 2 : 1, row(kind).fill)},
        row(kind).name);
  if (!color && !where.cells) add({std::string(1, kMixed)}, "forward and backward");
  add({"blank"}, "idle");
  return text + "\n";
}

/// Explains the labels in the cells, or what a column shows.
std::string explain_chart(const planner::SimulatedStep& p, const GanttLayout& where, bool color) {
  const bool mirror = row(p.shape.schedule).stage_order == pipeline::StageOrder::mirror;
  const bool shaded = count_shades(p.shape) > 1;
  std::string text;
  if (!where.cells)
    text = fmt::format("One column is {}: {}.", show(where.end / double(where.columns)),
                       color ? "backward below, forward above" : "the largest part");
  else if (shaded && !color)
    text = fmt::format("Numbers are micro-batches, letters {}, where they fit.",
                       mirror ? "the end of the pipeline they entered at" : "virtual stages");
  else
    text = "Numbers are micro-batches, where they fit.";
  if (where.cells && shaded && color)
    text += mirror ? " Lighter: entered at the other end." : " Lighter: later virtual stages.";
  if (i64(where.ranks.size()) < p.program.pp())
    text += fmt::format(" {} of {} PP ranks are shown.", where.ranks.size(), count(p.program.pp()));
  return text;
}

std::string format_busy(const planner::TimelineSummary& s, const planner::RankSummary& rank) {
  return fmt::format("{:.0f} %", 100 * s.share(rank.cells));
}

/// Returns the figures that are otherwise beside the rows.
Remark list_figures(const planner::TimelineSummary& s, const GanttLayout& where) {
  std::string text;
  for (const i64 rank : where.ranks) {
    const planner::RankSummary& of = s.ranks[std::size_t(rank)];
    text += fmt::format("{}PP {} {}, {} held", text.empty() ? "" : "; ", rank, format_busy(s, of),
                        of.held);
  }
  return {"busy", text};
}

}  // namespace

std::string draw_gantt(const planner::SimulatedStep& p, const planner::TimelineSummary& s,
                       const Paint& paint, std::size_t width) {
  width = std::max(width, kMinWidth);
  const GanttLayout where = make_layout(p, s, width);
  const std::string left(where.margin, ' ');
  const std::string_view bar = paint.on ? "│" : "|";
  std::string title = wrap_text(write_timeline_title(p, s), width, "");
  title.pop_back();
  std::string out = paint.bold(title) + "\n\n";
  out += left + paint.dim(draw_phases(s.bands, where)) +
         std::string(where.figures ? kGanttColumns : "") + "\n";
  for (const i64 rank : where.ranks) {
    const planner::RankSummary& of = s.ranks[std::size_t(rank)];
    const std::vector<Slot> slots =
        where.cells ? draw_cells(p, rank, where, paint.on) : draw_columns(p, rank, where, paint.on);
    out += fmt::format("{:<{}}{}{}{}", fmt::format("PP {}", rank), where.margin, bar,
                       write_slots(slots), bar);
    if (where.figures) out += fmt::format("  {:>5}  {:>4}", format_busy(s, of), of.held);
    out += "\n";
  }
  const auto [marks, times] = draw_axis(where, width - where.margin);
  out += left + paint.dim(marks) + "\n" + left + times + "\n\n";
  out += write_legend(p, where, paint.on, width);
  out += wrap_text(explain_chart(p, where, paint.on), width - 2, "  ") + "\n";
  std::vector<Remark> said = write_remarks(p, s);
  if (!where.figures) said.insert(said.begin() + 2, {list_figures(s, where)});
  for (const Remark& remark : said) {
    const std::string lines = wrap_text(remark.text, width - 17, std::string(17, ' '));
    out += "  " + paint.bold(fmt::format("{:<15}", remark.name)) + lines.substr(17);
  }
  return out;
}

}  // namespace rankwright::report
