#include "cli/help/flag_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/help/completions.h"
#include "rankwright/catalog/failures.h"
#include "rankwright/catalog/glossary.h"
#include "rankwright/export/exporter.h"
#include "rankwright/import/cluster/cluster_format.h"
#include "rankwright/import/plan/plan_format.h"
#include "rankwright/import/plan/plan_keys.h"
#include "rankwright/planner/concept/concept_page.h"
#include "rankwright/planner/explain/sweep_keys.h"
#include "rankwright/report/catalog/catalog_text.h"
#include "rankwright/rules/rule.h"

namespace rankwright::cli {
namespace {

/// Returns the names of one kind of `rankwright catalog`: the first column is the name, the last
/// its description.
std::vector<Candidate> known(std::string_view kind) {
  const report::CatalogKind* const row = report::find_catalog_kind(kind);
  if (row == nullptr) return {};
  std::vector<Candidate> all;
  for (const std::vector<std::string>& cells : row->list().rows)
    all.push_back({cells.front(), cells.back()});
  return all;
}

Values models(Args) { return {known("models"), true}; }
Values system_names(Args) { return {known("systems"), true}; }
Values devices_by_name(Args) { return {known("devices")}; }

/// Returns only failure rates; the catalog's kind also has restarts and storage.
Values failure_rates(Args) {
  Values values;
  for (const catalog::FailureRow& row : catalog::list_failure_rows())
    if (row.kind == catalog::FailureRow::Kind::rate) values.names.push_back({row.name, row.system});
  return values;
}

Values frameworks(Args) {
  Values values;
  for (const rules::TargetRow& row : rules::targets())
    values.names.push_back({std::string(row.name), std::string(row.checked)});
  return values;
}

Values exports(Args) {
  Values values;
  for (const exporter::Exporter* exporter : exporter::exporters())
    values.names.push_back(
        {std::string(row(exporter->target).name), std::string(exporter->summary)});
  return values;
}

Values formats(Args) {
  Values values;
  for (const importer::PlanFormat& format : importer::plan_formats())
    values.names.push_back({std::string(format.name), std::string(format.summary)});
  for (const importer::ClusterFormat& format : importer::cluster_formats())
    values.names.push_back({std::string(format.name), std::string(format.summary)});
  return values;
}

Values backends(Args) { return {{{"mpi", "any machine"}, {"nccl", "NVIDIA GPUs"}}}; }

Values catalog_kind_names(Args) {
  Values values;
  for (const report::CatalogKind& kind : report::list_catalog_kinds())
    values.names.push_back({std::string(kind.name), std::string(kind.summary)});
  return values;
}

Values catalog_names(Args before) {
  return {before.empty() ? std::vector<Candidate>() : known(before.back())};
}

/// Returns the words that `explain` has a page about; a plan file is accepted too.
Values explained(Args) {
  Values values{.files = true};
  for (const rules::Page* page : rules::pages())
    values.names.push_back({std::string(page->code), std::string(page->title)});
  for (const importer::KeyRow& row : importer::key_rows()) {
    const std::string_view name = row.key.path.substr(row.key.path.rfind('.') + 1);
    const planner::ConceptPage* const page = planner::find_concept(name);
    if (page == nullptr || page->typed != name)  // overlap.tp: tp is a concept
      values.names.push_back({std::string(name), std::string(row.key.meaning)});
  }
  for (const catalog::Term& term : catalog::glossary()) {
    std::string name = term.name;
    std::replace(name.begin(), name.end(), ' ', '-');
    values.names.push_back({std::move(name), term.definition});
  }
  for (const planner::ConceptPage& page : planner::concept_pages())
    if (page.typed != page.term)
      values.names.push_back({std::string(page.typed), page.entry().definition});
  return values;
}

/// Returns each sweep with its usual range.
Values sweeps(Args) {
  Values values;
  for (const planner::SweepKey& key : planner::list_sweep_keys())
    values.names.push_back({fmt::format("{}={}", key.name, key.range), std::string(key.head)});
  return values;
}

Values shell_names(Args) {
  Values values;
  for (const ShellScript& shell : list_shell_scripts())
    values.names.push_back({std::string(shell.shell), {}});
  return values;
}

/// To complete a flag's values, add a row. An empty verb means all verbs.
struct ValueRow {
  std::string_view verb, option;
  Values (*values)(Args before);
};
constexpr ValueRow kValueRows[] = {
    {"", "--model", models},
    {"", "--cluster", system_names},
    {"", "--for", frameworks},
    {"", "--to", exports},
    {"", "--from", formats},
    {"", "--backend", backends},
    {"", "--device", devices_by_name},
    {"", "--failures", failure_rates},
    {"catalog", "kind", catalog_kind_names},
    {"catalog", "name", catalog_names},
    {"explain", "what", explained},
    {"explain", "--sweep", sweeps},
    {"completions", "shell", shell_names},
};

/// Value types that are files. TEXT is CLI11's default for values without a type name.
constexpr std::array<std::string_view, 4> kFileTypes = {"FILE", "TEXT", "LOG", "PLAN"};

bool lower_word(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

}  // namespace

std::vector<std::string> listed_words(std::string_view description) {
  std::vector<std::string> words;
  while (!description.empty()) {
    std::size_t end = description.size(), next = end;
    for (const std::string_view gap : {", or ", ", ", " or "}) {
      const std::size_t at = description.find(gap);
      if (at >= end) continue;
      end = at;
      next = at + gap.size();
    }
    if (lower_word(description.substr(0, end))) words.emplace_back(description.substr(0, end));
    description.remove_prefix(next);
  }
  return words.size() > 1 ? words : std::vector<std::string>();
}

Values list_values(std::string_view verb, const OptionRow& row, Args before) {
  const std::string_view option = row.positional() ? row.name : row.flags.back();
  for (const ValueRow& one : kValueRows)
    if ((one.verb.empty() || one.verb == verb) && one.option == option) return one.values(before);
  Values values;
  for (std::string& word : listed_words(row.type)) values.names.push_back({std::move(word)});
  values.files = std::find(kFileTypes.begin(), kFileTypes.end(), row.type) != kFileTypes.end();
  return values;
}

std::vector<Candidate> list_verb_names() {
  std::vector<Candidate> all;
  for (const Verb& one : verbs()) all.push_back({std::string(one.name), std::string(one.summary)});
  all.push_back({"help", "print help"});
  return all;
}

}  // namespace rankwright::cli
