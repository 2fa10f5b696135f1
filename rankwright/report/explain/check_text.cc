#include "rankwright/report/explain/check_text.h"

#include <fmt/format.h>

#include "rankwright/base/format.h"
#include "rankwright/planner/input/run_input.h"
#include "rankwright/report/explain/findings.h"
#include "rankwright/report/explain/waterfall_text.h"
#include "rankwright/report/render/labels.h"

namespace rankwright::report {
namespace {

std::string summarize_plan(const plan::TrainingConfig& s, const planner::CheckAnswer& answer) {
  const plan::Plan& p = s.plan;
  std::string product = fmt::format("{} = tp {}", s.world, p.tp);
  if (p.cp > 1) product += fmt::format(" x cp {}", p.cp);
  product += fmt::format(" x pp {} x dp {}", p.pp, p.dp);
  std::string text = fmt::format("{}\n{}\n", product, format_degree_tags(s));
  if (answer.estimate) text += figures(s, *answer.estimate) + "\n";
  if (s.calibrated) text += planner::describe_calibration(s) + "\n";
  if (answer.proof)
    text += fmt::format("{}: {} actions on {} run to their end, with or without buffered sends\n",
                        name(s.plan.schedule), count(answer.proof->actions),
                        plural(p.pp, "pp rank", "pp ranks"));
  return text + "\n";
}

std::string summarize_schedule(const rules::CheckedSchedule& s) {
  return fmt::format(
      "{}, {}, {}: {} actions\nno rank waits for ever, with or without buffered sends; every send "
      "has its receive\n\n",
      plural(s.pp, "pp rank", "pp ranks"), plural(s.stages, "stage", "stages"),
      plural(s.microbatches, "microbatch", "microbatches"), count(s.actions));
}

}  // namespace

std::string summarize_check(const planner::CheckAnswer& answer) {
  if (has_errors(answer.findings)) return {};
  if (answer.schedule) return summarize_schedule(*answer.schedule);
  return answer.config ? summarize_plan(*answer.config, answer) : std::string();
}

std::string render_check_text(const planner::CheckAnswer& answer, const Paint& paint,
                              bool summary) {
  return (summary ? summarize_check(answer) : "") +
         (answer.findings.empty()
              ? "nothing found\n"
              : render_findings_text(answer.findings, answer.file.name, answer.file.text, paint));
}

}  // namespace rankwright::report
