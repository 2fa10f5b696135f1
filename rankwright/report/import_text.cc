#include "rankwright/report/import_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "rankwright/export/comment.h"
#include "rankwright/export/plan_file.h"
#include "rankwright/import/plan_format.h"
#include "rankwright/report/findings.h"
#include "rankwright/report/words.h"

namespace rankwright {

std::string imported_plan_text(const ImportedPlan& plan) {
  const PlanFile& file = plan.input.file;
  const Setup& setup = *plan.input.setup;
  const Setup named = with_safe_names(setup);
  PlanComments comments;
  comments.head = {fmt::format("From {} ({}).", safe_name(file.name), file.format->summary),
                   headline(named)};
  if (plan.valid) comments.head.push_back(chips(named));
  for (const Assumption& assumed : setup.assumed)
    comments.beside.push_back(
        {assumed.key, assumed.why.empty() ? "assumed" : "assumed: " + assumed.why});
  return plan_yaml(setup, comments);
}

std::string imported_plan_json(const ImportedPlan& plan) {
  using Json = nlohmann::ordered_json;
  const PlanFile& file = plan.input.file;
  const Json out{{"schema", "rankwright.import/1"},
                 {"format", file.format->name},
                 {"plan", imported_plan_text(plan)},
                 {"passed_over", file.passed_over},
                 {"check", Json::parse(findings_json(plan.findings, file.name))}};
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace rankwright
