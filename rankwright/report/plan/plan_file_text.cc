#include "rankwright/report/plan/plan_file_text.h"

#include "rankwright/export/comment.h"
#include "rankwright/export/plan_file.h"
#include "rankwright/report/explain/waterfall_text.h"
#include "rankwright/report/plan/search_sentences.h"
#include "rankwright/report/render/labels.h"

namespace rankwright::report {
namespace {

/// Writes a plan file. `stopped` says how far a stopped search had come; empty if it was complete.
std::string write_plan_file(const search::EvaluatedPlan& plan, const std::string& command,
                            const std::string& stopped) {
  const plan::TrainingConfig named = exporter::make_names_safe(plan.config);
  exporter::PlanComments comments;
  comments.head = {command, format_headline(named), format_degree_tags(named),
                   figures(named, plan.estimate)};
  if (!stopped.empty()) comments.head.push_back("stopped: " + stopped);
  return write_plan_yaml(plan.config, comments);
}

}  // namespace

std::string render_plan_file(const planner::PlanAnswer& answer, const std::string& command) {
  if (!answer.answer.best) return {};
  return write_plan_file(answer.best(), command, describe_stop(answer.answer));
}

std::string render_plan_file(const planner::PlansByCount& answer, const std::string& command) {
  if (!answer.chosen) return {};
  return write_plan_file(
      answer.chosen_plan(), command,
      answer.stopped != planner::StopReason::none ? "larger counts were not looked at" : "");
}

}  // namespace rankwright::report
