// Writes torchtitan's TOML config, and the schedule's cells if torch has no class for the schedule.
// Data, checkpoints and learning rates are left to the user. Checked against torchtitan v0.2.2.
#include <fmt/format.h>

#include "rankwright/export/framework/torchtitan.h"
#include "rankwright/export/quote.h"
#include "rankwright/export/rows.h"
#include "rankwright/export/typed.h"
#include "rankwright/import/framework/torchtitan_facts.h"

namespace rankwright::exporter {
namespace {

constexpr std::string_view kTorchtitan02States[] = {"parallelism.tp_size",
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
                                                    "parallelism.overlap.tp",
                                                    "parallelism.overlap.ep",
                                                    "model",
                                                    "job.global_batch",
                                                    "job.sequence",
                                                    "job.param_dtype",
                                                    "job.grad_dtype",
                                                    "job.matmul",
                                                    "job.optimizer",
                                                    "software.compile"};

/// Returns the model converter that quantizes matmuls to the format, or an empty string.
std::string_view converter(plan::Matmul matmul) {
  if (matmul == plan::Matmul::fp8) return "quantize.linear.float8";
  return matmul == plan::Matmul::mxfp8 ? "quantize.linear.mx" : "";
}

/// Builds one section of the TOML file.
class Section {
 public:
  explicit Section(std::string_view name) : text_(fmt::format("\n[{}]\n", name)) {}

  Section& number(std::string_view key, i64 value) { return add(key, std::to_string(value)); }
  Section& flag(std::string_view key, bool value) { return add(key, write_yaml_value(value)); }
  Section& text(std::string_view key, std::string_view value) {
    return add(key, quote_toml(value));
  }
  Section& add(std::string_view key, std::string_view value) {
    text_ += fmt::format("{} = {}\n", key, value);
    return *this;
  }
  const std::string& done() const { return text_; }

 private:
  std::string text_;
};

std::string model_section(const plan::TrainingConfig& s) {
  const importer::TorchtitanFlavor* const flavor =
      s.reference_model ? nullptr : importer::find_flavor(s.model);
  const std::string_view quantized = converter(s.job.matmul);
  if (flavor == nullptr && quantized.empty()) return "";
  Section section("model");
  if (flavor != nullptr) section.text("name", flavor->name).text("flavor", flavor->flavor);
  if (!quantized.empty()) section.add("converters", fmt::format("[{}]", quote_toml(quantized)));
  return section.done();
}

/// Returns the section. With a pipeline, the local batch is the whole batch of a data rank; without
/// one, it is one microbatch.
std::string training_section(const plan::TrainingConfig& s) {
  const i64 passes = s.plan.pp > 1 ? s.microbatches() : 1;
  Section section("training");
  section.number("local_batch_size", s.plan.micro_batch * passes)
      .number("global_batch_size", s.job.global_batch)
      .number("seq_len", s.job.sequence)
      .text("mixed_precision_param", s.job.param_bytes() >= 4 ? "float32" : "bfloat16")
      .text("mixed_precision_reduce", "float32");
  if (s.plan.offload.states()) section.flag("enable_cpu_offload", true);
  return section.done();
}

std::string parallelism_section(const plan::TrainingConfig& s) {
  const plan::Plan& p = s.plan;
  const DataRankSplit data = split_data_ranks(p);
  Section section("parallelism");
  section.number("data_parallel_replicate_degree", data.replicas)
      .number("data_parallel_shard_degree", data.shards)
      .text("fsdp_reshard_after_forward", choose_reshard_policy(p))
      .number("tensor_parallel_degree", p.tp)
      .flag("enable_async_tensor_parallel", p.overlap.tp)
      .number("context_parallel_degree", p.cp);
  if (p.cp > 1)
    section.text("context_parallel_rotate_method",
                 p.cp_comm == plan::CpComm::p2p ? "alltoall" : "allgather");
  section.number("expert_parallel_degree", p.ep);
  if (p.ep > 1) section.number("expert_tensor_parallel_degree", p.etp);
  section.number("pipeline_parallel_degree", p.pp);
  if (p.pp == 1) return section.done();
  section.text("pipeline_parallel_schedule", choose_schedule_class(s));
  if (writes_cells(s)) section.text("pipeline_parallel_schedule_csv", kScheduleFile);
  section.number("pipeline_parallel_microbatch_size", p.micro_batch);
  if (p.ep > 1 && p.schedule == pipeline::Schedule::dualpipe_v)
    section.flag("pipeline_parallel_expert_parallel_overlap", p.overlap.ep);
  if (const std::string modules = list_modules(s, "output", ""); !modules.empty())
    section.add("module_fqns_per_model_part", modules);
  return section.done();
}

std::string recompute_section(const plan::Plan& p) {
  Section section("activation_checkpoint");
  section.text("mode", name(p.recompute));
  if (p.recompute == plan::Recompute::selective) section.text("selective_ac_option", "op");
  return section.done();
}

/// Returns the section that turns on the compiler if the plan states it or tensor parallelism
/// overlaps: async tensor parallelism is a compiler pass, and the trainer stops without it.
std::string compile_section(const plan::TrainingConfig& s) {
  if (!find_compile(s).value_or(false)) return "";
  return Section("compile").flag("enable", true).add("components", "[\"model\", \"loss\"]").done();
}

std::span<const std::string_view> list_torchtitan_0_2_keys() { return kTorchtitan02States; }

std::vector<UnsupportedSetting> find_unsupported_by_torchtitan_0_2(const plan::TrainingConfig& s) {
  std::vector<UnsupportedSetting> lost = find_unsupported_by_both_torchtitans(s);
  if (s.plan.cp > 1 && s.plan.cp_comm == plan::CpComm::a2a)
    lost.push_back({"parallelism.cp_comm", "it supports ring and all-gather; Ulysses came later"});
  if (s.plan.overlap.ep && (s.plan.pp == 1 || s.plan.schedule != pipeline::Schedule::dualpipe_v))
    lost.push_back({"parallelism.overlap.ep", "it overlaps dispatches only in DualPipeV"});
  if (s.job.param_dtype != plan::Dtype::bf16 && s.job.param_dtype != plan::Dtype::fp32)
    lost.push_back({"job.param_dtype", "mixed_precision_param is bfloat16 or float32"});
  if (s.job.grad_dtype != plan::Dtype::fp32)
    lost.push_back({"job.grad_dtype", "it reduces gradients in float32"});
  if (s.job.matmul == plan::Matmul::fp4) lost.push_back({"job.matmul", "it has float8 and mxfp8"});
  return lost;
}

std::vector<ExportFile> write_torchtitan_0_2(const plan::TrainingConfig& s, const ExportOptions&,
                                             const std::vector<std::string>& head) {
  std::vector<ExportFile> files = {
      {"torchtitan.toml", write_comments(head, "#") + model_section(s) + training_section(s) +
                              parallelism_section(s) + recompute_section(s.plan) +
                              compile_section(s) +
                              Section("optimizer").text("name", "AdamW").done()}};
  for (ExportFile& cells : write_schedule_files(s)) files.push_back(std::move(cells));
  return files;
}

}  // namespace

constinit const Exporter kTorchtitan02Exporter{
    .target = rules::Target::torchtitan_0_2,
    .summary = "torchtitan TOML config and its schedule file",
    .states = list_torchtitan_0_2_keys,
    .lost = find_unsupported_by_torchtitan_0_2,
    .write = write_torchtitan_0_2,
};

}  // namespace rankwright::exporter
