// Writes Megatron-LM's flags as a shell file to source or to run: the flags of pretrain_gpt.py and
// the environment that they need. Data, tokenizer, checkpoints and learning rates are left to the
// user. Checked against main of 2026-08 (core 0.20 dev).
#include <fmt/format.h>

#include "rankwright/export/framework/megatron_settings.h"
#include "rankwright/export/rows.h"

namespace rankwright::exporter {
namespace {

constexpr std::string_view kUse =
    "# Each rank runs: bash THIS_FILE python pretrain_gpt.py YOUR_DATA_AND_TOKENIZER_FLAGS\n"
    "# In a script of your own, source it and pass \"${RANKWRIGHT_ARGS[@]}\" to pretrain_gpt.py.\n"
    "# The launcher must start this many ranks. Shapes are included. Settings that do not "
    "change\n"
    "# the cost of a step are left to you: rotary base and scaling, epsilons, router details.\n";

// Without a condition, whose value an importer would not know.
constexpr std::string_view kRun =
    "# If this file is run and not sourced, start the given command with the flags.\n"
    "(return 0 2>/dev/null) ||\n"
    "  exec \"${1:?the command to start, such as python}\" \"${@:2}\" "
    "\"${RANKWRIGHT_ARGS[@]}\"\n";

/// Returns a comment that names the package that the dispatcher needs besides Megatron-LM.
std::string write_needed_package(const plan::TrainingConfig& s) {
  // By plan::Dispatcher.
  constexpr std::string_view kPackages[] = {
      "", "DeepEP (github.com/deepseek-ai/DeepEP)",
      "HybridEP (branch hybrid-ep of github.com/deepseek-ai/DeepEP)",
      "UCCL-EP (github.com/uccl-project/uccl)"};
  static_assert(std::size(kPackages) == std::size_t(plan::Dispatcher::uccl) + 1);
  const std::string_view package = kPackages[std::size_t(s.plan.dispatcher)];
  if (s.plan.ep == 1 || package.empty()) return "";
  return fmt::format(
      "# Its dispatcher needs {}.\n# Without that package, plan with --dispatcher alltoall.\n",
      package);
}

/// Returns the number of nodes and of GPUs per node if ranks fill whole nodes, else the world size.
std::string write_launch(const plan::TrainingConfig& s) {
  constexpr i64 kMaxGpus = 4096;
  const i64 gpus = s.cluster.host_devices;
  if (divides(gpus, s.world) && gpus <= kMaxGpus)
    return fmt::format("NNODES={}\nGPUS_PER_NODE={}\n", s.world / gpus, gpus);
  return fmt::format("WORLD_SIZE={}\n", s.world);
}

/// Returns the environment. Before Blackwell, tp and cp need a single device queue to keep their
/// collectives in order; FSDP and overlapped dispatch and combine need several.
std::string write_environment(const plan::TrainingConfig& s) {
  const bool blackwell =
      s.cluster.device.vendor != "NVIDIA" || s.cluster.device.fp4 > FlopsPerSecond{};
  if (s.plan.zero >= 2) return "unset CUDA_DEVICE_MAX_CONNECTIONS\n";
  if (s.plan.overlap.ep) return "export CUDA_DEVICE_MAX_CONNECTIONS=32\n";
  if ((s.plan.tp > 1 || s.plan.cp > 1) && !blackwell)
    return "export CUDA_DEVICE_MAX_CONNECTIONS=1\n";
  return "";
}

std::vector<ExportFile> write_megatron(const plan::TrainingConfig& s, const ExportOptions&,
                                       const std::vector<std::string>& head) {
  std::string text = write_comments(head, "#") + std::string(kUse) + write_needed_package(s) +
                     write_launch(s) + write_environment(s);
  text += "RANKWRIGHT_ARGS=(\n";
  for (const std::vector<MegatronSetting>& rows : {list_megatron_layout(s), list_megatron_model(s)})
    for (const MegatronSetting& row : rows) text += fmt::format("  {}\n", format_flag(row));
  return {{"megatron.sh", text + ")\n" + std::string(kRun)}};
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
