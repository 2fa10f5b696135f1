#include "rankwright/report/compare/compare_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "rankwright/base/format.h"
#include "rankwright/planner/input/run_input.h"
#include "rankwright/report/compare/compare_sentences.h"
#include "rankwright/report/explain/waterfall_text.h"
#include "rankwright/report/plan/training_text.h"
#include "rankwright/report/render/bars.h"
#include "rankwright/report/render/labels.h"
#include "rankwright/report/render/markdown.h"
#include "rankwright/report/render/section.h"

namespace rankwright::report {
namespace {

constexpr double kNegligible =
    0.002;  // of the larger total; items below it in both plans are merged
constexpr std::string_view kSeparator = " · ";
constexpr std::size_t kValue = 48;  // characters shown of a key's value

/// The unit and precision of a column, the same for all its figures, so that they can be added up
/// by eye.
struct Unit {
  std::string name{};
  double value = 1;  // in base units
  int decimals = 0;

  /// Formats a figure; "-" for zero.
  std::string format(double figure) const {
    if (figure == 0) return "-";
    const double scaled = figure / value;
    return decimals == 0 ? count(std::llround(scaled)) : fmt::format("{:.{}f}", scaled, decimals);
  }
  /// Returns whether a figure rounds to zero.
  bool rounds_to_zero(double figure) const {
    return format(std::abs(figure)).find_first_not_of("-0.") == std::string::npos;
  }
  /// Formats a difference: "+1.20", "-0.34", "=".
  std::string format_signed(double figure) const {
    return rounds_to_zero(figure) ? "=" : (figure > 0 ? "+" : "-") + format(std::abs(figure));
  }
};

/// Returns the number of decimals that shows the largest figure with four digits.
int choose_decimals(double largest) {
  return largest >= 1000 ? 0 : largest >= 100 ? 1 : largest >= 10 ? 2 : 3;
}

Unit choose_time_unit(Seconds largest) {
  Unit unit{"seconds", 1};
  if (largest.value < 1) unit = {"milliseconds", 1e-3};
  if (largest.value < 1e-3) unit = {"microseconds", 1e-6};
  unit.decimals = choose_decimals(largest.value / unit.value);
  return unit;
}

Unit make_memory_unit() { return {"GiB", (1.0_GiB).value, 2}; }

/// One row of a comparison sheet.
struct SheetLine {
  std::string name;
  double a = 0, b = 0;
  bool bar = true;

