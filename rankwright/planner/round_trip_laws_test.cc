// Laws of the round trip through a framework's files, for every target that is written and read: a
// plan that is exported and imported again has the same estimate, and the list of losses is exact.
// `scripts/check_laws` runs them over 10,000 plans per target.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/estimate.h"
#include "rankwright/rules/rule.h"
#include "tests/support/any_config.h"
#include "tests/support/round_trip.h"
#include "tests/support/timed_configs.h"

namespace rankwright::planner::round_trip_laws_test {
namespace {

using exporter::Exporter;
using importer::Draft;
using sample::coin;
using sample::one_of;

/// Returns the frameworks that have an exporter and an importer.
std::vector<const Exporter*> list_read_targets() {
  std::vector<const Exporter*> all;
  for (const Exporter* const one : exporter::exporters())
    if (one->target != rules::Target::rankwright &&
        importer::find_plan_format(row(one->target).name) != nullptr)
      all.push_back(one);
  return all;
}

/// Returns whether `export --to` writes the config: a plan that does not fit in memory is written.
bool is_accepted(const plan::TrainingConfig& config, rules::Target target) {
  Diagnostics findings = rules::lint(config, target);
  std::erase_if(findings, [](const Diagnostic& d) { return d.code.starts_with("RW02"); });
  return !has_errors(findings);
}

/// Sets keys to a value that the target has, each with an even chance: of plans drawn without it,
/// a target with few features accepts one in thousands.
void move_toward(rules::Target target, plan::TrainingConfig& config) {
  const rules::TargetRow& row = row_of_rules(target);
  plan::Plan& plan = config.plan;
  plan.order = coin() ? mesh::kDefaultOrder : plan.order;
  if (plan.zero != 0 && coin())
    plan.zero = int(*rc::gen::inRange<i64>(row.min_zero, row.max_zero + 1));
  if (coin()) plan.shard_size = 0;
  if (coin()) plan.sequence_parallel = plan.tp > 1 && coin();
  if (coin()) plan.overlap = {};
  if (coin()) plan.etp = plan.ep > 1 ? 1 : plan.tp;
  if (coin()) plan.cp_comm = plan::CpComm(one_of({0, 1, 2}));
  if (coin()) config.job.param_dtype = plan::Dtype::bf16;
  if (coin()) config.job.matmul = plan::Matmul(one_of({0, 0, 1, 2}));
  if (target == rules::Target::accelerate || one_of({0, 1, 2}) == 0) {
    plan.pp = plan.virtual_stages = 1;
    plan.stages.clear();
    plan.schedule = pipeline::Schedule::one_f_one_b;
  }
  config.world = plan.ranks();
  config.cluster = any_config::random_cluster(config.world);
  config.plan.placement = {};
  any_config::settle(config);
}

plan::TrainingConfig draw_config(rules::Target target) {
  plan::TrainingConfig config = any_config::random_config();
  if (coin()) config.job.sequence = one_of({64, 128, 4096});
  if (one_of({0, 1, 2, 3}) > 0) move_toward(target, config);
  return config;
}

/// Returns a config without violations that the target accepts.
plan::TrainingConfig draw_accepted_config(rules::Target target) {
  plan::TrainingConfig config = draw_config(target);
  while (!find_violations(config).empty() || !is_accepted(config, target))
    config = draw_config(target);
  return config;
}

/// Supplies the value of a plan key, as a user does who reads the list of losses.
struct Supply {
  std::string_view key;
  void (*supply)(const plan::TrainingConfig&, Draft&);
};

template <auto Draft::*member, auto plan::Plan::*value>
void supply_plan(const plan::TrainingConfig& config, Draft& draft) {
  draft.*member = config.plan.*value;
}
template <auto Draft::*member, auto plan::Job::*value>
void supply_job(const plan::TrainingConfig& config, Draft& draft) {
  draft.*member = config.job.*value;
}
template <auto Draft::*member, auto plan::Overlap::*value>
void supply_overlap(const plan::TrainingConfig& config, Draft& draft) {
  draft.*member = config.plan.overlap.*value;
}

void supply_recompute(const plan::TrainingConfig& config, Draft& draft) {
  draft.recompute = config.plan.recompute;
  draft.recompute_layers = config.plan.recompute_layers;
}

void supply_stages(const plan::TrainingConfig& config, Draft& draft) {
  draft.stages = config.stages();
  draft.stage_layers.reset();
}

void supply_shard_size(const plan::TrainingConfig& config, Draft& draft) {
  draft.shard_size = config.plan.shard_size;
}

void supply_placement(const plan::TrainingConfig& config, Draft& draft) {
  draft.rank_devices.emplace();
  for (i64 rank = 0; rank < config.world; ++rank)
    draft.rank_devices->push_back(config.plan.placement.device(rank));
}

using plan::Job;
using plan::Overlap;
using plan::Plan;

constexpr Supply kSupplies[] = {
    {"parallelism.tp_size", supply_plan<&Draft::tp, &Plan::tp>},
    {"parallelism.cp_size", supply_plan<&Draft::cp, &Plan::cp>},
    {"parallelism.pp_size", supply_plan<&Draft::pp, &Plan::pp>},
    {"parallelism.dp_size", supply_plan<&Draft::dp, &Plan::dp>},
    {"parallelism.ep_size", supply_plan<&Draft::ep, &Plan::ep>},
    {"parallelism.etp_size", supply_plan<&Draft::etp, &Plan::etp>},
    {"parallelism.order", supply_plan<&Draft::order, &Plan::order>},
    {"parallelism.zero_stage", supply_plan<&Draft::zero, &Plan::zero>},
    {"parallelism.shard_size", supply_shard_size},
    {"parallelism.bucket_size", supply_plan<&Draft::bucket_size, &Plan::bucket_size>},
    {"parallelism.sequence_parallel",
     supply_plan<&Draft::sequence_parallel, &Plan::sequence_parallel>},
    {"parallelism.cp_comm", supply_plan<&Draft::cp_comm, &Plan::cp_comm>},
    {"parallelism.dispatcher", supply_plan<&Draft::dispatcher, &Plan::dispatcher>},
    {"parallelism.micro_batch", supply_plan<&Draft::micro_batch, &Plan::micro_batch>},
    {"parallelism.virtual_stages", supply_plan<&Draft::virtual_stages, &Plan::virtual_stages>},
    {"parallelism.microbatch_group",
     supply_plan<&Draft::microbatch_group, &Plan::microbatch_group>},
    {"parallelism.schedule", supply_plan<&Draft::schedule, &Plan::schedule>},
    {"parallelism.stages", supply_stages},
    {"parallelism.recompute", supply_recompute},
    {"parallelism.overlap.grad_reduce",
     supply_overlap<&Draft::overlap_grad, &Overlap::grad_reduce>},
    {"parallelism.overlap.param_gather",
     supply_overlap<&Draft::overlap_param, &Overlap::param_gather>},
    {"parallelism.overlap.tp", supply_overlap<&Draft::overlap_tp, &Overlap::tp>},
    {"parallelism.overlap.pp", supply_overlap<&Draft::overlap_pp, &Overlap::pp>},
    {"parallelism.overlap.ep", supply_overlap<&Draft::overlap_ep, &Overlap::ep>},
    {"parallelism.overlap.wgrad", supply_overlap<&Draft::overlap_wgrad, &Overlap::wgrad>},
    {"parallelism.offload.optimizer",
     [](const plan::TrainingConfig& config, Draft& draft) {
       draft.offload_optimizer = config.plan.offload.optimizer;
     }},
    {"parallelism.offload.parameters",
     [](const plan::TrainingConfig& config, Draft& draft) {
       draft.offload_parameters = config.plan.offload.parameters;
     }},
    {"parallelism.offload.activations",
     [](const plan::TrainingConfig& config, Draft& draft) {
       draft.offload_activations = config.plan.offload.activations;
     }},
    {"parallelism.offload.nvme",
     [](const plan::TrainingConfig& config, Draft& draft) {
       draft.offload_nvme = config.plan.offload.nvme;
     }},
    {"parallelism.offload.nvme_path",
     [](const plan::TrainingConfig& config, Draft& draft) {
       draft.nvme_path = config.plan.offload.nvme_path;
     }},
    {"placement", supply_placement},
    {"model", [](const plan::TrainingConfig& config, Draft& draft) { draft.model = config.model; }},
    {"job.global_batch", supply_job<&Draft::global_batch, &Job::global_batch>},
    {"job.sequence", supply_job<&Draft::sequence, &Job::sequence>},
    {"job.param_dtype", supply_job<&Draft::param_dtype, &Job::param_dtype>},
    {"job.grad_dtype", supply_job<&Draft::grad_dtype, &Job::grad_dtype>},
    {"job.matmul", supply_job<&Draft::matmul, &Job::matmul>},
    {"job.fp8_swiglu_input", supply_job<&Draft::fp8_swiglu_input, &Job::fp8_swiglu_input>},
    {"job.doc_length", supply_job<&Draft::doc_length, &Job::doc_length>},
    {"job.images", supply_job<&Draft::images, &Job::images>},
    {"job.clips", supply_job<&Draft::images, &Job::images>},
    {"job.loss_tokens", supply_job<&Draft::loss_tokens, &Job::loss_tokens>},
    {"job.image_tokens", supply_job<&Draft::image_tokens, &Job::image_tokens>},
    {"job.method", supply_job<&Draft::method, &Job::method>},
    {"job.ref_model", supply_job<&Draft::ref_model, &Job::ref_model>},
    {"job.optimizer", supply_job<&Draft::optimizer, &Job::optimizer>},
    {"job.moment_dtype", supply_job<&Draft::moment_dtype, &Job::moment_dtype>},
    {"job.master_dtype", supply_job<&Draft::master_dtype, &Job::master_dtype>},
    {"job.lora_rank", supply_job<&Draft::lora_rank, &Job::lora_rank>},
    {"job.lora_modules", supply_job<&Draft::lora_modules, &Job::lora_modules>},
    {"job.base_dtype", supply_job<&Draft::base_dtype, &Job::base_dtype>},
    {"job.frozen",
     [](const plan::TrainingConfig& config, Draft& draft) { draft.frozen = config.model.frozen; }},
};

void supply(std::string_view key, const plan::TrainingConfig& config, Draft& draft) {
  const auto found = std::find_if(std::begin(kSupplies), std::end(kSupplies),
                                  [&](const Supply& one) { return one.key == key; });
  RC_LOG() << "lost: " << key << "\n";
  RC_ASSERT(found != std::end(kSupplies));
  found->supply(config, draft);
}

/// Exports the config and imports the files. Supplies the cluster and the world size, which no
/// framework's file states.
importer::PlanFile export_and_import(const Exporter& exporter, const plan::TrainingConfig& config) {
  const importer::PlanFormat& format = *importer::find_plan_format(row(exporter.target).name);
  round_trip::written_files() = export_plan(exporter, config);
  const exporter::ExportFile& main = round_trip::written_files().front();
  RC_LOG() << main.text;
  importer::PlanFile file = read_plan_as(format, main.text, main.name, round_trip::read_written);
  for (const Diagnostic& finding : file.findings) RC_LOG() << finding.detail << "\n";
  RC_ASSERT(!has_errors(file.findings));
  file.draft.cluster = config.cluster;
  file.draft.world = config.world;
  return file;
}

bool near(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(a, b); }

void expect_same_estimate(const Exporter& exporter) {
  const plan::TrainingConfig config = draw_accepted_config(exporter.target);
  Draft draft = export_and_import(exporter, config).draft;
  for (const exporter::UnsupportedSetting& one : find_unsupported(exporter, config))
    supply(one.key, config, draft);
  plan::TrainingConfig again = resolve(draft);
  again.software = config.software;
  RC_LOG() << round_trip::differences(exporter, config, again);
  const plan::ConstraintViolation violation = find_first_violation(again);
  if (violation) RC_LOG() << rules::lint(again, rules::Target::any).front().detail << "\n";
  RC_ASSERT(!violation);
  // A file of cells may read back as another schedule with the same cells, whose closed form is
  // another approximation: those are simulated.
  const bool renamed =
      config.plan.pp > 1 && (config.plan.schedule != again.plan.schedule ||
                             config.plan.microbatch_group != again.plan.microbatch_group);
  const auto estimate = renamed && round_trip::same_cells(config, again)
                            ? cost::estimate_by_simulation
                            : cost::estimate_plan;
  const cluster::Calibration& calibration = catalog::get_calibration();
  const cost::Estimate before = estimate(config, calibration);
  const cost::Estimate after = estimate(again, calibration);
  RC_LOG() << "step " << before.time().value << " s, again " << after.time().value << " s; memory "
           << before.memory.total().value << " B, again " << after.memory.total().value << " B\n";
  RC_ASSERT(near(before.time().value, after.time().value));
  RC_ASSERT(near(before.memory.total().value, after.memory.total().value));
}

/// Returns whether stating the setting is not enough, and the list says what is missing: Ulysses in
/// DeepSpeed needs an attention class of the script, ep in nanotron an unreleased branch.
bool is_not_enough(const Exporter& exporter, std::string_view key) {
  return (exporter.target == rules::Target::deepspeed && key == "parallelism.cp_size") ||
         (exporter.target == rules::Target::nanotron && key == "parallelism.ep_size");
}

/// Requires that the files do not state the value of a listed loss.
void expect_true_losses(const Exporter& exporter) {
  const plan::TrainingConfig config = draw_accepted_config(exporter.target);
  const importer::PlanFile file = export_and_import(exporter, config);
  const plan::TrainingConfig again = resolve(file.draft);
  const std::vector<exporter::UnsupportedSetting> lost = find_unsupported(exporter, config);
  for (const exporter::ConfigKey& key : exporter::config_keys()) {
    const bool stated = std::ranges::any_of(
        file.keys, [&](const importer::FieldReader::Key& one) { return one.path == key.path; });
    if (!stated || is_not_enough(exporter, key.path) || !round_trip::is_lost(lost, key.path))
      continue;
    RC_LOG() << key.path << ": listed as lost, " << key.value(config) << " is read back as "
             << key.value(again) << "\n";
    RC_ASSERT(key.value(config) != key.value(again));
  }
}

class RoundTripLaws : public testing::TestWithParam<const Exporter*> {};

TEST_P(RoundTripLaws, ImportOfExport_HasTheSameStepTimeAndMemory) {
  rc::detail::checkGTest([] { expect_same_estimate(*GetParam()); });
}

TEST_P(RoundTripLaws, ListedLoss_IsNotStatedInTheFiles) {
  rc::detail::checkGTest([] { expect_true_losses(*GetParam()); });
}

INSTANTIATE_TEST_SUITE_P(Targets, RoundTripLaws, testing::ValuesIn(list_read_targets()),
                         [](const testing::TestParamInfo<const Exporter*>& target) {
                           std::string name(row(target.param->target).name);
                           std::erase_if(name, [](char c) { return !std::isalnum(c); });
                           return name;
                         });

}  // namespace
}  // namespace rankwright::planner::round_trip_laws_test
