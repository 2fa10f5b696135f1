#include "rankwright/planner/plan/savings.h"

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

void train_adapters(search::Problem& p) {
  plan::Job& job = p.config.job;
  job.lora_rank = kUsualRank;
  job.grad_dtype = plan::Dtype::fp32;
}

void train_quantized(search::Problem& p) {
  train_adapters(p);
  p.config.job.base_dtype = plan::BaseDtype::nf4;
}

constexpr SavingRow kSavings[] = {
    {"8-bit Adam", "--optimizer adam-8bit", use_8bit_adam},
    {"16-bit states, no fp32 copy", "--master-dtype bf16 --moment-dtype bf16 --grad-dtype bf16",
     use_narrow_states},
    {"optimizer offload", "--offload-optimizer true", offload_optimizer, true},
    {"optimizer and parameter offload", "--offload-optimizer true --offload-parameters true",
     offload_states, true},
    {"offload with activations",
     "--offload-optimizer true --offload-parameters true --offload-activations true --recompute "
     "full",
     offload_all, true},
    {"LoRA of rank 16", "--lora 16", train_adapters, false, true},
    {"QLoRA of rank 16", "--lora 16 --base-dtype nf4", train_quantized, false, true},
};

/// Returns whether the framework of the problem has the setting. Megatron-LM offloads the optimizer
/// and has 16-bit moments, but no 8-bit Adam and no adapters; FSDP offloads all states together.
bool has_setting(const search::Problem& problem, const SavingRow& row) {
  const plan::Job& job = problem.config.job;
  if (job.frozen() && (row.adapters || row.apply == use_8bit_adam)) return false;
  if (row.apply == use_8bit_adam && job.optimizer != plan::Optimizer::adam) return false;
  if (row.apply == use_narrow_states &&
      (job.frozen() || job.master_dtype == job.param_dtype || job.param_bytes() != 2))
    return false;
  if (problem.config.plan.offload.any() && row.offload) return false;
  const rules::Target target = problem.limits.target == rules::Target::any
                                   ? rules::Target::any
                                   : row_of_rules(problem.limits.target).target;
  switch (target) {
    case rules::Target::any:
    case rules::Target::deepspeed:
      return true;
    case rules::Target::accelerate:
      return row.apply != offload_optimizer;
    case rules::Target::megatron:
      return row.apply == offload_optimizer;
    case rules::Target::torchtitan:
      return row.apply == offload_states;
    default:
      return false;
  }
}

}  // namespace

std::span<const SavingRow> saving_rows() { return kSavings; }

search::Problem apply_saving(const search::Problem& problem, const SavingRow& row) {
  search::Problem changed = problem;
  row.apply(changed);
  return changed;
}

std::vector<Saving> find_savings(
    const search::Problem& problem,
    const std::function<std::optional<search::EvaluatedPlan>(const search::Problem&)>& find) {
  std::vector<Saving> found;
  for (const SavingRow& row : kSavings) {
    if (!has_setting(problem, row)) continue;
    if (std::optional<search::EvaluatedPlan> plan = find(apply_saving(problem, row)))
      found.push_back({&row, std::move(*plan)});
  }
  std::stable_sort(found.begin(), found.end(), [](const Saving& a, const Saving& b) {
    if (a.row->adapters != b.row->adapters) return b.row->adapters;
    return a.plan.time() < b.plan.time();
  });
  return found;
}

}  // namespace rankwright::planner
