#include "rankwright/planner/plan/savings.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace rankwright::planner {
namespace {

constexpr i64 kUsualRank = 16;

void use_8bit_adam(search::Problem& p) { p.config.job.optimizer = plan::Optimizer::adam_8bit; }

/// Weights, gradients and moments in the format of the parameters.
void use_narrow_states(search::Problem& p) {
  plan::Job& job = p.config.job;
  job.master_dtype = job.moment_dtype = job.grad_dtype = job.param_dtype;
}

void offload_optimizer(search::Problem& p) { p.config.plan.offload.optimizer = 1; }

void offload_states(search::Problem& p) {
  p.config.plan.offload.optimizer = 1;
  p.config.plan.offload.parameters = true;
  p.limits.zero.min = std::max<i64>(3, p.limits.zero.min);
}

/// Also moves the inputs of recomputed layers.
void offload_all(search::Problem& p) {
  offload_states(p);
  p.config.plan.offload.activations = true;
  p.limits.recompute = plan::Recompute::full;
}

/// Moves all states to NVMe drives. The path is the usual example of DeepSpeed's documentation.
void offload_to_nvme(search::Problem& p) {
  offload_all(p);
  p.config.plan.offload.nvme = plan::NvmeStates::all;
  if (p.config.plan.offload.nvme_path.empty()) p.config.plan.offload.nvme_path = "/local_nvme";
}

void train_adapters(search::Problem& p) {
  plan::Job& job = p.config.job;
  job.lora_rank = kUsualRank;
  job.grad_dtype = plan::Dtype::fp32;
}

void train_quantized(search::Problem& p) {
  train_adapters(p);
  p.config.job.base_dtype = plan::BaseDtype::nf4;
}

bool has_adam(const plan::TrainingConfig& s) {
  return !s.job.frozen() && s.job.optimizer == plan::Optimizer::adam;
}

bool has_wide_states(const plan::TrainingConfig& s) {
  constexpr i64 kHalfBytes = 2;
  return !s.job.frozen() && s.job.param_bytes() == kHalfBytes &&
         s.job.master_dtype != s.job.param_dtype;
}

bool trains_all(const plan::TrainingConfig& s) { return !s.job.frozen(); }

bool offloads_nothing(const plan::TrainingConfig& s) { return !s.plan.offload.any(); }

// Megatron-LM offloads the optimizer alone; FSDP offloads all states together.
constexpr SavingRow kSavings[] = {
    {"8-bit Adam", "--optimizer adam-8bit", use_8bit_adam, has_adam},
    {"16-bit states, no fp32 copy", "--master-dtype bf16 --moment-dtype bf16 --grad-dtype bf16",
     use_narrow_states, has_wide_states},
    {.name = "optimizer offload",
     .flags = "--offload-optimizer true",
     .apply = offload_optimizer,
     .changes = offloads_nothing,
     .offload = true,
     .megatron = true,
     .accelerate = false},
    {.name = "optimizer and parameter offload",
     .flags = "--offload-optimizer true --offload-parameters true",
     .apply = offload_states,
     .changes = offloads_nothing,
     .offload = true,
     .torchtitan = true},
    {.name = "offload with activations",
     .flags = "--offload-optimizer true --offload-parameters true --offload-activations true "
              "--recompute full",
     .apply = offload_all,
     .changes = offloads_nothing,
     .offload = true},
    {.name = "offload to NVMe",
     .flags = "--offload-optimizer true --offload-parameters true --offload-activations true "
              "--recompute full --offload-nvme all --offload-nvme-path /local_nvme",
     .apply = offload_to_nvme,
     .changes = offloads_nothing,
     .offload = true,
     .accelerate = false},
    {.name = "LoRA of rank 16",
     .flags = "--lora 16",
     .apply = train_adapters,
     .changes = trains_all,
     .adapters = true},
    {.name = "QLoRA of rank 16",
     .flags = "--lora 16 --base-dtype nf4",
     .apply = train_quantized,
     .changes = trains_all,
     .adapters = true},
};

/// Returns whether the framework of the problem has the setting.
bool has_setting(rules::Target target, const SavingRow& row) {
  if (target == rules::Target::any) return true;
  switch (row_of_rules(target).target) {
    case rules::Target::deepspeed:
      return true;
    case rules::Target::accelerate:
      return row.accelerate;
    case rules::Target::megatron:
      return row.megatron;
    case rules::Target::torchtitan:
      return row.torchtitan;
    default:
      return false;
  }
}

}  // namespace

std::span<const SavingRow> saving_rows() { return kSavings; }

bool applies(const SavingRow& row, const search::Problem& problem) {
  return row.changes(problem.config) && has_setting(problem.limits.target, row);
}

search::Problem apply_saving(const search::Problem& problem, const SavingRow& row) {
  search::Problem changed = problem;
  row.apply(changed);
  return changed;
}

std::string Saving::flags() const {
  const std::string own(row->flags);
  return other ? fmt::format("--for {} {}", rules::row(*other).name, own) : own;
}

std::vector<Saving> find_savings(
    std::span<const search::Problem> problems,
    const std::function<std::optional<search::EvaluatedPlan>(const search::Problem&)>& find) {
  std::vector<Saving> found;
  for (const SavingRow& row : kSavings) {
    const auto problem = std::find_if(problems.begin(), problems.end(),
                                      [&](const auto& one) { return applies(row, one); });
    if (problem == problems.end()) continue;
    if (std::optional<search::EvaluatedPlan> plan = find(apply_saving(*problem, row))) {
      found.push_back({.row = &row, .plan = std::move(*plan)});
      if (problem != problems.begin()) found.back().other = problem->limits.target;
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const Saving& a, const Saving& b) {
    if (a.row->adapters != b.row->adapters) return b.row->adapters;
    return a.plan.time() < b.plan.time();
  });
  return found;
}

}  // namespace rankwright::planner
