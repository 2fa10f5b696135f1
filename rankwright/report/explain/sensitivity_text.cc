#include "rankwright/report/explain/sensitivity_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "rankwright/base/format.h"
#include "rankwright/report/explain/waterfall_text.h"
#include "rankwright/report/render/bars.h"
#include "rankwright/report/render/labels.h"
#include "rankwright/report/render/table.h"
#include "rankwright/rules/memory_verdict.h"

namespace rankwright::report {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kShownConstants = 12;

const catalog::ConstantRow& find_constant(cluster::Constant constant) {
  return catalog::constants()[std::size_t(constant)];
}

std::string format_value(const catalog::ConstantRow& row, double value) {
  return fmt::format("{:.3g}{}{}", value, row.unit.empty() ? "" : " ", row.unit);
}

/// Formats one end of a constant's range with its result: "0.674: 7.12 s".
std::string format_end(const catalog::ConstantRow& row, double value, const std::string& what) {
  return fmt::format("{}: {}", format_value(row, value), what);
}

std::string join_names(const std::vector<std::string>& all) {
  std::string text;
  for (const std::string& one : all) text += (text.empty() ? "" : ", ") + one;
  return text;
}

/// Returns the worse verdict of the two ends of a constant's range, if it is worse than `now`, else
/// the better one.
cost::MemoryVerdict find_other_verdict(const cost::Sensitivity& s, cost::MemoryVerdict now) {
  const cost::MemoryVerdict worse = std::max(s.low.verdict, s.high.verdict);
  return worse != now ? worse : std::min(s.low.verdict, s.high.verdict);
}

std::string describe_verdict(const planner::SensitivityView& view) {
  std::vector<std::string> flipping;
  for (const cost::Sensitivity& s : view.constants)
    if (s.flips)
      flipping.push_back(fmt::format("{} ({})", find_constant(s.constant).name,
                                     name(find_other_verdict(s, view.now.verdict()))));
  const std::string now = "It " + rules::state_memory_verdict(view.now);
  if (flipping.empty()) return now + ". No constant changes that.";
  return fmt::format("{}. The verdict is another at one end of {}.", now, join_names(flipping));
}

constexpr std::string_view kHow =
    "One constant at a time: fitted ones by a tenth within their bounds, the others to their "
    "bounds "
    "(rankwright/catalog/calibration.csv).";

}  // namespace

std::string render_sensitivity_text(const plan::TrainingConfig& config,
                                    const planner::SensitivityView& view, const Paint& paint,
                                    std::size_t width) {
  std::string out = make_bold(break_lines(format_headline(config), " · ", " ·", width, ""), paint) +
                    "\n" + break_lines(figures(config, view.now), "   ", "", width, "  ") + "\n";
  std::vector<BarLine> lines;
  for (const cost::Sensitivity& s : view.constants) {
    if (lines.size() == kShownConstants || s.moves <= 0) break;
    const catalog::ConstantRow& of = find_constant(s.constant);
    lines.push_back(
        {.name = of.name,
         .fraction = s.moves / view.constants.front().moves,
         .figures = {format_share(s.moves), format_end(of, s.low.value, show(s.low.step)),
                     format_end(of, s.high.value, show(s.high.step))},
         .remark = fmt::format("{}, {}", name(of.found), of.meaning),
         .tone = s.flips ? BarLine::Tone::wait : BarLine::Tone::work});
  }
  out += draw_bar_lines(lines, paint, width) + "\n";
  out += wrap_text(describe_verdict(view), width - 2, "");
  return out + wrap_text(kHow, width - 2, "");
}

