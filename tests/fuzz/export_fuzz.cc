// Any plan that a target runs is exported to files that are data or code of ours alone: each is
// read by its own language's parser, names enter comments in a safe alphabet only, and code does
// not depend on them. The checks here share nothing with the exporters.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "rankwright/export/exporter.h"
#include "rankwright/export/launcher/host_table.h"
#include "rankwright/import/plan/plan_file.h"
#include "rankwright/import/syntax/toml_tree.h"
#include "rankwright/plan/constraint_violation.h"
#include "tests/fuzz/fuzz.h"

namespace rankwright {
namespace {

constexpr std::string_view kEncoding = "# -*- coding: utf-8 -*-";
constexpr i64 kMaxWorld = 512, kMaxCells = 20'000;  // files grow with both

/// Every text of a config that comes from input and that nothing is decided by.
std::vector<std::string*> names_of(plan::TrainingConfig& s) {
  std::vector<std::string*> names = {&s.model.name, &s.cluster.name, &s.cluster.device.name,
                                     &s.cluster.device.source, &s.cluster.device.verified};
  for (cluster::Level& level : s.cluster.levels) names.push_back(&level.name);
  return names;
}

/// Names of hosts: those names that a host may have, then n0, n1, ...
std::vector<std::string> hosts_of(plan::TrainingConfig& s) {
  std::vector<std::string> hosts;
  const std::size_t count = std::size_t(exporter::count_hosts_to_name(s));
  for (const std::string* const name : names_of(s))
    if (exporter::is_host_name(*name) && hosts.size() < count &&
        std::find(hosts.begin(), hosts.end(), *name) == hosts.end())
      hosts.push_back(*name);
  for (std::size_t i = 0; hosts.size() < count; ++i) hosts.push_back("_n" + std::to_string(i));
  return hosts;
}

bool has_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return text.find(word) != std::string_view::npos;
  });
}

void check_comment(std::string_view line) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool ascii = line[i] >= ' ' && line[i] <= '~';
    const bool ours = static_cast<unsigned char>(line[i]) >= 0x80;
    RW_CHECK(ascii || ours);
  }
  for (std::string_view rest = line; !rest.empty();) {
    if (static_cast<unsigned char>(rest[0]) < 0x80) {
      rest.remove_prefix(1);
      continue;
    }
    const bool sign = rest.starts_with("\xC2\xB7") || rest.starts_with("\xC2\xB1") ||
                      rest.starts_with("\xC3\x97");
    RW_CHECK(sign || rest.starts_with("\xE2\x86\x92") || rest.starts_with("\xE2\x80\xA6"));
    rest.remove_prefix(sign ? 2 : 3);
  }
  RW_CHECK(!has_any(line, {"coding:", "coding=", " vim:", " vi:", " ex:", "server:", "-*-", "$("}));
  RW_CHECK(line.size() < 1200);
}

/// A directive of Slurm: its flag, and a value without blanks or quotes.
void check_directive(std::string_view line) {
  RW_CHECK(line.starts_with("#SBATCH --"));
  for (const char c : line.substr(8))
    RW_CHECK((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             std::string_view("-=._,[]").find(c) != std::string_view::npos);
}

/// The lines of a file without its comments, which are checked.
std::string code_of(const exporter::ExportFile& file) {
  std::string code;
  std::string_view text = file.text;
  for (bool first = true; !text.empty(); first = false) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (first && file.name.ends_with(".py")) {
      RW_CHECK(line == kEncoding);
    } else if (line.starts_with("#SBATCH")) {
      check_directive(line);
      code += std::string(line) + "\n";
    } else if (line.starts_with("#")) {
      if (line.starts_with("#!")) RW_CHECK(first && line == "#!/usr/bin/env bash");
      check_comment(line);
    } else {
      code += std::string(line) + "\n";
    }
  }
  return code;
}

/// Code of ours is ASCII on lines of its own.
void check_code(std::string_view code) {
  for (const char c : code) RW_CHECK(c == '\n' || (c >= ' ' && c <= '~'));
}

void check_parsed(const exporter::ExportFile& file) {
  if (file.name.ends_with(".json")) {
    const nlohmann::json config = nlohmann::json::parse(file.text, nullptr, false);
    RW_CHECK(config.is_object());
    for (const nlohmann::json& line : config["_comment"]) check_comment(line.get<std::string>());
  } else if (file.name.ends_with(".toml")) {
    RW_CHECK(importer::read_toml_tree(file.text, file.name).has_value());
  } else if (file.name.ends_with(".yaml")) {
    RW_CHECK(importer::read_yaml(file.text, file.name).has_value());
  }
}

/// The plan file reads back with the same names.
void check_plan_file(const exporter::ExportFile& file, plan::TrainingConfig config) {
  const importer::PlanFile read = importer::read_plan(file.text, file.name, importer::refuse_file);
  RW_CHECK(!has_errors(read.findings));
  plan::TrainingConfig again = resolve(read.draft);
  const std::vector<std::string*> before = names_of(config), after = names_of(again);
  RW_CHECK(before.size() == after.size());
  for (std::size_t i = 0; i < before.size(); ++i) RW_CHECK(*before[i] == *after[i]);
}

void check_exporter(const exporter::Exporter& exporter, const plan::TrainingConfig& config,
                    const plan::TrainingConfig& plain, const exporter::ExportOptions& options) {
  const std::vector<exporter::ExportFile> files = export_plan(exporter, config, options);
  const std::vector<exporter::ExportFile> others = export_plan(exporter, plain, options);
  RW_CHECK(!files.empty() && files.size() == others.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    check_parsed(files[i]);
    if (exporter.target == rules::Target::rankwright) {
      check_plan_file(files[i], config);
    } else if (!files[i].name.ends_with(".json")) {
      const std::string code = code_of(files[i]);
      check_code(code);
      RW_CHECK(code == code_of(others[i]));
    }
  }
}

}  // namespace
}  // namespace rankwright

int fuzz_export(const std::uint8_t* data, std::size_t size) {
  using namespace rankwright;
  const importer::PlanFile file =
      importer::read_plan(std::string(as_text(data, size)), "fuzz.yaml", importer::refuse_file);
  if (has_errors(file.findings)) return 0;
  plan::TrainingConfig config = resolve(file.draft);
  if (config.world > kMaxWorld || config.model.layers() > kMaxWorld || find_first_violation(config))
    return 0;
  const std::optional<i64> cells =
      product({config.plan.pp, config.plan.virtual_stages, config.microbatches()});
  if (!cells || *cells > kMaxCells) return 0;
  plan::TrainingConfig plain = config;
  for (std::string* const name : names_of(plain)) *name = "plain";
  const std::vector<std::string> hosts = hosts_of(config);
  for (const exporter::Exporter* one : exporter::exporters()) {
    const exporter::Exporter& exporter = *one;
    if (has_errors(lint(config, exporter.target))) continue;
    check_exporter(exporter, config, plain, {});
    if (row(exporter.target).launcher) check_exporter(exporter, config, plain, {.hosts = hosts});
  }
  return 0;
}
