// `rankwright import`: converts another tool's file to a plan file or a cluster file.
#include "rankwright/planner/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "cli/format_list.h"
#include "cli/io/print_refusal.h"
#include "cli/options.h"
#include "cli/plan_input.h"
#include "cli/verb.h"
#include "rankwright/base/format.h"
#include "rankwright/base/shell_word.h"
#include "rankwright/export/cluster_file.h"
#include "rankwright/export/model_file.h"
#include "rankwright/import/cluster/cluster_format.h"
#include "rankwright/import/log/run_log.h"
#include "rankwright/import/plan/plan_format.h"
#include "rankwright/import/syntax/file.h"
#include "rankwright/report/explain/findings.h"
#include "rankwright/report/explain/refusal_text.h"
#include "rankwright/report/plan/import_text.h"

namespace rankwright::cli {
namespace {

struct ImportFlags {
  std::vector<std::string> files{};
  std::string device{};
  std::optional<i64> hosts{};
  std::string collective{};
};

std::string list_formats() {
  std::vector<FormatRow> rows;
  for (const importer::PlanFormat& format : importer::plan_formats())
    rows.push_back({"plans", format.name, format.summary,
                    format.target == rules::Target::any ? "" : row(format.target).checked});
  for (const importer::ClusterFormat& format : importer::cluster_formats())
    rows.push_back({"clusters", format.name, format.summary, format.checked});
  rows.push_back({"models", "huggingface", "config.json and its safetensors index",
                  "the configs of tests/data/hf"});
  for (const importer::LogFormat& format : importer::log_formats()) {
    const rules::TargetRow* const target = rules::find_target(format.name);
    rows.push_back({"logs, for compare --log and --calibrate", format.name, format.summary,
                    target == nullptr ? "" : target->checked});
  }
  return make_format_list(rows);
}

void tell_passed_over(const importer::PlanFile& file, const Io& io) {
  constexpr std::size_t kShown = 12;
  if (file.ignored_keys.empty()) return;
  io.err << fmt::format("ignored: does not affect the layout: {}",
                        plural(i64(file.ignored_keys.size()), "key", "keys"));
  for (std::size_t i = 0; i < std::min(kShown, file.ignored_keys.size()); ++i)
    io.err << (i == 0 ? ": " : ", ") << file.ignored_keys[i];
  io.err << (file.ignored_keys.size() > kShown ? ", ...\n" : "\n");
}

int write(const planner::ImportedPlan& plan, const Options& options, const Io& io) {
  const importer::PlanFile& file = plan.input.file;
  if (options.json()) return options.write(report::make_imported_plan_json(plan), io);
  if (const int failed = options.write(report::render_imported_plan(plan), io)) return failed;
  if (options.quiet()) return kOk;
  tell_passed_over(file, io);
  if (!plan.findings.empty())
    io.err << fmt::format("{} · rankwright check {}\n", report::count_findings(plan.findings),
                          quote_shell_path(file.name));
  return kOk;
}

int write(const planner::ImportedCluster& made, const Options& options, const Io& io) {
  if (const int failed =
          options.write(exporter::write_cluster_yaml(made.cluster, made.origins), io))
    return failed;
  if (!options.quiet()) io.err << report::render_findings_in(made.sources, made.findings);
  return kOk;
}

int write(const planner::ImportedModel& made, const Options& options, const Io& io) {
  if (const int failed = options.write(exporter::write_model_yaml(made.model, made.origins), io))
    return failed;
  if (!options.quiet()) print_findings(made.findings, "", "", io);
  return kOk;
}

/// Reads every file once, because standard input and pipes can be read only once.
std::vector<planner::SourceFile> read_once(const std::vector<std::string>& names, const Io& io) {
  std::vector<planner::SourceFile> files;
  for (const std::string& name : names) {
    const auto same =
        std::find_if(files.begin(), files.end(),
                     [&](const planner::SourceFile& file) { return file.name == name; });
    files.push_back(same != files.end() ? planner::SourceFile(*same) : read_source(name, io));
  }
  return files;
}

}  // namespace

int import_plan(Args args, const Io& io) {
  Options options(verb("import"));
  options.keep_lines();
  PlanFlags plan;
  ImportFlags flags;
  std::string from;
  bool listed = false;
  options.add("file", flags.files,
              "framework config, script or log, or -; or files that describe a cluster");
  options.add("--from", from, "format of the file, if it is not detected");
  options.add_switch("--list", listed, "list the supported formats");
  plan.add_to(options);
  options.add("--device", flags.device, "cluster: GPU type, if no file gives it");
  options.add("--hosts", flags.hosts, "cluster: number of hosts")
      .range(i64{1}, cluster::kMaxDevices);
  options.add("--collective", flags.collective,
              "nccl-tests output: the measured collective, if it does not say");
  if (const std::optional<int> done = options.parse(args, io)) return *done;
  if (listed) return options.write(list_formats(), io);
  if (flags.files.empty()) {
    io.err << "rankwright import: missing file\n"
              "  help: "
           << verb("import").example << "\n";
    return kUsage;
  }
  const Result<importer::ShellInput> variables = plan.read_variables();
  if (!variables)
    return print_usage_fault("import", "--set: " + variables.error().detail, variables.error().hint,
                             io);
  const planner::Outcome<planner::ImportAnswer> answer =
      planner::import_file({.inputs = read_once(flags.files, io),
                            .from = from,
                            .model = plan.model,
                            .cluster = plan.cluster,
                            .world = plan.world,
                            .device = flags.device,
                            .hosts = flags.hosts,
                            .collective = flags.collective,
                            .files = importer::read_file,
                            .variables = *variables});
  if (!answer) return print_refusal("import", answer.error(), io);
  return std::visit([&](const auto& made) { return write(made, options, io); }, *answer);
}

}  // namespace rankwright::cli
