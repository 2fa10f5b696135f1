#include "rankwright/planner/check.h"

#include "rankwright/catalog/catalog.h"
#include "rankwright/plan/constraint_violation.h"
#include "rankwright/planner/explain_timeline.h"
#include "rankwright/planner/typo_costs.h"

namespace rankwright::planner {
namespace {

CheckAnswer check_schedule_file(const SourceFile& file) {
  CheckAnswer answer{.file = file, .readable = false};
  if (file.unreadable) {
    answer.findings.push_back(*file.unreadable);
  } else if (const Result<program::WrittenSchedule> written =
                 program::parse_cells(file.text, file.name);
             !written) {
    answer.findings.push_back(written.error());
  } else {
    answer.readable = true;
    answer.schedule = rules::check_schedule(*written);
    answer.findings = answer.schedule->findings;
  }
  for (Diagnostic& d : answer.findings)
    if (d.where.file.empty()) d.where.file = file.name;
  sort(answer.findings);
  return answer;
}

}  // namespace

Outcome<CheckAnswer> check_plan(const CheckRequest& request) {
  if (is_schedule(request.plan.plan)) {
    if (request.target || request.plan.overrides())
      return refuse_plan_options("--for, --model and --cluster");
    return check_schedule_file(request.plan.plan);
  }
  PlanInput input = read_input(request.plan);
  CheckAnswer answer{.findings = list_findings(input, request.target),
                     .readable = input.config.has_value()};
  add_typo_costs(request.plan, input, answer.findings);
  answer.file = {std::move(input.file.name), std::move(input.file.text)};
  answer.config = std::move(input.config);
  if (!answer.config || !find_violations(*answer.config).empty()) return answer;
  answer.estimate = cost::estimate_closely(*answer.config, select_calibration(*answer.config));
  answer.proof = rules::prove_plan(*answer.config);
  if (answer.proof)
    answer.findings.insert(answer.findings.end(), answer.proof->findings.begin(),
                           answer.proof->findings.end());
  sort(answer.findings);
  return answer;
}

}  // namespace rankwright::planner