std::string make_sensitivity_json(const plan::TrainingConfig& config,
                                  const planner::SensitivityView& view) {
  const auto end = [](const cost::ConstantTrial& o) {
    return ordered_json{{"value", o.value},
                        {"step_seconds", o.step.value},
                        {"memory_bytes", o.memory.value},
                        {"fits", fits(o.verdict)},
                        {"verdict", name(o.verdict)}};
  };
  ordered_json rows = ordered_json::array();
  for (const cost::Sensitivity& s : view.constants)
    rows.push_back({{"constant", find_constant(s.constant).name},
                    {"value", find_constant(s.constant).value},
                    {"found", name(find_constant(s.constant).found)},
                    {"moves", s.moves},
                    {"changes_verdict", s.flips},
                    {"low", end(s.low)},
                    {"high", end(s.high)}});
  const ordered_json json = {
      {"schema", "rankwright.sensitivity/1"},      {"headline", format_headline(config)},
      {"step_seconds", view.now.time().value},     {"memory_bytes", view.now.memory.total().value},
      {"capacity_bytes", view.now.capacity.value}, {"fits", view.now.fits()},
      {"verdict", name(view.now.verdict())},       {"constants", rows}};
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string render_rivals_text(const RivalPlan& first, const RivalPlan& second,
                               const planner::RivalsView& view, const Paint& paint,
                               std::size_t width) {
  const cost::Comparison& comparison = view.comparison;
  const bool ahead = comparison.lead > 0;
  const RivalPlan& winner = ahead ? first : second;
  std::string out = paint.bold(fmt::format("{} against {}", first.name, second.name)) + "\n\n";
  out += fmt::format("  {}: {}\n", first.name, figures(first.config, view.first));
  out += fmt::format("  {}: {}\n", second.name, figures(second.config, view.second));
  constexpr double kNothing = 1e-6;
  out += std::abs(comparison.lead) < kNothing
             ? std::string("\n  a token takes as long with either\n\n")
             : fmt::format("\n  a token takes {} {} with {}\n\n",
                           format_share(std::abs(comparison.lead)), ahead ? "longer" : "less",
                           second.name);
  if (first.config.model.name != second.config.model.name)
    out +=
        wrap_text(fmt::format("They train two models, {} and {}: a token of one is not a token of "
                              "the other.",
                              first.config.model.name, second.config.model.name),
                  width - 4, "  ") +
        "\n";
  double widest = 0;
  const auto width_of = [&](const cost::Rivalry& r) {
    return std::max(std::abs(r.at_low - comparison.lead), std::abs(r.at_high - comparison.lead));
  };
  for (const cost::Rivalry& r : comparison.rivals) widest = std::max(widest, width_of(r));
  std::vector<BarLine> lines;
  std::vector<std::string> swapping;
  for (const cost::Rivalry& r : comparison.rivals) {
    const catalog::ConstantRow& of = find_constant(r.constant);
    if (r.swaps) swapping.push_back(of.name);
    if (lines.size() == kShownConstants) continue;
    lines.push_back(
        {.name = of.name,
         .fraction = width_of(r) / widest,
         .figures = {format_end(of, r.low, format_signed_percent(r.at_low)),
                     format_end(of, r.high, format_signed_percent(r.at_high))},
         .remark = r.swaps ? "the other is faster at one end: " + of.meaning : of.meaning,
         .tone = r.swaps ? BarLine::Tone::wait : BarLine::Tone::work});
  }
  out += draw_bar_lines(lines, paint, width) + "\n";
  const std::string conclusion =
      swapping.empty() ? fmt::format("{} is the faster, whichever constant moves.", winner.name)
                       : fmt::format("{} is the faster, but not at one end of {}: measure both.",
                                     winner.name, join_names(swapping));
  return out + wrap_text(conclusion, width - 2, "") + wrap_text(kHow, width - 2, "");
}

std::string make_rivals_json(const RivalPlan& first, const RivalPlan& second,
                             const planner::RivalsView& view) {
  const cost::Comparison& comparison = view.comparison;
  ordered_json rows = ordered_json::array();
  for (const cost::Rivalry& r : comparison.rivals)
    rows.push_back({{"constant", find_constant(r.constant).name},
                    {"value", find_constant(r.constant).value},
                    {"found", name(find_constant(r.constant).found)},
                    {"changes_winner", r.swaps},
                    {"low", {{"value", r.low}, {"lead", r.at_low}}},
                    {"high", {{"value", r.high}, {"lead", r.at_high}}}});
  const auto plan = [](const RivalPlan& p, const cost::Estimate& estimate) {
    return ordered_json{{"name", p.name},
                        {"headline", format_headline(p.config)},
                        {"step_seconds", estimate.time().value}};
  };
  const ordered_json json = {{"schema", "rankwright.rivals/1"},
                             {"first", plan(first, view.first)},
                             {"second", plan(second, view.second)},
                             {"lead", comparison.lead},
                             {"constants", rows}};
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace rankwright::report
