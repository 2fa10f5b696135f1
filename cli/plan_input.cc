#include "cli/plan_input.h"

#include <algorithm>
#include <istream>
#include <iterator>

#include "cli/call.h"
#include "cli/run_input.h"
#include "rankwright/import/cluster_file.h"
#include "rankwright/import/model_file.h"
#include "rankwright/import/plan_format.h"
#include "rankwright/import/run_log.h"
#include "rankwright/plan/misfit.h"

namespace rankwright::cli {
namespace {

/// All of standard input, but no more than a file may have.
std::string read_all(std::istream& in) {
  std::string text;
  char buffer[65536];
  while (text.size() <= kMaxFileBytes && in.read(buffer, sizeof buffer))
    text.append(buffer, sizeof buffer);
  text.append(buffer, std::size_t(in.gcount()));
  return text;
}

void override_model(PlanFile& file, const std::string& argument) {
  Result<Model> model = read_model_argument(argument, read_file);
  if (model) {
    file.draft.model = std::move(*model);
    return;
  }
  if (model.error().where.file.empty()) model.error().where.file = "--model";
  file.findings.push_back(std::move(model.error()));
}

/// A plan that cannot be is told so first.
void calibrate_input(const PlanFlags& flags, const Io& io, PlanInput& input) {
  if (!input.setup || !misfits(*input.setup).empty()) return;
  const auto refuse = [&](Diagnostic finding) {
    input.file.findings.push_back(std::move(finding));
    input.setup.reset();
  };
  const Result<std::string> text = read_long_file(flags.calibrate, kMaxLogBytes);
  if (!text) return refuse(text.error());
  Setup ran = *input.setup;
  if (!flags.ran.empty()) {
    PlanFlags other = flags;
    other.plan = flags.ran;
    other.calibrate.clear();
    const PlanInput read = read_input(other, io);
    if (!read.setup || !misfits(*read.setup).empty())
      return refuse({.code = "RW0912",
                     .message = "something is missing",
                     .detail = "the plan of --ran cannot be priced",
                     .hint = "rankwright check " + flags.ran,
                     .where = {.file = flags.ran}});
    ran = *read.setup;
  }
  const Result<std::shared_ptr<const RunCalibration>> found =
      read_calibration(*text, flags.calibrate, ran);
  if (!found) return refuse(found.error());
  calibrate_by(*input.setup, *found);
}

}  // namespace

void PlanFlags::add_to(Options& options) {
  options.add("--model", model, "instead of the plan's: a name or a config.json");
  options.add("--cluster", cluster, "instead of the plan's: \"dgx-h100 x 8\" or a cluster file");
  options.add("--world", world, "ranks in all, where a framework's file does not say")
      .range(i64{1}, kMaxDevices);
}

Result<std::string> read_argument(const std::string& argument, const Io& io) {
  if (argument == "-") return read_all(io.in);
  if (io.call != nullptr)
    if (const auto given = io.call->texts.find(argument); given != io.call->texts.end())
      return given->second;
  return read_file(argument);
}

void PlanFlags::add_calibration_to(Options& options) {
  options.add("--calibrate", calibrate,
              "the log of a run (Megatron-LM, torchtitan) that prices start from");
  options.add("--ran", ran, "with --calibrate: the plan that ran, if another");
}

PlanFile read_plan_argument(const std::string& argument, const Io& io, const PlanFormat* format) {
  Result<std::string> text = read_argument(argument, io);
  if (text && format != nullptr)
    return read_plan_as(*format, std::move(*text), argument, read_file);
  if (text) return read_any_plan(std::move(*text), argument, read_file);
  PlanFile file{.name = argument, .text = {}};
  file.findings.push_back(text.error());
  return file;
}

void override_input(const PlanFlags& flags, PlanFile& file) {
  if (flags.world) {
    file.draft.world = flags.world;
    file.draft.shape.reset();
  }
  if (!flags.model.empty()) override_model(file, flags.model);
  if (!flags.cluster.empty())
    file.draft.cluster = read_cluster_argument(flags.cluster, read_file, file.findings);
}

PlanInput read_input(const PlanFlags& flags, const Io& io) {
  PlanInput input{.file = read_plan_argument(flags.plan, io, flags.format)};
  override_input(flags, input.file);
  assume_world(input.file);
  if (!has_errors(input.file.findings)) input.setup = resolve(input.file.draft);
  if (!flags.calibrate.empty()) calibrate_input(flags, io, input);
  return input;
}

Diagnostics all_findings(const PlanInput& input, Target target) {
  Diagnostics findings = input.file.findings;
  const PlanFormat* const format = input.file.format;
  if (target == Target::any && format != nullptr) target = format->target;
  if (input.setup) {
    const Diagnostics linted = lint(*input.setup, target);
    findings.insert(findings.end(), linted.begin(), linted.end());
    if (format != nullptr && format->against != nullptr)
      for (Diagnostic& found : format->against(input.file, *input.setup))
        findings.push_back(std::move(found));
  }
  std::erase_if(findings, [&](const Diagnostic& d) {
    const std::vector<std::string_view>& answered = input.file.answered;
    return std::find(answered.begin(), answered.end(), d.code) != answered.end();
  });
  for (Diagnostic& d : findings) {
    if (d.where.file.empty()) d.where = input.file.where(d.key);
    if (format == nullptr || format->spell == nullptr || d.fix.empty()) continue;
    d.hint = spelt(*format, d.fix);  // what can be typed into this file
    d.fix.clear();
  }
  sort(findings);
  return findings;
}

}  // namespace rankwright::cli
