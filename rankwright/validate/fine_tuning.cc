// Reads the columns that only tables of fine-tuning runs have: adapters, formats of the states,
// offload, the loss, and which memory figure was printed. Free text of publications was normalized
// when the table was made.
#include <optional>

#include "rankwright/validate/run_config.h"

namespace rankwright::validate {
namespace {

/// Returns the index of a cell in a list of names; nothing if it is none of them.
template <class Rows>
std::optional<std::size_t> find_name(const Rows& rows, std::string_view cell) {
  std::size_t at = 0;
  for (const auto& row : rows) {
    if constexpr (requires { row.name; }) {
      if (row.name == cell) return at;
    } else {
      if (row == cell) return at;
    }
    ++at;
  }
  return std::nullopt;
}

void read_dtype(std::string_view cell, plan::Dtype& into) {
  if (const auto index = find_name(plan::dtypes(), cell)) into = plan::dtypes()[*index].dtype;
}

/// Reads "q_proj v_proj" or "all".
plan::LoraModules read_modules(std::string_view cell) {
  if (cell.empty() || cell == "all") return {};
  plan::LoraModules modules = plan::kNoLoraModules;
  for (const plan::LoraModuleRow& row : plan::lora_modules())
    modules.*row.field = cell.find(row.name) != std::string_view::npos;
  return modules;
}

void read_offload(const RunRow& row, plan::Offload& offload) {
  offload.optimizer = row.number("offload_optimizer").value_or(0);
  if (offload.optimizer < 0 || offload.optimizer > 1) offload.optimizer = 0;
  offload.parameters = row.text("offload_parameters") == "yes";
  offload.activations = row.text("offload_activations") == "yes";
}

}  // namespace

void read_fine_tuning(const RunRow& row, Run& run) {
  plan::TrainingConfig& config = run.config;
  plan::Job& job = config.job;
  if (row.text("tied") == "yes") config.model.tied = true;
  constexpr i64 kMaxRank = 65536;
  if (const std::optional<i64> rank = row.whole("lora_rank"); rank && *rank <= kMaxRank)
    job.lora_rank = *rank;
  if (job.frozen()) {
    job.lora_modules = read_modules(row.text("lora_modules"));
    job.grad_dtype = plan::Dtype::fp32;
    if (const auto index = find_name(plan::base_dtype_names(), row.text("base_dtype")))
      job.base_dtype = plan::BaseDtype(*index);
  }
  if (const auto index = find_name(plan::optimizers(), row.text("optimizer")))
    job.optimizer = plan::optimizers()[*index].optimizer;
  read_dtype(row.text("moment_dtype"), job.moment_dtype);
  read_dtype(row.text("master_dtype"), job.master_dtype);
  read_dtype(row.text("grad_dtype"), job.grad_dtype);
  if (const auto index = find_name(plan::loss_names(), row.text("loss")))
    config.software.loss = plan::Loss(*index);
  read_offload(row, config.plan.offload);
  run.measured_slowdown = row.number("measured_slowdown").value_or(0);
  run.measured_base = Seconds{row.number("base_step_s").value_or(0)};
  for (const MemoryFigure figure :
       {MemoryFigure::allocated, MemoryFigure::reserved, MemoryFigure::device})
    if (row.text("mem_figure") == name(figure)) run.memory_figure = figure;
}

}  // namespace rankwright::validate
