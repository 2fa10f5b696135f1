// The sentences of a report: the verdict, the main figures, what was searched, and the next
// commands.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankwright/report/page/report_view.h"

namespace rankwright::report {

/// How good a plan is, best first. `fits` is a plan that fits but was not compared with others.
enum class Standing : unsigned char { good, tie, fits, slower, unsure, refused };
/// Returns the name: "good", ...
std::string_view name(Standing);

/// The standing of a plan and the sentence that explains it.
struct PlanVerdict {
  Standing standing{};
  std::string sentence{};
};
/// Says whether the plan fits and how fast it is compared with the fastest plan found.
PlanVerdict make_plan_verdict(const planner::PlanReport& report);

/// One of the main figures of a report, as text.
struct KeyFigure {
  std::string_view name;
  std::string text;
  std::string detail;
};
/// Lists step time, MFU, throughput and, if a model is given, memory.
std::vector<KeyFigure> list_key_figures(const planner::PlanReport& report);

/// Lists the degree tags and all other settings.
std::vector<std::string> list_all_tags(const plan::TrainingConfig& config);

/// Explains why the search prefers this plan or another, and which plans tie. Empty if nothing was
/// searched.
std::vector<std::string> explain_choice(const planner::PlanReport& report);
/// Describes the search and its space. Empty if nothing was searched.
std::vector<std::string> describe_certificate(const planner::PlanReport& report);

/// Says why nothing was searched and which command does. Empty if there was a search.
std::string explain_missing_search(const planner::PlanReport& report);

/// Explains the difference between the simulated step that is drawn and the estimate.
std::string describe_drawn_step(const planner::PlanReport& report);

/// Returns whether a run has few enough slices to draw each of them.
bool can_be_drawn(const importer::RunTrace& run);

/// Compares the measured run with the prediction. Requires: the report has a measured run.
std::string describe_measurement(const planner::PlanReport& report);

/// Describes the contents of a pp rank: "8 layers, embedding".
std::string describe_contents(const plan::RankContents& on_rank);

/// A suggested command.
struct NextCommand {
  std::string what;
  std::string command;
  std::string remark;  // the rules that would refuse it; empty if none
};
/// Lists the commands that go on from this report.
std::vector<NextCommand> list_next_commands(const planner::PlanReport& report);

/// Returns the command line, quoted so that it can be pasted into a shell.
std::string format_command_line(std::string_view verb, std::span<const std::string> words);

}  // namespace rankwright::report
