// The sentences of a report: what it comes to, the figures that stand first, what was searched, and
// which commands go on from it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankwright/report/page/report_view.h"

namespace rankwright::report {

/// How a plan stands, worst last. One that fits and was held against no other is neither good nor
/// slower.
enum class Standing : unsigned char { good, tie, fits, slower, unsure, refused };
std::string_view name(Standing);  // "good"

struct PlanVerdict {
  Standing standing{};
  std::string sentence{};
};
PlanVerdict plan_verdict(const planner::PlanReport& report);

struct KeyFigure {
  std::string_view name;
  std::string text;
  std::string detail;
};
std::vector<KeyFigure> key_figures(const planner::PlanReport& report);

/// The degree_tags, and what they leave out.
std::vector<std::string> list_all_tags(const plan::TrainingConfig& config);

/// Why this plan or another, and what ties; what was searched, and in which space. Empty where
/// nothing was.
std::vector<std::string> explain_choice(const planner::PlanReport& report);
std::vector<std::string> describe_certificate(const planner::PlanReport& report);

/// Why nothing was searched, and what to type. Empty where something was.
std::string explain_missing_search(const planner::PlanReport& report);

/// How the drawn step and the estimate go together.
std::string describe_drawn_step(const planner::PlanReport& report);

/// Whether the slices of a run are few enough to be drawn one by one.
bool can_be_drawn(const importer::RunTrace& run);

/// What a run took against what was predicted of it; of a report that has one.
std::string describe_measurement(const planner::PlanReport& report);

/// "8 layers, embedding".
std::string describe_contents(const plan::RankContents& on_rank);

/// Something to type next.
struct NextCommand {
  std::string what;
  std::string command;
  std::string remark;  // why it would be refused; else empty
};
std::vector<NextCommand> next_commands(const planner::PlanReport& report);

/// What was typed, so that it can be typed again.
std::string command_line(std::string_view verb, std::span<const std::string> words);

}  // namespace rankwright::report