  double difference() const { return b - a; }
};

/// A sheet to be drawn. The lines with bars add up to the first line without one.
struct Sheet {
  std::string title{};
  Unit unit{};
  std::vector<SheetLine> lines{};
};

/// Merges lines that are small in both plans into one.
std::vector<SheetLine> merge_small_lines(const std::vector<SheetLine>& lines, double total) {
  std::vector<SheetLine> kept;
  SheetLine other{.name = "other"};
  std::size_t small = 0;
  for (const SheetLine& line : lines) {
    if (std::max(line.a, line.b) >= kNegligible * total) {
      kept.push_back(line);
      continue;
    }
    other.a += line.a, other.b += line.b;
    ++small;
  }
  if (small < 2) return lines;
  kept.push_back(other);
  return kept;
}

Sheet make_time_sheet(const planner::CompareView& view) {
  const Seconds largest = std::max(view.total_a, view.total_b);
  std::vector<SheetLine> lines;
  for (const planner::TimeRow& of : view.items)
    lines.push_back({std::string(row(of.item).name), of.a.value, of.b.value});
  Sheet sheet{.title = {},
              .unit = choose_time_unit(largest),
              .lines = merge_small_lines(lines, largest.value)};
  sheet.title = fmt::format("{} {}", sheet.unit.name, words(view.basis));
  sheet.lines.push_back({"total", view.total_a.value, view.total_b.value, false});
  return sheet;
}

/// Explains a reserve of zero in one plan only: nothing is left that the allocator could hold.
std::string explain_reserve(const planner::CompareView& view) {
  const Bytes a = view.a.memory[cost::Entry::reserve], b = view.b.memory[cost::Entry::reserve];
  if ((a > Bytes{}) == (b > Bytes{})) return {};
  return fmt::format(
      "reserve: the tensors of {} fill the GPU, so the allocator holds nothing beyond them.",
      a > Bytes{} ? "B" : "A");
}

/// Lists the whole training run on both plans.
Table make_training_table(const planner::CompareView& view) {
  const planner::TrainingRequest& ask = view.training;
  Table table{{{format_short_count(*ask.tokens) + " tokens"}, {"A", kRight}, {"B", kRight}}};
  const auto add = [&](const std::string& name, const auto& format) {
    table.rows.push_back({name, format(*view.run_a), format(*view.run_b)});
  };
  add("time", [](const planner::Training& run) {
    return fmt::format("{} ±{}", show(run.time), show(run.within * run.time));
  });
  add("GPU-hours", [](const planner::Training& run) { return format_short_count(run.gpu_hours); });
  if (ask.price)
    add(fmt::format("cost at {} per GPU-hour", format_money(ask.price->amount, *ask.price)),
        [&](const planner::Training& run) {
          return fmt::format("{} ±{}", format_money(*run.cost, *ask.price),
                             format_money(run.within * *run.cost, *ask.price));
        });
  if (ask.deadline)
    add(format_deadline(*ask.deadline) + " target",
        [](const planner::Training& run) { return std::string(name(*run.deadline)); });
  return table;
}

Sheet make_memory_sheet(const planner::CompareView& view) {
  const double a = view.a.memory.total().value, b = view.b.memory.total().value;
  std::vector<SheetLine> lines;
  for (const planner::MemoryRow& of : view.entries)
    lines.push_back({std::string(row(of.entry).name), of.a.value, of.b.value});
  Sheet sheet{.title = "GiB on the fullest rank",
              .unit = make_memory_unit(),
              .lines = merge_small_lines(lines, std::max(a, b))};
  sheet.lines.push_back({"total", a, b, false});
  sheet.lines.push_back({"device", view.a.capacity.value, view.b.capacity.value, false});
  return sheet;
}

/// Lists name, A, B and the difference.
Table make_sheet_table(const Sheet& sheet) {
  Table table{{{sheet.title}, {"A", kRight}, {"B", kRight}, {"B - A", kRight}}};
  for (const SheetLine& line : sheet.lines)
    table.rows.push_back({line.name, sheet.unit.format(line.a), sheet.unit.format(line.b),
                          sheet.unit.format_signed(line.difference())});
  return table;
}

/// Formats how much more B has than A: "-6.8 %".
std::string format_change(const SheetLine& line) {
  return line.a > 0 && line.a != line.b ? fmt::format("{:+.1f} %", 100 * (line.b / line.a - 1))
                                        : "";
}

/// Returns the columns available for a bar on each side of its center.
std::size_t compute_half_width(const Table& table, std::size_t width) {
  constexpr std::size_t kMin = 6, kMax = 24;
  std::size_t used = 2;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    std::size_t widest = display_width(table.columns[c].name);
    for (const std::vector<std::string>& cells : table.rows)
      widest = std::max(widest, display_width(cells[c]));
    used += widest + 2;
  }
  return std::clamp(width > used + 1 ? (width - used - 1) / 2 : 0, kMin, kMax);
}

std::string draw_sheet(const Sheet& sheet, const Paint& paint, std::size_t width) {
  Table table = make_sheet_table(sheet);
  const std::size_t half = compute_half_width(table, width);
  table.columns.push_back({fmt::format("{:>{}} {}", "less", half, "more")});
  // A difference that rounds to zero has no bar.
  const auto visible_difference = [&](const SheetLine& line) {
    return sheet.unit.rounds_to_zero(line.difference()) ? 0 : line.difference();
  };
  double largest = std::numeric_limits<double>::min();
  for (const SheetLine& line : sheet.lines)
    if (line.bar) largest = std::max(largest, std::abs(visible_difference(line)));
  for (std::size_t i = 0; i < sheet.lines.size(); ++i) {
    const SheetLine& line = sheet.lines[i];
    table.rows[i].push_back(
        line.bar ? draw_difference_bar(visible_difference(line) / largest, half, paint)
                 : format_change(line));
  }
  return table.text(paint, "  ", width);
}

Table make_key_table(const planner::CompareView& view) {
  Table table{{{"differs"}, {"A"}, {"B"}}};
  const auto value = [](const std::string& text, bool assumed) {
    return make_excerpt(text, kValue) + (text.size() > kValue ? "..." : "") +
           (assumed ? " (assumed)" : "");
  };
  for (const planner::KeyDifference& d : view.keys)
    table.rows.push_back({std::string(d.key), value(d.a, d.a_assumed), value(d.b, d.b_assumed)});
  return table;
}

/// Returns the heading of the causes: "why B takes 1.2 s less".
std::string write_why_title(const planner::CompareView& view) {
  const Seconds apart = view.difference();
  if (apart == Seconds{}) return "why";
  return fmt::format("why B takes {} {}", show(Seconds{std::abs(apart.value)}),
                     apart > Seconds{} ? "more" : "less");
}

/// Lists the causes, and the part of the difference that they leave unexplained.
Table make_cause_table(const planner::CompareView& view) {
  Table table{{{"B - A", kRight}, {"item"}, {"cause"}}};
  Seconds rest = view.difference();
  for (const planner::Cause& cause : view.causes) {
    table.rows.push_back(
        {show_signed(cause.difference), std::string(row(cause.item).name), cause.words});
    rest = rest - cause.difference;
  }
  const bool rounding = std::abs(rest.value) <= 1e-9 * view.total_a.value;
  if (view.causes.size() < view.items.size() && !rounding)
    table.rows.push_back({show_signed(rest), "all others", ""});
  return table;
}

std::string write_causes(const planner::CompareView& view, const Paint& paint, std::size_t width) {
  const Table table = make_cause_table(view);
  std::size_t amount = 0;
  for (const std::vector<std::string>& cells : table.rows)
    amount = std::max(amount, display_width(cells[0]));
  const std::string indent(amount + 4, ' ');
  std::string out = "  " + paint.bold(write_why_title(view)) + "\n";
  for (const std::vector<std::string>& cells : table.rows)
    out += fmt::format("  {:>{}}  ", cells[0], amount) +
           wrap_text(cells[2].empty() ? cells[1] : cells[1] + ": " + cells[2],
                     width - indent.size() - 2, indent)
               .substr(indent.size());
  return out;
}

std::string write_side(std::string_view letter, const NamedPlan& plan, const cost::Estimate& e,
                       bool headed, const Paint& paint, std::size_t width) {
  constexpr std::string_view kPlanIndent = "     ";
  std::string out =
      "  " + paint.bold(fmt::format("{}  {}", letter, make_excerpt(plan.name, 200))) + "\n";
  if (headed)
    out += break_lines(format_headline(plan.config), kSeparator, " ·", width, kPlanIndent);
  out += break_lines(write_plan_line(plan.config), kSeparator, " ·", width, kPlanIndent);
  return out + break_lines(figures(plan.config, e), "   ", "", width, kPlanIndent);
}

/// Describes what differs between two plans: their keys, the items of the step with the causes, and
/// the entries of the memory estimate.
std::vector<Section> make_sections(const planner::CompareView& view) {
  const auto draw = [](Sheet sheet) -> TextDrawing {
    return [sheet = std::move(sheet)](const Paint& paint, std::size_t width) {
      return draw_sheet(sheet, paint, width);
    };
  };
  std::vector<Section> all{
      {.heading = "What differs", .table = make_key_table(view), .indent = "  "},
      {.heading = "Time",
       .table = make_sheet_table(make_time_sheet(view)),
       .drawing = draw(make_time_sheet(view))}};
  if (view.run_a && view.run_b)
    all.insert(all.begin(), {.heading = "Training",
                             .table = make_training_table(view),
                             .note = std::string(kWithoutFailures),
                             .indent = "  "});
  if (view.keys.empty()) all[all.size() - 2].text = "No key differs: the two are the same plan.";
  if (!view.causes.empty())
    all.push_back({.heading = "W" + write_why_title(view).substr(1),
                   .table = make_cause_table(view),
                   .drawing = [&view](const Paint& paint, std::size_t width) {
                     return write_causes(view, paint, width);
                   }});
  if (!view.entries.empty())
    all.push_back({.heading = "Memory",
                   .table = make_sheet_table(make_memory_sheet(view)),
                   .drawing = draw(make_memory_sheet(view)),
                   .note = explain_reserve(view)});
  return all;
}

}  // namespace

