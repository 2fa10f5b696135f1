// Writes a Python function that applies the plan to a config of torchtitan 0.3 or its main branch,
// whose configs are Python. Since August 2026, main counts batches in tokens instead of sequences;
// the function sets whichever the installed version has. tests/frameworks loads what this writes.
#include "rankwright/export/framework/torchtitan.h"

#include <fmt/format.h>

#include "rankwright/export/quote.h"
#include "rankwright/export/rows.h"
#include "rankwright/import/framework/torchtitan_facts.h"

namespace rankwright::exporter {
namespace {

constexpr std::string_view kTorchtitanStates[] = {"parallelism.tp_size",
                                                  "parallelism.cp_size",
                                                  "parallelism.pp_size",
                                                  "parallelism.dp_size",
                                                  "parallelism.ep_size",
                                                  "parallelism.etp_size",
                                                  "parallelism.order",
                                                  "parallelism.zero_stage",
                                                  "parallelism.shard_size",
                                                  "parallelism.sequence_parallel",
                                                  "parallelism.cp_comm",
                                                  "parallelism.micro_batch",
                                                  "parallelism.virtual_stages",
                                                  "parallelism.microbatch_group",
                                                  "parallelism.schedule",
                                                  "parallelism.stages",
                                                  "parallelism.recompute",
                                                  "parallelism.offload.optimizer",
                                                  "parallelism.offload.parameters",
                                                  "model",
                                                  "job.global_batch",
                                                  "job.sequence",
                                                  "job.param_dtype",
                                                  "job.grad_dtype",
                                                  "job.optimizer",
                                                  "software.compile"};

/// A function of torchtitan's config registry.
struct RegistryFunction {
  std::string_view model;  // name in the catalog
  std::string_view name;
  bool float8 = false;  // its config converts the linear layers to float8
};

/// Returns the registry function of the flavor, or nothing. Only names that were seen in the
/// sources: they follow no known rule.
const RegistryFunction* find_registry_function(const importer::TorchtitanFlavor* flavor) {
  static constexpr RegistryFunction kSeen[] = {
      {"llama-3.1-8b", "llama3_8b"},
      {"llama-3.1-70b", "llama3_70b"},
      {.model = "llama-3.1-405b", .name = "llama3_405b", .float8 = true},
      {"qwen3-30b-a3b", "qwen3_30b_a3b"}};
  for (const RegistryFunction& one : kSeen)
    if (flavor != nullptr && flavor->model == one.model) return &one;
  return nullptr;
}

/// Returns the function that makes the whole config. The model of a registry function that converts
/// to float8 is made again without the conversion if the plan computes in 16 bits.
std::string whole_config(const plan::TrainingConfig& s, const importer::TorchtitanFlavor& flavor,
                         const RegistryFunction& function) {
  std::string text = "\n\ndef rankwright() -> Trainer.Config:\n";
  if (!function.float8 || s.job.matmul != plan::Matmul::same)
    return text + fmt::format("    return rankwright_layout({}())\n", function.name);
  text += fmt::format("    config = {}()\n", function.name);
  text += fmt::format("    config.model_spec = model_registry({})  # without float8\n",
                      quote_python(flavor.flavor));
  return text + "    return rankwright_layout(config)\n";
}

std::string python_bool(bool flag) { return flag ? "True" : "False"; }

std::string parallelism(const plan::TrainingConfig& s) {
  const plan::Plan& p = s.plan;
  const DataRankSplit data = split_data_ranks(p);
  std::string text = "    config.parallelism = ParallelismConfig(\n";
  const auto add = [&](std::string_view key, std::string_view value) {
    text += fmt::format("        {}={},\n", key, value);
  };
  const auto number = [&](std::string_view key, i64 n) { add(key, std::to_string(n)); };
  number("data_parallel_replicate_degree", data.replicas);
  number("data_parallel_shard_degree", data.shards);
  add("fsdp_reshard_after_forward", quote_python(choose_reshard_policy(p)));
  number("tensor_parallel_degree", p.tp);
  add("enable_sequence_parallel", python_bool(p.sequence_parallel));
  number("context_parallel_degree", p.cp);
  number("expert_parallel_degree", p.ep);
  number("pipeline_parallel_degree", p.pp);
  if (p.pp > 1) {
    add("pipeline_parallel_schedule", quote_python(choose_schedule_class(s)));
    if (writes_cells(s)) add("pipeline_parallel_schedule_csv", quote_python(kScheduleFile));
    if (const std::string modules = list_modules(s, "lm_head", "        "); !modules.empty())
      add("module_fqns_per_model_part", modules);
  }
  return text + "    )\n";
}

/// Returns the batch in the installed version's unit. Main counts the tokens of a microbatch; 0.3
/// counts the sequences of one accumulation step, which with a pipeline is the whole batch of a
/// data rank.
std::string batch(const plan::TrainingConfig& s) {
  const i64 micro = s.plan.micro_batch, length = s.job.sequence;
  const i64 passes = s.plan.pp > 1 ? s.microbatches() : 1;
  std::string text =
      "    if hasattr(config.training, \"num_tokens_per_train_step\"):  # main: tokens\n";
  const auto add = [&](std::string_view key, const std::string& value) {
    text += fmt::format("        config.{} = {}\n", key, value);
  };
  add("training.num_tokens_per_microbatch_per_dp_rank", fmt::format("{} * {}", micro, length));
  add("training.num_tokens_per_train_step", fmt::format("{} * {}", s.job.global_batch, length));
  add("training.max_context_length", std::to_string(length));
  if (s.plan.pp > 1) add("parallelism.num_pp_microbatches", std::to_string(passes));
  text += "    else:  # 0.3: sequences\n";
  add("training.local_batch_size", std::to_string(micro * passes));
  add("training.global_batch_size", std::to_string(s.job.global_batch));
  add("training.seq_len", std::to_string(length));
  if (s.plan.pp > 1) add("parallelism.pipeline_parallel_microbatch_size", std::to_string(micro));
  return text;
}

/// Returns the number formats, and turns off CUDA graphs where torchtitan refuses them: in a
/// pipeline, and with an expert dispatch that synchronizes with the host.
std::string training(const plan::TrainingConfig& s) {
  std::string text;
  const auto add = [&](std::string_view key, std::string_view value) {
    text += fmt::format("    config.training.{} = {}\n", key, value);
  };
  add("mixed_precision_param", s.job.param_bytes() >= 4 ? "\"float32\"" : "\"bfloat16\"");
  add("mixed_precision_reduce", "\"float32\"");
  if (s.plan.pp > 1 || s.plan.ep > 1) add("disable_cuda_graphs", "True");
  if (s.plan.offload.states()) add("enable_cpu_offload", "True");
  // Some registry functions turn these on.
  if (const std::optional<bool> compiles = find_compile(s))
    text += fmt::format("    config.compile.enable = {}\n", python_bool(*compiles));
  if (!s.plan.overlap.tp) text += "    config.compile.enable_async_tensor_parallel = False\n";
  return text;
}

std::string_view recompute(plan::Recompute recompute) {
  constexpr std::string_view kWays[] = {"None", "SelectiveAC.Config()", "FullAC.Config()"};
  return kWays[std::size_t(recompute)];
}

std::vector<std::string> list_unverified(bool has_function) {
  std::vector<std::string> lines = {
      "Checked against torchtitan 0.3.0 and main of 2026-08-21. Names change weekly on main."};
  if (!has_function)
    lines.emplace_back(
        "No registry function is known for this model: pass a config to rankwright_layout.");
  return lines;
}

std::span<const std::string_view> list_torchtitan_keys() { return kTorchtitanStates; }

std::vector<UnsupportedSetting> find_unsupported_by_torchtitan(const plan::TrainingConfig& s) {
  std::vector<UnsupportedSetting> lost = find_unsupported_by_both_torchtitans(s);
  if (s.plan.cp > 1 && s.plan.cp_comm != plan::CpComm::all_gather)
    lost.push_back({"parallelism.cp_comm", "FlexAttention, its default, gathers keys and values"});
  if (s.plan.ep > 1 && s.plan.etp > 1)
    lost.push_back({"parallelism.etp_size", "experts are not split: EP uses the TP ranks too"});
  if (s.job.param_dtype != plan::Dtype::bf16 && s.job.param_dtype != plan::Dtype::fp32)
    lost.push_back({"job.param_dtype", "mixed_precision_param is bfloat16 or float32"});
  if (s.job.grad_dtype != plan::Dtype::fp32)
    lost.push_back({"job.grad_dtype", "it reduces gradients in float32"});
  return lost;
}

std::vector<ExportFile> write_torchtitan(const plan::TrainingConfig& s, const ExportOptions&,
                                         const std::vector<std::string>& head) {
  const importer::TorchtitanFlavor* const flavor =
      s.reference_model ? nullptr : importer::find_flavor(s.model);
  const RegistryFunction* const function = find_registry_function(flavor);
  std::string text = std::string(kPythonEncoding) + write_comments(head, "#") +
                     write_comments(list_unverified(function != nullptr), "#");
  text +=
      "from torchtitan.config import ParallelismConfig\n"
      "from torchtitan.distributed.activation_checkpoint import FullAC, SelectiveAC\n";
  if (function != nullptr) {
    if (function->float8 && s.job.matmul == plan::Matmul::same)
      text += fmt::format("from torchtitan.models.{} import model_registry\n", flavor->name);
    text += fmt::format("from torchtitan.models.{}.config_registry import {}\n", flavor->name,
                        function->name);
  }
  text += "from torchtitan.trainer import Trainer\n";
  text += "\n\ndef rankwright_layout(config: Trainer.Config) -> Trainer.Config:\n";
  text += parallelism(s) + training(s) + batch(s);
  text += fmt::format("    config.activation_checkpoint = {}\n    return config\n",
                      recompute(s.plan.recompute));
  if (function != nullptr) text += whole_config(s, *flavor, *function);
  std::vector<ExportFile> files = {{"torchtitan_config.py", text}};
  for (ExportFile& cells : write_schedule_files(s)) files.push_back(std::move(cells));
  return files;
}

}  // namespace

constinit const Exporter kTorchtitanExporter{
    .target = rules::Target::torchtitan,
    .summary = "Python config for torchtitan 0.3 and its main branch",
    .states = list_torchtitan_keys,
    .lost = find_unsupported_by_torchtitan,
    .write = write_torchtitan,
};

}  // namespace rankwright::exporter
