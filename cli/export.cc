// `rankwright export`: writes a plan as the files of a framework or a launcher.
#include "rankwright/planner/export.h"

#include <fmt/format.h>

#include <filesystem>
#include <ostream>

#include "cli/format_list.h"
#include "cli/io/print_refusal.h"
#include "cli/options.h"
#include "cli/plan_input.h"
#include "cli/verb.h"
#include "rankwright/planner/plan/source_files.h"
#include "rankwright/report/plan/export_json.h"

namespace rankwright::cli {
namespace {

std::string joined_names() {
  return fmt::format("{}", fmt::join(planner::list_export_targets(), ", "));
}

std::string list_targets() {
  std::vector<FormatRow> rows;
  for (const exporter::Exporter* exporter : exporter::exporters())
    rows.push_back(
        {"", row(exporter->target).name, exporter->summary, row(exporter->target).checked});
  return make_format_list(rows);
}

/// Reads the hosts from the file of that name if it exists, else from the comma-separated list.
planner::HostNames host_names(const std::string& argument) {
  std::error_code failed;
  if (!argument.empty() && std::filesystem::exists(argument, failed))
    return {.file = rankwright::planner::read_source(argument)};
  return {.list = argument};
}

/// Saves the files. -o is a folder for all files, or the path of the first file, with the others
/// next to it.
int write_files(const std::vector<exporter::ExportFile>& files, const Options& options,
                const Io& io) {
  namespace fs = std::filesystem;
  std::error_code failed;
  const fs::path out = options.output();
  const bool folder = !out.empty() && (fs::is_directory(out, failed) || !out.has_filename() ||
                                       (files.size() > 1 && !out.has_extension()));
  if (files.size() == 1 && !folder) return options.write(files.front().text, io);
  if (options.output().empty()) {
    io.err << fmt::format(
        "rankwright export: showing the first of {} files; -o FOLDER writes all\n", files.size());
    return options.print(files.front().text, io);
  }
  if (folder) fs::create_directories(out, failed);
  for (const exporter::ExportFile& file : files) {
    const bool named = !folder && &file == &files.front();
    const fs::path path = named ? out : (folder ? out : out.parent_path()) / file.name;
    if (const int code = options.save(file.text, path.string(), io)) return code;
  }
  return kOk;
}

}  // namespace

int export_plan(Args args, const Io& io) {
  Options options(verb("export"));
  options.keep_lines();
  PlanFlags flags;
  std::string to, hosts;
  bool strict = false, listed = false;
  options.add("plan", flags.plan, "plan file in any supported format, or -");
  options.add("--to", to, fmt::format("{}; default: the plan's target", joined_names()));
  options.add("--hosts", hosts,
              "host names for a launcher, in the cluster's order: n[0-7], or a file with one name "
              "per line");
  options.add_switch("--strict", strict,
                     "fail if the target has no setting for a part of the plan");
  options.add_switch("--list", listed, "list the targets and their tested versions");
  flags.add_to(options);
  if (const std::optional<int> done = options.parse(args, io)) return *done;
  if (listed) return options.write(list_targets(), io);
  if (flags.plan.empty()) {
    io.err << "rankwright export: missing plan\n"
              "  help: "
           << verb("export").example << "\n";
    return kUsage;
  }
  const std::filesystem::path out = options.output();
  std::error_code failed;
  const bool named =
      out.has_filename() && out != "-" && !std::filesystem::is_directory(out, failed);
  const planner::ExportRequest request{.plan = flags.source(io),
                                       .target = to,
                                       .hosts = host_names(hosts),
                                       .script = named ? out.filename().string() : "",
                                       .strict = strict};
  const planner::Outcome<planner::ExportAnswer> answer = rankwright::planner::export_plan(request);
  if (!answer) return print_refusal("export", answer.error(), io);
  const importer::PlanFile& file = answer->plan.file;
  for (const Diagnostics* findings : {&answer->memory, &answer->findings})
    if (!findings->empty()) print_findings(*findings, file.name, file.text, io);
  if (options.json()) return options.write(report::make_export_json(*answer), io);
  return write_files(answer->files, options, io);
}

}  // namespace rankwright::cli
