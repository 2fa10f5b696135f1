#include "rankwright/planner/plan/plan_problem.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "rankwright/base/format.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/planner/input/plan_input.h"
#include "rankwright/planner/input/run_input.h"
#include "rankwright/planner/plan/plan_checks.h"
#include "rankwright/planner/plan/plan_defaults.h"
#include "rankwright/planner/plan/plan_options.h"

namespace rankwright::planner {
namespace {

using MaybeRefusal = std::optional<Refusal>;

bool states_a_plan(const importer::Draft& d) {
  return d.tp || d.cp || d.dp || d.pp || d.ep || d.etp;
}

/// Returns the refusal of a file with these findings.
Refusal refuse_unreadable(Diagnostics findings, std::string name, std::string text = {}) {
  return {.kind = Refusal::Kind::unreadable,
          .findings = std::move(findings),
          .file = {std::move(name), std::move(text)}};
}

/// Reads the plan file and applies the model, the cluster and the overrides of the request.
Outcome<importer::PlanFile> read_stated(const PlanRequest& request) {
  importer::PlanFile file;
  if (request.plan_file) file = read_plan_source(*request.plan_file, nullptr, request.files);
  override_input({.model = request.model, .cluster = request.cluster, .files = request.files},
                 file);
  if (has_errors(file.findings)) {
    sort(file.findings);
    return tl::unexpected(
        refuse_unreadable(std::move(file.findings), std::move(file.name), std::move(file.text)));
  }
  if (MaybeRefusal fault = apply_overrides(request.overrides, file.draft))
    return tl::unexpected(std::move(*fault));
  return file;
}

MaybeRefusal check_stated(const PlanRequest& request, const importer::Draft& draft) {
  if (!draft.model)
    return make_usage_refusal("missing --model", "--model llama-3.1-70b, or a config.json");
  if (!draft.cluster && !draft.world && !draft.shape)
    return make_usage_refusal("missing --cluster",
                              request.gpus
                                  ? "--cluster dgx-h100, or a file"  // grown to the requested size
                                  : "--cluster \"dgx-h100 x 8\", or a file");
  return std::nullopt;
}

/// Turns --nodes and --gpus-per-node into a number of GPUs. Fewer GPUs per node than it has make a
/// cluster of smaller nodes.
MaybeRefusal apply_nodes(PlanRequest& request, importer::Draft& draft) {
  if (!request.nodes) return std::nullopt;
  if (!draft.cluster)
    return make_usage_refusal("--nodes needs a cluster",
                              fmt::format("--cluster dgx-h100 --nodes {}", *request.nodes));
  cluster::Cluster& cluster = *draft.cluster;
  const i64 host = std::max<i64>(1, cluster.host_devices);
  const i64 used = request.gpus_per_node.value_or(host);
  const bool smaller = used < host && cluster.levels.front().arity == host;
  if (used > host || (used < host && !smaller))
    return make_usage_refusal(
        fmt::format("--gpus-per-node {}, but {} has {} per node", used, cluster.name, host),
        fmt::format("--gpus-per-node {}", host));
  if (smaller) cluster.levels.front().arity = cluster.host_devices = used;
  const std::optional<i64> gpus = product({*request.nodes, used});
  if (!gpus || *gpus > cluster::kMaxDevices)
    return make_usage_refusal(fmt::format("--nodes {} has more than {} GPUs", *request.nodes,
                                          count(cluster::kMaxDevices)),
                              fmt::format("--nodes {}", cluster::kMaxDevices / used));
  request.gpus = search::Range{*gpus, *gpus};
  return std::nullopt;
}

/// Returns the world size if the request decides it; empty if the draft does.
std::optional<i64> requested_world(const PlanRequest& request, const importer::Draft& draft) {
  if (request.gpus) return request.gpus->max;
  if (draft.cluster && (!request.cluster.empty() || (!draft.world && !draft.shape)))
    return draft.cluster->devices();
  return std::nullopt;
}

/// Returns the fix of a finding as flags of `plan`: "--seq 4096".
std::string spell_as_flags(const Diagnostic& fault) {
  std::string flags;
  for (const Edit& edit : fault.fix)
    for (const KeyOption& row : key_options())
      if (row.key == edit.key)
        flags += fmt::format("{}--{} {}", flags.empty() ? "" : " ", row.name, edit.value);
  return flags.empty() ? help(fault) : flags;
}

MaybeRefusal check_problem(const PlanRequest& request, const plan::TrainingConfig& config) {
  if (config.world > config.cluster.devices())
    return make_usage_refusal(fmt::format("{} ranks, but the cluster has {} GPUs",
                                          count(config.world), count(config.cluster.devices())),
                              "--gpus with fewer, or a larger --cluster");
  if (const std::optional<Diagnostic> fault = rules::find_job_fault(config))
    return make_usage_refusal(fmt::format("{}: {}", fault->message, fault->detail),
                              spell_as_flags(*fault));
  if (MaybeRefusal fault = check_size(request, config.cluster)) return fault;
  if (MaybeRefusal fault = check_limits(request.limits, config.model)) return fault;
  const bool one_world = !request.several_counts() && !request.fit && !request.excluded;
  return one_world ? check_degrees(request.limits, config.world) : std::nullopt;
}

/// Returns the config that ran: the plan of --ran, else the plan that the log states, else the plan
/// file's own. Empty if none of them states a plan.
Outcome<std::optional<plan::TrainingConfig>> read_ran_config(const PlanRequest& request,
                                                             const plan::TrainingConfig& asked,
                                                             const importer::Draft& own) {
  if (request.ran) {
    PlanInput ran = read_input({.plan = *request.ran, .files = request.files});
    if (!ran.config)
      return tl::unexpected(refuse_unreadable(std::move(ran.file.findings),
                                              std::move(ran.file.name), std::move(ran.file.text)));
    return std::move(ran.config);
  }
  importer::Draft draft = own;
  if (std::optional<importer::PlanFile> stated =
          read_plan_of_log(request.log->text, request.log->name)) {
    draft = std::move(stated->draft);
    if (!draft.model) draft.model = asked.model;
    if (!draft.cluster) draft.cluster = asked.cluster;
  }
  if (!states_a_plan(draft)) return std::nullopt;
  return resolve(draft);
}

/// Calibrates `config` with the request's log. Returns the refusal, if any.
MaybeRefusal calibrate_config(const PlanRequest& request, const importer::Draft& own,
                              plan::TrainingConfig& config) {
  if (!request.log) return std::nullopt;
  const SourceFile& log = *request.log;
  if (log.unreadable) return refuse_unreadable({*log.unreadable}, log.name);
  Outcome<std::optional<plan::TrainingConfig>> ran = read_ran_config(request, config, own);
  if (!ran) return std::move(ran.error());
  if (!*ran || !find_violations(**ran).empty())
    return make_usage_refusal("the plan that ran is missing, or it cannot be estimated",
                              "--calibrate run.log --ran plan.yaml");
  const Result<std::shared_ptr<const plan::RunCalibration>> found =
      read_calibration(log.text, log.name, **ran);
  if (!found) return refuse_unreadable({found.error()}, log.name);
  calibrate_by(config, *found);
  return std::nullopt;
}

/// Returns the file's own plan for the same job, evaluated if it has no constraint violations.
OwnPlan own_plan_of(const std::string& name, importer::Draft draft,
                    const search::Problem& problem) {
  const plan::TrainingConfig& asked = problem.config;
  draft.global_batch = asked.job.global_batch;
  draft.sequence = asked.job.sequence;
  OwnPlan own{.name = name, .config = resolve(draft)};
  own.config.software = asked.software;
  own.config.calibrated = asked.calibrated;
  if (!find_violations(own.config).empty()) return own;
  search::Problem same = problem;
  same.config = own.config;
  own.evaluated = evaluate_plan(same, own.config.plan, select_calibration(asked));
  return own;
}

}  // namespace

Outcome<PlanProblem> read_plan_problem(const PlanRequest& given) {
  PlanRequest request = given;
  Outcome<importer::PlanFile> file = read_stated(request);
  if (!file) return tl::unexpected(std::move(file.error()));
  importer::Draft& draft = file->draft;
  if (MaybeRefusal fault = check_stated(request, draft)) return tl::unexpected(std::move(*fault));
  if (MaybeRefusal fault = apply_nodes(request, draft)) return tl::unexpected(std::move(*fault));
  // A catalog system without a number of units means as many units as the GPUs need.
  if (draft.cluster && request.gpus && request.gpus->max > draft.cluster->devices() &&
      draft.cluster->levels.back().arity == 1)
    if (std::optional<cluster::Cluster> larger = grow_cluster(*draft.cluster, request.gpus->max))
      draft.cluster = std::move(larger);
  if (draft.cluster)
    if (MaybeRefusal fault = check_size(request, *draft.cluster))
      return tl::unexpected(std::move(*fault));
  search::Limits limits = request.limits;
  limits.target = choose_search_target(request.target, *file);
  if (request.target) draft.target = request.target;
  const plan::TrainingConfig job =
      resolve_job(draft, limits.target, requested_world(request, draft));
  PlanProblem made{.problem = open_problem(job, draft, limits)};
  if (MaybeRefusal fault = check_problem(request, made.problem.config))
    return tl::unexpected(std::move(*fault));
  if (MaybeRefusal fault = calibrate_config(request, draft, made.problem.config))
    return tl::unexpected(std::move(*fault));
  if (request.max_memory) made.problem.max_memory = request.max_memory->of(made.problem.capacity);
  if (states_a_plan(draft)) made.own = own_plan_of(file->name, draft, made.problem);
  return made;
}

}  // namespace rankwright::planner
