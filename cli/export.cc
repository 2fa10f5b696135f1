// `rankwright export`: a plan as the files that a framework or a launcher runs.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/call.h"
#include "cli/export_hosts.h"
#include "cli/format_list.h"
#include "cli/options.h"
#include "cli/plan_input.h"
#include "cli/verb.h"
#include "rankwright/export/exporter.h"

namespace rankwright::cli {
namespace {

std::vector<std::string> target_names() {
  std::vector<std::string> names;
  for (const Exporter& exporter : exporters()) names.emplace_back(row(exporter.target).name);
  return names;
}

std::string joined_names() { return fmt::format("{}", fmt::join(target_names(), ", ")); }

int unknown_target(const std::string& word, const Io& io) {
  const std::string takes = "--to takes " + joined_names();
  if (!word.empty()) return unknown_name({"export", "target", word, target_names(), takes}, io);
  io.err << fmt::format("rankwright export: --to is missing\n  help: {}\n", takes);
  return kUsage;
}

std::string list_targets() {
  std::vector<FormatRow> rows;
  for (const Exporter& exporter : exporters())
    rows.push_back({"", row(exporter.target).name, exporter.summary, row(exporter.target).checked});
  return format_list(rows);
}

std::string json(const Exporter& exporter, const std::vector<ExportFile>& files,
                 const std::vector<Lost>& lost) {
  using Json = nlohmann::ordered_json;
  Json out{{"schema", "rankwright.export/1"},
           {"target", row(exporter.target).name},
           {"checked", row(exporter.target).checked},
           {"files", Json::array()},
           {"lost", Json::array()}};
  for (const ExportFile& file : files)
    out["files"].push_back({{"name", file.name}, {"text", file.text}});
  for (const Lost& one : lost) out["lost"].push_back({{"key", one.key}, {"why", one.why}});
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Diagnostics as_findings(const std::vector<Lost>& lost, const TargetRow& target, bool strict,
                        const PlanFile& file) {
  Diagnostics findings;
  for (const Lost& one : lost)
    findings.push_back({.code = "RW0602",
                        .severity = strict ? Severity::error : Severity::warning,
                        .message = fmt::format("{} cannot say this", target.name),
                        .detail = fmt::format("{}: {}", one.key, one.why),
                        .key = one.key,
                        .where = file.where(one.key)});
  sort(findings);
  return findings;
}

/// What --hosts says goes into `names`; else it is told what is wrong.
std::optional<int> take_hosts(const std::string& argument, const Exporter& exporter,
                              const Setup& setup, std::vector<std::string>& names, const Io& io) {
  if (argument.empty()) return std::nullopt;
  const TargetRow& target = row(exporter.target);
  if (!target.launcher) {
    io.err << fmt::format(
        "rankwright export: --hosts: {} starts no ranks\n"
        "  help: a launcher does: --to slurm\n",
        target.name);
    return kUsage;
  }
  Result<std::vector<std::string>> hosts = hosts_for(setup, argument);
  if (!hosts) {
    io.err << fmt::format("rankwright export: --hosts: {}\n  help: {}\n", hosts.error().detail,
                          hosts.error().hint);
    return kUsage;
  }
  names = std::move(*hosts);
  return std::nullopt;
}

/// -o is a folder, which takes all files by their names, or the name of the first; the others then
/// stand beside it.
int write_files(const std::vector<ExportFile>& files, const Options& options, const Io& io) {
  namespace fs = std::filesystem;
  std::error_code failed;
  const fs::path out = options.output();
  const bool folder = !out.empty() && (fs::is_directory(out, failed) || !out.has_filename() ||
                                       (files.size() > 1 && !out.has_extension()));
  if (files.size() == 1 && !folder) return options.write(files.front().text, io);
  if (options.output().empty()) {
    io.err << fmt::format("rankwright export: the first of {} files; -o FOLDER writes them all\n",
                          files.size());
    return options.print(files.front().text, io);
  }
  if (folder) fs::create_directories(out, failed);
  for (const ExportFile& file : files) {
    const bool named = !folder && &file == &files.front();
    const fs::path path = named ? out : (folder ? out : out.parent_path()) / file.name;
    if (const int code = options.save(file.text, path.string(), io)) return code;
  }
  return kOk;
}

}  // namespace

int export_plan(Args args, const Io& io) {
  Options options(verb("export"));
  PlanFlags flags;
  std::string to, hosts;
  bool strict = false, listed = false;
  options.add("plan", flags.plan, "a plan, of any format that is read, or -");
  options.add("--to", to, joined_names());
  options.add("--hosts", hosts,
              "names for a launcher, in the cluster's order: n[0-7], or a file with "
              "one on each line");
  options.add_switch("--strict", strict, "fail where the target cannot say all of the plan");
  options.add_switch("--list", listed,
                     "list the targets, and the versions they were checked "
                     "against");
  flags.add_to(options);
  if (const std::optional<int> done = options.parse(args, io)) return *done;
  if (listed) return options.write(list_targets(), io);
  if (flags.plan.empty()) {
    io.err << "rankwright export: there is no plan\n  help: " << verb("export").example << "\n";
    return kUsage;
  }
  const Exporter* const exporter = find_exporter(to);
  if (exporter == nullptr) return unknown_target(to, io);

  const PlanInput input = read_input(flags, io);
  Diagnostics findings = all_findings(input, exporter->target);
  // What the target refuses is not written: the file would not run. Whether the plan fits in memory
  // is our opinion, and its error is known: that is said, and the file is written.
  Diagnostics room = findings;
  std::erase_if(room, [](const Diagnostic& d) {
    return d.severity != Severity::error || !d.code.starts_with("RW02");
  });
  std::erase_if(findings, [](const Diagnostic& d) { return d.code.starts_with("RW02"); });
  if (!input.setup || has_errors(findings)) {
    tell(findings, input.file.name, input.file.text, io);
    return input.setup ? kRefused : kUnreadable;
  }
  if (!room.empty()) tell(room, input.file.name, input.file.text, io);
  ExportOptions more;
  if (const std::optional<int> code = take_hosts(hosts, *exporter, *input.setup, more.hosts, io))
    return *code;
  const std::vector<Lost> lost = losses(*exporter, *input.setup);
  const Diagnostics told = as_findings(lost, row(exporter->target), strict, input.file);
  if (!told.empty()) tell(told, input.file.name, input.file.text, io);
  if (strict && !lost.empty()) return kRefused;
  const std::vector<ExportFile> files =
      exporter->write(*input.setup, more, head_lines(*exporter, *input.setup, lost));
  if (options.json()) return options.write(json(*exporter, files, lost), io);
  return write_files(files, options, io);
}

}  // namespace rankwright::cli
