#include "rankwright/report/compare/gap_text.h"

#include <fmt/format.h>

#include <cmath>

#include "rankwright/base/format.h"
#include "rankwright/report/explain/memory_text.h"
#include "rankwright/report/explain/waterfall_text.h"
#include "rankwright/report/render/labels.h"
#include "rankwright/report/render/markdown.h"
#include "rankwright/report/render/table.h"

namespace rankwright::report {
namespace {

constexpr std::size_t kShown = 3;  // number of explanations

/// A part of the report: a title, sentences, a table.
struct Block {
  std::string title;
  std::vector<std::string> lines{};
  std::optional<Table> table{};
};

/// Formats a ratio as a difference: "18 % longer", "4 % shorter".
std::string format_ratio(double ratio, std::string_view more, std::string_view less) {
  return fmt::format("{} {}", percent(std::abs(ratio - 1)), ratio >= 1 ? more : less);
}

std::string describe_measured(const importer::MeasuredStep& m) {
  std::string text = fmt::format("measured {} per step: the median of {}", show(m.median),
                                 plural(m.steps, "line", "lines"));
  if (m.steps > 1) text += fmt::format(", {} to {}", show(m.low), show(m.high));
  if (m.warm_up > 0) text += fmt::format("; {} of warm-up left out", m.warm_up);
  if (m.skipped > 0) text += fmt::format("; {} without an update left out", m.skipped);
  return text;
}

std::string describe_predicted(const validate::TimeGap& gap) {
  return fmt::format("predicted {} {}: {} {} than measured, {} the error",
                     show(gap.predicted.time()), format_band(gap.predicted.step_band),
                     percent(std::abs(gap.error())), gap.error() < 0 ? "less" : "more",
                     gap.inside() ? "which is inside" : "which is more than");
}

std::string format_sample(const importer::TimerSample& sample) {
  if (!sample.both || show(sample.min) == show(sample.max)) return show(sample.max);
  return fmt::format("{} to {}", show(sample.min), show(sample.max));
}

Table make_timer_table(const validate::TimeGap& gap) {
  Table table{{{"timer"},
               {"measured", kRight},
               {"predicted", kRight},
               {"difference", kRight},
               {"entries"}}};
  for (const validate::TimerGap& timer : gap.timers)
    table.rows.push_back({timer.name, format_sample(timer.measured), format_sample(timer.predicted),
                          (timer.difference() > Seconds{} ? "+" : "") + show(timer.difference()),
                          std::string(timer.entries)});
  return table;
}

/// Describes one explanation: the item, why it is possible, and how well the timers fit.
std::string describe_explanation(const validate::Explanation& e, bool timed) {
  std::string text = fmt::format("{}: {} {} instead of {}", e.name, row(e.item).name, show(e.after),
                                 show(e.before));
  if (e.factor != 1)
    text += fmt::format("; a factor of {:.2f}, where {:.2f} is {}: {}", e.factor,
                        e.factor > 1 ? e.plausible : 1 / e.plausible,
                        e.likely() ? "still plausible" : "the most that is plausible", e.reason);
  else
    text += fmt::format("; {}: {}", e.evidence, e.reason);
  if (timed) text += fmt::format("; timers then fit to {} of the step", percent(e.timer_residual));
  return text;
}

void add_time(std::vector<Block>& all, const planner::GapView& view) {
  const validate::TimeGap& gap = *view.time;
  all.push_back({"step", {describe_measured(gap.measured), describe_predicted(gap)}, {}});
  if (view.timed) all.push_back({"timers", {}, make_timer_table(gap)});
  if (gap.inside()) return;
  Block block{"", {}, {}};
  if (gap.explanations.empty())
    block.title = "nothing that is looked for explains it: another plan, or another machine";
  else if (!gap.explanations.front().likely())
    block.title =
        "nothing that is plausible explains it alone: several things together, or another "
        "plan that ran; nearest to it";
  else
    block.title = view.timed ? "most likely, and what comes after it"
                             : "one of these: a step alone does not tell which, timers would "
                               "(Megatron-LM: --timing-log-level 2)";
  for (std::size_t i = 0; i < std::min(kShown, gap.explanations.size()); ++i) {
    const validate::Explanation& e = gap.explanations[i];
    block.lines.push_back(fmt::format("{}. {}", i + 1, describe_explanation(e, view.timed)));
    if (!e.suggestion.empty()) block.lines.push_back("   look at: " + e.suggestion);
  }
  all.push_back(std::move(block));
}

void add_memory(std::vector<Block>& all, const validate::MemoryGap& gap) {
  const std::string who =
      gap.rank == importer::kUnknownRank ? "a rank" : fmt::format("rank {}", gap.rank);
  Block block{"memory", {}, {}};
  block.lines.push_back(
      fmt::format("{} {} {} at most; predicted {} ±{} on PP rank {}: {}, {} the error", who,
                  gap.figure == validate::MemoryFigure::allocated ? "allocates" : "reserves",
                  show_memory(gap.measured), show_memory(gap.predicted),
                  percent(std::round(100 * gap.band.within) / 100), gap.memory_estimate.pp_rank,
                  format_ratio(gap.measured / gap.predicted, "more", "less"),
                  gap.inside() ? "which is inside" : "which is more than"));
  if (!gap.inside() && !gap.explanations.empty() && !gap.explanations.front().likely())
    block.lines.push_back("nothing that is plausible explains it alone; nearest to it:");
  if (!gap.inside())
    for (std::size_t i = 0; i < std::min(kShown, gap.explanations.size()); ++i) {
      const validate::MemoryExplanation& e = gap.explanations[i];
      block.lines.push_back(
          e.factor == 1 ? fmt::format("{}. {}: {}", i + 1, e.name, e.evidence)
                        : fmt::format("{}. {} by a factor of {:.2f}{}: {}", i + 1, e.name, e.factor,
                                      e.likely() ? "" : ", more than is plausible", e.evidence));
      if (!e.suggestion.empty()) block.lines.push_back("   look at: " + e.suggestion);
    }
  all.push_back(std::move(block));
}

std::string format_edits(const rules::Change& change) {
  std::string text;
  for (const Edit& edit : change.edits())
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", edit.key, edit.value);
  return text;
}

void add_oom(std::vector<Block>& all, const validate::OomGap& gap) {
  Block block{"out of memory", {}, {}};
  const std::string who = gap.oom.rank ? fmt::format("rank {}", *gap.oom.rank) : "a rank";
  const std::string when = gap.oom.steps == 0 ? "before the first step was done"
                                              : fmt::format("after step {}", count(gap.oom.steps));
  block.lines.push_back(fmt::format("{} wanted {} and found {} free, {}{}", who,
                                    show_memory(gap.oom.wanted), show_memory(gap.oom.free), when,
                                    gap.oom.phase == importer::RunPhase::unknown
                                        ? ""
                                        : fmt::format(", in: {}", name(gap.oom.phase))));
  block.lines.push_back(fmt::format("{}{}",
                                    write_memory_title(gap.memory_estimate, gap.capacity, gap.band),
                                    gap.foreseen() ? ", as it did not" : ""));
  block.lines.push_back(
      fmt::format("the entry that found no room: {} ({} in the memory estimate): {}",
                  row(gap.entry).name, show_memory(gap.memory_estimate[gap.entry]), gap.why));
  if (gap.entry == cost::Entry::reserve)
    block.lines.push_back("try: PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True");
  for (const rules::FittingChange& fit : gap.fits)
    block.lines.push_back(fmt::format("try: {}: {} and {} per step", format_edits(fit.change),
                                      show_memory(fit.estimate.memory.total()),
                                      show(fit.estimate.time())));
  all.push_back(std::move(block));
}

std::vector<Block> make_blocks(const planner::GapView& view) {
  std::vector<Block> all;
  if (!view.settings.empty()) {
    Table table{{{"key"}, {"plan"}, {"log"}}};
    for (const planner::SettingGap& s : view.settings) table.rows.push_back({s.key, s.plan, s.log});
    all.push_back({"the log says otherwise than the plan: first make them the same", {}, table});
  }
  if (view.oom) add_oom(all, *view.oom);
  if (view.time) add_time(all, view);
  if (view.unsteady > 0)
    all.push_back(
        {"step",
         {fmt::format("{} in the log, and none to measure by: the first ones warm up, and "
                      "skipped ones do not update",
                      plural(view.unsteady, "step is", "steps are"))}});
  if (view.memory) add_memory(all, *view.memory);
  if (view.unledgered)
    all.push_back(
        {"memory",
         {"the run ended out of memory; the plan names no model, so there is no memory estimate to "
          "hold against it: --model says which"}});
  return all;
}

}  // namespace

std::string render_gap_text(const plan::TrainingConfig& config, const planner::GapView& view,
                            const Paint& paint, std::size_t width) {
  std::string text =
      fmt::format("{} against {}\n{}\n", view.log, view.plan, format_headline(config));
  for (const Block& block : make_blocks(view)) {
    text += "\n" + wrap_text(paint.bold(block.title), width, "");
    for (const std::string& line : block.lines)
      text += wrap_text(line, width, line.starts_with("   ") ? "     " : "  ");
    if (block.table) text += block.table->text(paint, "  ", width);
  }
  return text;
}

std::string render_gap_markdown(const plan::TrainingConfig& config, const planner::GapView& view) {
  std::string text =
      fmt::format("# {} against {}\n\n{}\n", escape_markdown(view.log), escape_markdown(view.plan),
                  escape_markdown(format_headline(config)));
  for (const Block& block : make_blocks(view)) {
    text += fmt::format("\n## {}\n\n", escape_markdown(block.title));
    for (const std::string& line : block.lines)
      text += (line.starts_with("   ") || line.starts_with("1.") || line.starts_with("2.") ||
                       line.starts_with("3.")
                   ? ""
                   : "- ") +
              escape_markdown(line) + "\n";
    if (block.table) text += block.table->markdown();
  }
  return text;
}

}  // namespace rankwright::report
