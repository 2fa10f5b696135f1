#include "rankwright/planner/import.h"

#include <fmt/format.h>

#include "rankwright/base/format.h"
#include "rankwright/import/cluster/cluster_format.h"
#include "rankwright/import/plan/plan_format.h"
#include "rankwright/import/plan/safetensors_index.h"
#include "rankwright/plan/constraint_violation.h"

namespace rankwright::planner {
namespace {

Refusal refuse_format(const std::string& word) {
  std::vector<std::string> names;
  for (const importer::PlanFormat& format : importer::plan_formats())
    names.emplace_back(format.name);
  for (const importer::ClusterFormat& format : importer::cluster_formats())
    names.emplace_back(format.name);
  return unknown_name({"format", word, names, "rankwright import --list lists the formats"});
}

}  // namespace

Outcome<ImportAnswer> import_file(const ImportRequest& request) {
  const bool detect = request.from.empty();
  const bool cluster_format = importer::find_cluster_format(request.from) != nullptr;
  if (!detect && !cluster_format && importer::find_plan_format(request.from) == nullptr)
    return tl::unexpected(refuse_format(request.from));
  const SourceFile& file = request.inputs.front();
  if (importer::claims_safetensors_index(file.name, "")) return import_model(request);
  if (file.unreadable)
    return tl::unexpected(Refusal{.kind = Refusal::Kind::unreadable,
                                  .findings = {*file.unreadable},
                                  .file = {file.name, {}}});
  if (cluster_format ||
      (detect && (request.about_clusters() ||
                  importer::find_claiming_format(file.name, file.text) != nullptr)))
    return import_cluster(request);
  if (detect && importer::claims_hf_config(file.name, file.text)) return import_model(request);
  if (request.inputs.size() > 1)
    return refuse_usage(
        fmt::format("unexpected argument '{}'", make_excerpt(request.inputs[1].name)),
        "a plan is imported from one file; several files describe a cluster");
  return import_framework(request);
}

Outcome<ImportAnswer> import_framework(const ImportRequest& request) {
  PlanInput input = read_input({.plan = request.inputs.front(),
                                .model = request.model,
                                .cluster = request.cluster,
                                .world = request.world,
                                .format = importer::find_plan_format(request.from),
                                .files = request.files,
                                .variables = request.variables});
  Diagnostics findings = list_findings(input);
  if (!input.config)
    return tl::unexpected(
        Refusal{.kind = Refusal::Kind::unreadable,
                .findings = std::move(findings),
                .file = {std::move(input.file.name), std::move(input.file.text)}});
  const bool valid = find_violations(*input.config).empty();
  return ImportedPlan{std::move(input), valid, std::move(findings)};
}

}  // namespace rankwright::planner
