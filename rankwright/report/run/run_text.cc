#include "rankwright/report/run/run_text.h"

#include <fmt/format.h>

#include <cmath>

#include "rankwright/base/format.h"
#include "rankwright/report/render/table.h"

namespace rankwright::report {
namespace {

/// Formats whole percents: more digits would not be readable in a line that changes.
std::string format_whole_percent(double fraction) {
  return fmt::format("{:.0f} %", fraction * 100);
}

std::string format_loss(double loss) { return fmt::format("{:.4g}", loss); }

std::string find_level_name(const planner::RunSummary& s, int level) {
  return level >= 0 && std::size_t(level) < s.level_names.size() ? s.level_names[std::size_t(level)]
                                                                 : std::string("-");
}

/// Returns "=", or the first difference of bytes, calls or link.
std::string compare_row(const planner::TrafficComparison& row) {
  if (row.equal()) return "=";
  const std::string on = " on " + plural(row.ranks_off, "rank", "ranks");
  if (row.sent != row.predicted) {
    const Bytes off = row.sent - row.predicted;
    return (off.value < 0 ? "-" + show(Bytes{-off.value}) : "+" + show(off)) + on;
  }
  if (row.calls != row.predicted_calls) {
    const i64 off = row.calls - row.predicted_calls;
    return fmt::format("{}{} calls{}", off < 0 ? "" : "+", count(off), on);
  }
  return "another group or level" + on;
}

Table make_sent_table(const planner::RunSummary& s) {
  Table table{{{"sent per step, by all ranks"},
               {"group"},
               {"level"},
               {"calls", kRight},
               {"predicted", kRight},
               {"measured", kRight},
               {""},
               {"waited", kRight}}};
  for (const planner::TrafficComparison& one : s.sent)
    table.rows.push_back({std::string(row(one.kind).label), std::string(name(one.group)),
                          find_level_name(s, one.level), count(one.calls), show(one.predicted),
                          show(one.sent), compare_row(one), show(one.waited)});
  return table;
}

Table make_figure_table(const planner::RunSummary& s) {
  Table table{{{""}, {"predicted", kRight}, {"measured", kRight}, {""}}};
  table.rows.push_back({"bytes", show(s.predicted_bytes()), show(s.sent_bytes()),
                        s.bytes_equal() ? "equal on every rank and call"
                                        : "differs from the prediction: see above"});
  table.rows.push_back({"memory", show_memory(s.predicted_memory()), show_memory(s.fullest().peak),
                        fmt::format("tensors of the fullest rank, {} (PP rank {})",
                                    s.fullest().rank, s.fullest().pp_rank)});
  const i64 counted = std::max<i64>(1, i64(s.steps.size()) - 1);
  table.rows.push_back(
      {"step", s.predicted ? show(s.predicted->step) : "-", show(s.step_time()),
       counted == 1 ? "one step" : fmt::format("median of {} steps", count(counted))});
  if (s.pp > 1)
    table.rows.push_back({"outside fwd/bwd",
                          s.predicted ? percent(s.predicted->outside_cells) : "-",
                          percent(s.outside_cells()), "share of the ranks' time"});
  return table;
}

std::string write_opening(const planner::RunSummary& s) {
  return fmt::format("{} of {} on {}{}: loss {} to {}, {} tokens/s\n", count(i64(s.steps.size())),
                     plural(s.wanted, "step", "steps"), plural(s.ranks, "rank", "ranks"),
                     s.stopped ? ", stopped" : "", format_loss(s.steps.front().loss),
                     format_loss(s.steps.back().loss), count(std::llround(s.tokens_per_second())));
}

}  // namespace

std::string format_clock(Seconds time) {
  constexpr double kMax = 8.64e9;  // a hundred thousand days
  const i64 seconds = i64(
      std::llround(std::isfinite(time.value) ? std::min(std::max(time.value, 0.0), kMax) : kMax));
  const i64 minutes = seconds / 60 % 60, hours = seconds / 3600;
  if (hours == 0) return fmt::format("{}:{:02}", minutes, seconds % 60);
  return fmt::format("{}:{:02}:{:02}", hours, minutes, seconds % 60);
}

std::string format_progress(const planner::TrainedStep& step, const RunProgress& p) {
  std::string text =
      fmt::format("step {}/{}  loss {}", step.step, p.wanted, format_loss(step.loss));
  if (step.time.value > 0)
    text += fmt::format("  {} tokens/s", count(std::llround(double(p.tokens) / step.time.value)));
  if (p.pipelined) {
    text += fmt::format("  outside fwd/bwd {}", format_whole_percent(step.outside_cells));
    if (p.predicted_outside_cells)
      text += fmt::format(" (predicted {})", format_whole_percent(*p.predicted_outside_cells));
  }
  if (p.left) text += fmt::format("  eta {}", format_clock(*p.left));
  return text;
}

std::string format_csv_line(const planner::TrainedStep& step) {
  return fmt::format("{},{},{},{}\n", step.step, step.loss, step.gradient_norm, step.time.value);
}

std::string render_run_text(const planner::RunSummary& s, const Paint& paint) {
  if (s.steps.empty()) return "stopped before the first step was done\n";
  std::string out = write_opening(s) + "\n";
  if (!s.sent.empty()) out += make_sent_table(s).text(paint) + "\n";
  out += paint.bold("predicted vs measured") + "\n" + make_figure_table(s).text(paint, "  ");
  if (!s.predicted)
    out +=
        "  no predicted time: run rankwright probe -o cluster.yaml on this machine, then pass "
        "--cluster cluster.yaml\n";
  if (!s.bytes_equal())
    out += paint.severity(Severity::warning, "warning") +
           ": calls or bytes differ from the prediction\n";
  if (s.broken() > 0)
    out += paint.severity(Severity::warning, "warning") +
           fmt::format(": the loss is not a number since step {}\n", count(s.broken()));
  return out;
}

}  // namespace rankwright::report
