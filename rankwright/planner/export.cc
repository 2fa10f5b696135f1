#include "rankwright/planner/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace rankwright::planner {
namespace {

SourceFile file_of(const PlanInput& input) { return {input.file.name, input.file.text}; }

Refusal refuse_target(const std::string& word) {
  const std::string takes = fmt::format("--to accepts {}", fmt::join(list_export_targets(), ", "));
  if (word.empty()) return {.message = "missing --to: the plan has no target", .hint = takes};
  return unknown_name({"target", word, list_export_targets(), takes});
}

Diagnostics make_loss_findings(const std::vector<exporter::UnsupportedSetting>& lost,
                               const rules::TargetRow& target, bool strict,
                               const importer::PlanFile& file) {
  Diagnostics findings;
  for (const exporter::UnsupportedSetting& one : lost)
    findings.push_back({.code = "RW0602",
                        .severity = strict ? Severity::error : Severity::warning,
                        .message = fmt::format("{} has no setting for this", target.name),
                        .detail = fmt::format("{}: {}", one.key, one.why),
                        .key = one.key,
                        .where = file.where(one.key)});
  sort(findings);
  return findings;
}

/// Returns the host names; empty if none are given.
Outcome<std::vector<std::string>> read_names(const HostNames& hosts, const rules::TargetRow& target,
                                             const plan::TrainingConfig& config) {
  if (!hosts.given()) return std::vector<std::string>{};
  if (!target.launcher)
    return refuse_usage(fmt::format("--hosts: {} does not start ranks", target.name),
                        "use a launcher: --to slurm");
  Result<std::vector<std::string>> names = read_hosts_for(config, hosts);
  if (!names)
    return refuse_usage(fmt::format("--hosts: {}", names.error().detail), names.error().hint);
  return std::move(*names);
}

/// Returns whether the finding warns of a setting that the target's files state all the same, so
/// that it is not among the losses.
bool is_about_stated_setting(const Diagnostic& d, rules::Target target) {
  return std::ranges::any_of(rules::find_refusals(target), [&](const rules::Rule* rule) {
    return rule->expressible && rule->page.code == d.code;
  });
}

bool about_memory(const Diagnostic& d) { return d.code.starts_with("RW02"); }

}  // namespace

Outcome<ExportAnswer> export_plan(const ExportRequest& request) {
  ExportAnswer answer{.plan = read_input(request.plan)};
  const PlanInput& input = answer.plan;
  const rules::Target own = input.file.draft.target.value_or(rules::Target::any);
  const std::string name = request.target.empty() && own != rules::Target::any
                               ? std::string(row(own).name)
                               : request.target;
  const exporter::Exporter* const exporter = exporter::find_exporter(name);
  if (exporter == nullptr) return tl::unexpected(refuse_target(name));
  const rules::TargetRow& target = row(exporter->target);
  answer.exporter = exporter;
  Diagnostics findings = list_findings(input, exporter->target);
  for (const Diagnostic& d : findings)
    if (about_memory(d) && d.severity == Severity::error) answer.memory.push_back(d);
  std::erase_if(findings, about_memory);
  if (!input.config || has_errors(findings) || !find_violations(*input.config).empty())
    return tl::unexpected(
        Refusal{.kind = input.config ? Refusal::Kind::refused : Refusal::Kind::unreadable,
                .findings = std::move(findings),
                .file = file_of(input)});
  Outcome<std::vector<std::string>> hosts = read_names(request.hosts, target, *input.config);
  if (!hosts) {
    hosts.error().findings = std::move(answer.memory);
    hosts.error().file = file_of(input);
    return tl::unexpected(std::move(hosts.error()));
  }
  answer.lost = find_unsupported(*exporter, *input.config);
  answer.findings = make_loss_findings(answer.lost, target, request.strict, input.file);
  std::ranges::copy_if(findings, std::back_inserter(answer.findings), [&](const Diagnostic& d) {
    return is_about_stated_setting(d, exporter->target);
  });
  if (request.strict && !answer.lost.empty()) {
    Refusal refusal{.kind = Refusal::Kind::refused,
                    .findings = std::move(answer.findings),
                    .file = file_of(input)};
    if (answer.memory.empty()) return tl::unexpected(std::move(refusal));
    return tl::unexpected(Refusal{.kind = Refusal::Kind::refused,
                                  .findings = std::move(answer.memory),
                                  .file = file_of(input),
                                  .also = {std::move(refusal)}});
  }
  answer.files =
      exporter->write(*input.config, {.hosts = std::move(*hosts), .script = request.script},
                      make_head_lines(*exporter, *input.config));
  return answer;
}

std::vector<std::string> list_export_targets() {
  std::vector<std::string> names;
  for (const exporter::Exporter* exporter : exporter::exporters())
    names.emplace_back(row(exporter->target).name);
  return names;
}

}  // namespace rankwright::planner