std::string write_plan_line(const plan::TrainingConfig& config) {
  const i64 m = config.microbatches();
  const std::string text = format_degree_tags(config);
  if (config.plan.pp == 1)
    return text + fmt::format(" · {}", plural(m, "micro-batch", "micro-batches"));
  return text + fmt::format(" · {}, {}", name(config.plan.schedule),
                            plural(m, "micro-batch", "micro-batches"));
}

std::string render_compare_text(const NamedPlan& a, const NamedPlan& b,
                                const planner::CompareView& view, const Paint& paint,
                                std::size_t width) {
  const bool same_head = format_headline(a.config) == format_headline(b.config);
  std::string out;
  if (same_head)
    out += make_bold(break_lines(format_headline(a.config), kSeparator, " ·", width, ""), paint) +
           "\n";
  out += write_side("A", a, view.a, !same_head, paint, width);
  out += write_side("B", b, view.b, !same_head, paint, width) + "\n";
  const auto paragraph = [&](std::string_view text) { return wrap_text(text, width - 4, "  "); };
  const CompareSentences words = describe_comparison(a.config, b.config, view);
  // Whether a plan can run comes before how fast it is.
  const bool named = !view.entries.empty();
  if (named && !words.fit.empty()) out += make_bold(paragraph(words.fit), paint);
  out += make_bold(paragraph(words.verdict), paint) + paragraph(words.unlike);
  if (!named) out += paragraph(words.fit);
  out += paragraph(planner::describe_calibration(a.config));
  out += "\n" + render_sections_text(make_sections(view), paint, width);
  out.pop_back();  // the last blank line
  return out;
}

std::string render_compare_markdown(const NamedPlan& a, const NamedPlan& b,
                                    const planner::CompareView& view) {
  std::string out = fmt::format("# A {}, B {}\n\n", escape_markdown(make_excerpt(a.name, 200)),
                                escape_markdown(make_excerpt(b.name, 200)));
  const CompareSentences words = describe_comparison(a.config, b.config, view);
  for (const std::string& text :
       {words.fit, words.verdict, words.unlike, planner::describe_calibration(a.config)})
    if (!text.empty()) out += escape_markdown(text) + "\n\n";
  Table plans{{{""}, {"job"}, {"plan"}, {"comes to"}}};
  plans.rows.push_back(
      {"A", format_headline(a.config), write_plan_line(a.config), figures(a.config, view.a)});
  plans.rows.push_back(
      {"B", format_headline(b.config), write_plan_line(b.config), figures(b.config, view.b)});
  out += plans.markdown() + "\n" + render_sections_markdown(make_sections(view));
  out.pop_back();  // the last blank line
  return out;
}

}  // namespace rankwright::report
