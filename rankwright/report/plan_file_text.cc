#include "rankwright/report/plan_file_text.h"

#include "rankwright/export/comment.h"
#include "rankwright/export/plan_file.h"
#include "rankwright/report/search_words.h"
#include "rankwright/report/waterfall_text.h"
#include "rankwright/report/words.h"

namespace rankwright {
namespace {

/// `stopped`: what a search that was stopped had looked at; empty where it was complete.
std::string file_text(const Priced& plan, const std::string& command, const std::string& stopped) {
  const Setup named = with_safe_names(plan.setup);
  PlanComments comments;
  comments.head = {command, headline(named), chips(named), figures(named, plan.estimate)};
  if (!stopped.empty()) comments.head.push_back("stopped: " + stopped);
  return plan_yaml(plan.setup, comments);
}

}  // namespace

std::string plan_file_text(const PlanAnswer& answer, const std::string& command) {
  if (!answer.answer.best) return {};
  return file_text(answer.best(), command, stopped_words(answer.answer));
}

std::string plan_file_text(const CountsAnswer& answer, const std::string& command) {
  if (!answer.chosen) return {};
  return file_text(answer.chosen_plan(), command,
                   answer.stopped != StopReason::none ? "larger counts were not looked at" : "");
}

}  // namespace rankwright
