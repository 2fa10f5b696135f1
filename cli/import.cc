// `rankwright import`: somebody else's file as a plan file of ours, or as a cluster file.
#include "cli/import.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>

#include "cli/call.h"
#include "cli/format_list.h"
#include "cli/options.h"
#include "cli/plan_input.h"
#include "cli/verb.h"
#include "rankwright/base/format.h"
#include "rankwright/export/plan_file.h"
#include "rankwright/import/plan_format.h"
#include "rankwright/import/run_log.h"
#include "rankwright/import/safetensors_index.h"
#include "rankwright/plan/misfit.h"
#include "rankwright/report/findings.h"
#include "rankwright/report/waterfall.h"
#include "rankwright/report/words.h"

namespace rankwright::cli {
namespace {

std::string list_formats() {
  std::vector<FormatRow> rows;
  for (const PlanFormat& format : plan_formats())
    rows.push_back({"plans", format.name, format.summary,
                    format.target == Target::any ? "" : row(format.target).checked});
  for (const ClusterFormat& format : cluster_formats())
    rows.push_back({"clusters", format.name, format.summary, format.checked});
  rows.push_back({"models", "huggingface", "config.json, and its safetensors index",
                  "the configs of tests/data/hf"});
  for (const LogFormat& format : log_formats())
    rows.push_back({"logs, by compare --log and --calibrate", format.name, format.summary,
                    find_target(format.name)->checked});
  return format_list(rows);
}

int unknown_format(const std::string& word, const Io& io) {
  std::vector<std::string> names;
  for (const PlanFormat& format : plan_formats()) names.emplace_back(format.name);
  for (const ClusterFormat& format : cluster_formats()) names.emplace_back(format.name);
  return unknown_name({"import", "format", word, names, "rankwright import --list shows them"}, io);
}

/// The plan file, with what was assumed beside each key.
std::string plan_text(const PlanInput& input) {
  PlanComments comments;
  comments.head = {fmt::format("From {} ({}).", input.file.name, input.file.format->summary),
                   headline(*input.setup)};
  if (misfits(*input.setup).empty()) comments.head.push_back(chips(*input.setup));
  for (const Assumption& assumed : input.setup->assumed)
    comments.beside.push_back(
        {assumed.key, assumed.why.empty() ? "assumed" : "assumed: " + assumed.why});
  return plan_yaml(*input.setup, comments);
}

/// Schema rankwright.import/1: the plan file as text, and what `check --json` says of the input.
std::string plan_json(const PlanInput& input, const Diagnostics& findings) {
  using Json = nlohmann::ordered_json;
  Json out{{"schema", "rankwright.import/1"},
           {"format", input.file.format->name},
           {"plan", plan_text(input)},
           {"passed_over", input.file.passed_over},
           {"check", Json::parse(findings_json(findings, input.file.name))}};
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void tell_passed_over(const PlanFile& file, const Io& io) {
  constexpr std::size_t kShown = 12;
  if (file.passed_over.empty()) return;
  io.err << fmt::format("passed over, as no matter of layout: {}",
                        plural(i64(file.passed_over.size()), "key", "keys"));
  for (std::size_t i = 0; i < std::min(kShown, file.passed_over.size()); ++i)
    io.err << (i == 0 ? ": " : ", ") << file.passed_over[i];
  io.err << (file.passed_over.size() > kShown ? ", ...\n" : "\n");
}

/// One file of a framework as a plan file.
int import_framework(PlanFlags flags, const Options& options, const Io& io) {
  const PlanInput input = read_input(flags, io);
  const Diagnostics findings = all_findings(input, Target::any);
  if (!input.setup) {
    tell(findings, input.file.name, input.file.text, io);
    return kUnreadable;
  }
  if (options.json()) return options.write(plan_json(input, findings), io);
  if (const int failed = options.write(plan_text(input), io)) return failed;
  if (options.quiet()) return kOk;
  tell_passed_over(input.file, io);
  if (!findings.empty())
    io.err << fmt::format("{} · rankwright check {}\n", tally(findings), input.file.name);
  return kOk;
}

/// By what the first file is, unless --from says.
int dispatch(PlanFlags plan, ImportFlags flags, const std::string& from, const Options& options,
             const Io& io) {
  const std::string& file = flags.files.front();
  flags.format = find_cluster_format(from);
  plan.format = find_plan_format(from);
  if (claims_safetensors_index(file, "")) return import_model(flags, options, io);
  const Result<std::string> text = read_argument(file, io);
  if (!text) {
    tell({text.error()}, file, "", io);
    return kUnreadable;
  }
  std::istringstream again(*text);  // standard input is read once, and so is a pipe
  Call own;
  Call* const call = io.call != nullptr ? io.call : &own;
  if (file != "-") call->texts.emplace(file, *text);
  const Io anew{.in = again,
                .out = io.out,
                .err = io.err,
                .color = io.color,
                .width = io.width,
                .err_terminal = io.err_terminal,
                .call = call};
  const bool open = from.empty();
  if (flags.format != nullptr ||
      (open && (flags.about_clusters() || claiming_cluster_format(file, *text) != nullptr)))
    return import_cluster(flags, *text, options, anew);
  if (open && claims_hf_config(file, *text)) return import_model(flags, options, anew);
  if (flags.files.size() > 1) {
    io.err << fmt::format(
        "rankwright import: one thing too many: '{}'\n  help: several files make a cluster; a plan "
        "is made of one\n",
        excerpt(flags.files[1]));
    return kUsage;
  }
  plan.plan = file;
  return import_framework(plan, options, anew);
}

}  // namespace

int import_plan(Args args, const Io& io) {
  Options options(verb("import"));
  PlanFlags plan;
  ImportFlags flags;
  std::string from;
  bool listed = false;
  options.add("file", flags.files,
              "a framework's config, script or log, or -; or one or more files about a cluster");
  options.add("--from", from, "its format, where its name and text do not say");
  options.add_switch("--list", listed, "list what is read");
  plan.add_to(options);
  options.add("--device", flags.device, "of a cluster: its GPU, where no file says");
  options.add("--hosts", flags.hosts, "of a cluster: how many hosts there are")
      .range(i64{1}, kMaxDevices);
  options.add("--collective", flags.collective,
              "of nccl-tests' output: what it measured, where it does not say");
  if (const std::optional<int> done = options.parse(args, io)) return *done;
  if (listed) return options.write(list_formats(), io);
  if (flags.files.empty()) {
    io.err << "rankwright import: there is no file\n  help: " << verb("import").example << "\n";
    return kUsage;
  }
  if (!from.empty() && find_plan_format(from) == nullptr && find_cluster_format(from) == nullptr)
    return unknown_format(from, io);
  flags.cluster = plan.cluster;
  return dispatch(plan, flags, from, options, io);
}

}  // namespace rankwright::cli
