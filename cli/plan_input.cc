#include "cli/plan_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <istream>
#include <iterator>
#include <numeric>

#include "cli/run_input.h"
#include "rankwright/base/format.h"
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
  options.app().add_option("--model", model, "instead of the plan's: a name or a config.json");
  options.app().add_option("--cluster", cluster,
                           "instead of the plan's: \"dgx-h100 x 8\" or a cluster file");
  options.app()
      .add_option("--world", world, "ranks in all, where a framework's file does not say")
      ->check(CLI::Range(i64{1}, kMaxDevices));
}

Result<std::string> read_argument(const std::string& argument, const Io& io) {
  return argument == "-" ? read_all(io.in) : read_file(argument);
}

void PlanFlags::add_calibration_to(Options& options) {
  options.app().add_option("--calibrate", calibrate,
                           "the log of a run (Megatron-LM, torchtitan) that prices start from");
  options.app().add_option("--ran", ran, "with --calibrate: the plan that ran, if another");
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

namespace {

/// A framework's file mostly leaves the world to its launcher. Where nothing says it, whole nodes
/// are assumed that the stated degrees divide, or what the batch takes of them.
void assume_world(PlanFile& file) {
  constexpr i64 kNode = 8;
  Draft& d = file.draft;
  const bool foreign = file.format != nullptr && file.format->target != Target::any;
  if (!foreign || d.world || d.dp || d.shape || d.cluster) return;
  const i64 pp = d.pp.value_or(1), tp = d.tp.value_or(1);
  const std::optional<i64> dense = product({tp, d.cp.value_or(1), pp});
  const std::optional<i64> sparse = product({d.etp.value_or(1), d.ep.value_or(1), pp});
  if (!dense || !sparse || *dense > kMaxDevices || *sparse > kMaxDevices) return;
  i64 world = std::lcm(std::lcm(*dense, *sparse), kNode);
  // The three say how many data ranks there are.
  if (d.global_batch && d.accumulation && d.micro_batch) return;
  if (d.global_batch) {
    const i64 rest = *d.global_batch / d.micro_batch.value_or(1) / d.accumulation.value_or(1);
    world = *dense * std::gcd(world / *dense, std::max<i64>(1, rest));
  }
  if (world > kMaxDevices || !divides(*sparse, world)) return;
  d.world = world;
  file.findings.push_back({.code = "RW0615",
                           .severity = Severity::note,
                           .message = "something that the file leaves open is assumed",
                           .detail = fmt::format("how many ranks there are: {}", count(world)),
                           .hint = "--world N, or --cluster",
                           .where = {.file = file.name}});
}

}  // namespace

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
