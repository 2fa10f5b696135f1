#include "rankwright/planner/input/plan_input.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/import/cluster/cluster_file.h"
#include "rankwright/import/plan/model_file.h"
#include "rankwright/import/plan/plan_format.h"
#include "rankwright/plan/constraint_violation.h"
#include "rankwright/planner/input/assumptions.h"
#include "rankwright/planner/input/run_input.h"

namespace rankwright::planner {
namespace {

/// Removes the findings about a key of the plan file that an option replaces.
void drop_findings_of(std::string_view key, importer::PlanFile& file) {
  std::erase_if(file.findings, [&](const Diagnostic& found) {
    return found.key == key || found.key.starts_with(std::string(key) + ".");
  });
}

void override_model(importer::PlanFile& file, const PlanSource& source) {
  Result<model::Model> model = importer::read_model_argument(source.model, source.files);
  if (model) {
    file.draft.model = std::move(*model);
    // Notes on assumed shapes of the file's own model ask for the flag that is given.
    std::erase_if(file.findings, [](const Diagnostic& found) {
      return found.code == "RW0615" && found.hint.starts_with("--model");
    });
    return;
  }
  if (model.error().where.file.empty()) model.error().where.file = "--model";
  file.findings.push_back(std::move(model.error()));
}

/// Applies the run of the source's log. A plan with constraint violations keeps its constants: its
/// findings report the violations.
void calibrate_input(const PlanSource& source, PlanInput& input) {
  if (!input.config || !find_violations(*input.config).empty()) return;
  const auto refuse = [&](Diagnostic finding) {
    input.file.findings.push_back(std::move(finding));
    input.config.reset();
  };
  if (source.log->unreadable) return refuse(*source.log->unreadable);
  plan::TrainingConfig ran = *input.config;
  if (source.ran) {
    PlanSource other = source;
    other.plan = *source.ran;
    other.log.reset();
    const PlanInput read = read_input(other);
    if (!read.config || !find_violations(*read.config).empty())
      return refuse({.code = "RW0912",
                     .message = "missing value",
                     .detail = "the plan of --ran cannot be estimated",
                     .hint = "rankwright check " + source.ran->name,
                     .where = {.file = source.ran->name}});
    ran = *read.config;
  }
  const Result<std::shared_ptr<const plan::RunCalibration>> found =
      read_calibration(source.log->text, source.log->name, ran);
  if (!found) return refuse(found.error());
  calibrate_by(*input.config, *found);
}

}  // namespace

importer::PlanFile read_plan_source(const SourceFile& source, const importer::PlanFormat* format,
                                    const importer::FileReader& files,
                                    const importer::ShellInput& variables) {
  if (source.unreadable) {
    importer::PlanFile file{.name = source.name, .text = {}};
    file.findings.push_back(*source.unreadable);
    return file;
  }
  return format != nullptr ? read_plan_as(*format, source.text, source.name, files, variables)
                           : importer::read_any_plan(source.text, source.name, files, variables);
}

void override_input(const PlanSource& source, importer::PlanFile& file) {
  if (source.world) {
    file.draft.world = source.world;
    file.draft.shape.reset();
  }
  if (!source.model.empty()) {
    drop_findings_of("model", file);
    override_model(file, source);
  }
  if (!source.cluster.empty()) {
    drop_findings_of("cluster", file);
    file.draft.cluster =
        importer::read_cluster_argument(source.cluster, source.files, file.findings);
  }
  if (std::optional<Diagnostic> fault = apply_key_options(source.job, file.draft))
    file.findings.push_back(std::move(*fault));
}

PlanInput read_input(const PlanSource& source) {
  PlanInput input{.file =
                      read_plan_source(source.plan, source.format, source.files, source.variables)};
  override_input(source, input.file);
  assume_world(input.file);
  if (!has_errors(input.file.findings)) input.config = resolve(input.file.draft);
  if (input.config) {
    choose_placeholder(input);
    raise_assumed_world(input);
  }
  if (source.log) calibrate_input(source, input);
  return input;
}

rules::Target choose_target(std::optional<rules::Target> stated, const importer::PlanFile& file) {
  if (stated) return *stated;
  // A file of one framework may run another: accelerate starts DeepSpeed.
  if (file.draft.target && *file.draft.target != rules::Target::any) return *file.draft.target;
  if (file.format != nullptr && file.format->target != rules::Target::any)
    return file.format->target;
  return file.draft.target.value_or(rules::Target::any);
}

/// Makes errors of the findings at which the framework stops. Readers report them as warnings,
/// because the plan can be read and estimated in spite of them. A program with several flags that
/// the framework does not have is a fork: a name close to one of the framework's may be its own.
void raise_what_stops_the_framework(const importer::PlanFile& file, Diagnostics& findings) {
  constexpr std::size_t kForkKeys = 3;
  const bool strict = file.format->strict_names && file.unknown_keys < kForkKeys;
  for (Diagnostic& found : findings)
    if (found.code == "RW0616" || (found.code == "RW0617" && strict && found.respelling))
      found.severity = Severity::error;
}

Diagnostics list_findings(const PlanInput& input, std::optional<rules::Target> target) {
  Diagnostics findings = input.file.findings;
  const importer::PlanFormat* const format = input.file.format;
  if (format != nullptr) raise_what_stops_the_framework(input.file, findings);
  if (input.config) {
    const Diagnostics linted = lint(*input.config, choose_target(target, input.file));
    findings.insert(findings.end(), linted.begin(), linted.end());
    if (format != nullptr && format->against != nullptr)
      for (Diagnostic& found : format->against(input.file, *input.config))
        findings.push_back(std::move(found));
  }
  std::erase_if(findings, [&](const Diagnostic& d) {
    const std::vector<std::string_view>& answered = input.file.answered;
    return std::find(answered.begin(), answered.end(), d.code) != answered.end();
  });
  weaken_assumed(input, findings);
  for (Diagnostic& d : findings) {
    if (d.where.file.empty()) d.where = input.file.where(d.key);
    if (format == nullptr || format->spell == nullptr || d.fix.empty()) continue;
    d.hint = spell_edits(*format, d.fix, input.file.spell);  // the fix in the syntax of this file
    d.fix.clear();
  }
  sort(findings);
  return findings;
}

Outcome<std::optional<rules::Target>> read_target(const std::string& word) {
  if (word.empty()) return std::nullopt;
  if (word == "any") return rules::Target::any;
  if (const rules::TargetRow* const row = rules::find_target(word)) return row->target;
  std::vector<std::string> names{"any"};
  for (const rules::TargetRow& row : rules::targets()) names.emplace_back(row.name);
  const std::string hint = fmt::format("--for accepts {}", fmt::join(names, ", "));
  return tl::unexpected(unknown_name({"target", word, std::move(names), hint}));
}

Outcome<ValidPlan> read_valid_plan(const PlanSource& source, std::optional<rules::Target> target) {
  return require_valid(read_input(source), target);
}

Outcome<ValidPlan> require_valid(PlanInput input, std::optional<rules::Target> target) {
  Diagnostics findings = list_findings(input, target);
  if (input.config && find_violations(*input.config).empty())
    return ValidPlan{std::move(input), std::move(findings)};
  return tl::unexpected(
      Refusal{.kind = input.config ? Refusal::Kind::refused : Refusal::Kind::unreadable,
              .findings = std::move(findings),
              .file = {std::move(input.file.name), std::move(input.file.text)}});
}

}  // namespace rankwright::planner
