// Writes Megatron-LM's flags as a shell file to source: the flags of pretrain_gpt.py and the
// environment that they need. Data, tokenizer, checkpoints and learning rates are left to the user.
// Checked against main of 2026-08 (core 0.20 dev).
#include <fmt/format.h>

#include "rankwright/export/framework/megatron_settings.h"
#include "rankwright/export/rows.h"

namespace rankwright::exporter {
namespace {

constexpr std::string_view kUse =
    "# Source it, and give pretrain_gpt.py \"${RANKWRIGHT_ARGS[@]}\" before your flags for data "
    "and\n"
    "# tokenizer: whatever launcher starts it has to start this many ranks. Shapes are stated; "
    "what\n"
    "# does not change a step's cost is yours: rotary base and scaling, epsilons, router "
    "details.\n";

/// Returns the number of nodes and of GPUs per node if ranks fill whole nodes, else the world size.
std::string write_launch(const plan::TrainingConfig& s) {
  constexpr i64 kMaxGpus = 4096;
  const i64 gpus = s.cluster.host_devices;
  if (divides(gpus, s.world) && gpus <= kMaxGpus)
    return fmt::format("NNODES={}\nGPUS_PER_NODE={}\n", s.world / gpus, gpus);
  return fmt::format("WORLD_SIZE={}\n", s.world);
}

/// Returns the environment. Before Blackwell, tp and cp need a single device queue to keep their
/// collectives in order; FSDP needs several.
std::string write_environment(const plan::TrainingConfig& s) {
  const bool blackwell =
      s.cluster.device.vendor != "NVIDIA" || s.cluster.device.fp4 > FlopsPerSecond{};
  if (s.plan.zero >= 2) return "unset CUDA_DEVICE_MAX_CONNECTIONS\n";
  if ((s.plan.tp > 1 || s.plan.cp > 1) && !blackwell)
    return "export CUDA_DEVICE_MAX_CONNECTIONS=1\n";
  return "";
}

std::vector<ExportFile> write_megatron(const plan::TrainingConfig& s, const ExportOptions&,
                                       const std::vector<std::string>& head) {
  std::string text =
      write_comments(head, "#") + std::string(kUse) + write_launch(s) + write_environment(s);
  text += "RANKWRIGHT_ARGS=(\n";
  for (const std::vector<MegatronSetting>& rows : {list_megatron_layout(s), list_megatron_model(s)})
    for (const MegatronSetting& row : rows) text += fmt::format("  {}\n", format_flag(row));
  return {{"megatron.sh", text + ")\n"}};
}

}  // namespace

constinit const Exporter kMegatronExporter{
    .target = rules::Target::megatron,
    .summary = "flags for Megatron-LM's pretrain_gpt.py",
    .states = list_megatron_keys,
    .lost = find_unsupported_by_megatron,
    .write = write_megatron,
};

}  // namespace rankwright::exporter
