#include "rankwright/report/explain/check_text.h"

#include <fmt/format.h>

#include <vector>

#include "rankwright/base/format.h"
#include "rankwright/planner/input/run_input.h"
#include "rankwright/report/explain/findings.h"
#include "rankwright/report/explain/waterfall_text.h"
#include "rankwright/report/render/labels.h"

namespace rankwright::report {
namespace {

std::string summarize_plan(const plan::TrainingConfig& s, const planner::CheckAnswer& answer) {
  const plan::Plan& p = s.plan;
  std::string product = fmt::format("{} = TP {}", s.world, p.tp);
  if (p.cp > 1) product += fmt::format(" x CP {}", p.cp);
  product += fmt::format(" x PP {} x DP {}", p.pp, p.dp);
  std::string text = fmt::format("{}\n{}\n", product, format_degree_tags(s));
  if (answer.estimate) text += figures(s, *answer.estimate) + "\n";
  if (s.calibrated) text += planner::describe_calibration(s) + "\n";
  if (answer.proof)
    text +=
        fmt::format("{} schedule verified, no deadlock: {} actions on {}\n", name(s.plan.schedule),
                    count(answer.proof->actions), plural(p.pp, "PP rank", "PP ranks"));
  return text + "\n";
}

std::string summarize_schedule(const rules::CheckedSchedule& s) {
  return fmt::format(
      "{}, {}, {}: {} actions\nschedule verified: no deadlock, and every send has its receive\n\n",
      plural(s.pp, "PP rank", "PP ranks"), plural(s.stages, "stage", "stages"),
      plural(s.microbatches, "micro-batch", "micro-batches"), count(s.actions));
}

}  // namespace

std::string summarize_check(const planner::CheckAnswer& answer) {
  if (has_errors(answer.findings)) return {};
  if (answer.schedule) return summarize_schedule(*answer.schedule);
  // A constraint violation of an assumed value is a note, and there is no estimate.
  return answer.config && answer.estimate ? summarize_plan(*answer.config, answer) : std::string();
}

Diagnostics join_findings(std::span<const planner::CheckAnswer> answers) {
  Diagnostics all;
  for (const planner::CheckAnswer& one : answers)
    all.insert(all.end(), one.findings.begin(), one.findings.end());
  return all;
}

std::string render_checks_text(std::span<const planner::CheckAnswer> answers, const Paint& paint,
                               std::size_t width) {
  std::string out;
  for (const planner::CheckAnswer& one : answers)
    out += write_findings(one.findings, one.file.name, one.file.text, paint, width);
  const Diagnostics all = join_findings(answers);
  const std::string found = count_findings(all);
  out += fmt::format("Checked {} files: {}.", answers.size(),
                     found.empty() ? "no problems found" : found);
  if (!all.empty()) out += fmt::format(" Details: rankwright explain {}", all.front().code);
  return out + "\n";
}

std::string make_checks_json(std::span<const planner::CheckAnswer> answers) {
  std::vector<FileFindings> files;
  for (const planner::CheckAnswer& one : answers) files.push_back({one.file.name, one.findings});
  return make_findings_json(files);
}

std::string render_check_text(const planner::CheckAnswer& answer, const Paint& paint,
                              std::size_t width, bool summary) {
  return (summary ? summarize_check(answer) : "") +
         (answer.findings.empty() ? "no problems found\n"
                                  : render_findings_text(answer.findings, answer.file.name,
                                                         answer.file.text, paint, width));
}

}  // namespace rankwright::report
