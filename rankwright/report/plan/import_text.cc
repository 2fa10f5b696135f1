#include "rankwright/report/plan/import_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "rankwright/export/comment.h"
#include "rankwright/export/plan_file.h"
#include "rankwright/import/plan/plan_format.h"
#include "rankwright/report/explain/findings.h"
#include "rankwright/report/render/labels.h"

namespace rankwright::report {

std::string render_imported_plan(const planner::ImportedPlan& plan) {
  const importer::PlanFile& file = plan.input.file;
  const plan::TrainingConfig& config = *plan.input.config;
  const plan::TrainingConfig named = exporter::make_names_safe(config);
  exporter::PlanComments comments;
  comments.head = {
      fmt::format("From {} ({}).", exporter::safe_name(file.name), file.format->summary),
      format_headline(named)};
  if (plan.valid) comments.head.push_back(format_degree_tags(named));
  for (const plan::Assumption& assumed : config.assumed)
    comments.beside.push_back(
        {assumed.key, assumed.why.empty() ? "assumed" : "assumed: " + assumed.why});
  return write_plan_yaml(config, comments);
}

std::string make_imported_plan_json(const planner::ImportedPlan& plan) {
  using Json = nlohmann::ordered_json;
  const importer::PlanFile& file = plan.input.file;
  const Json out{{"schema", "rankwright.import/1"},
                 {"format", file.format->name},
                 {"plan", render_imported_plan(plan)},
                 {"ignored", file.ignored_keys},
                 {"check", Json::parse(make_findings_json(plan.findings, file.name))}};
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace rankwright::report
