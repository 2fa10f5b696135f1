#include "rankwright/cost/memory/offload_time.h"

#include <algorithm>

#include "rankwright/cluster/nvme.h"
#include "rankwright/cost/memory/activations.h"
#include "rankwright/cost/memory/states.h"

namespace rankwright::cost {
namespace {

/// The link between a device and its host, by a part of the device's name or its generation.
struct HostLinkRow {
  std::string_view name;
  BytesPerSecond bandwidth;
};
// PCIe 5 x16 reaches 55 of 63 GB/s on eight H200 at once (stas00/ml-engineering, network), which is
// 87 %; PCIe 4 and 3 likewise. NVLink-C2C reaches 80 % of 450 GB/s in one direction (same source).
constexpr HostLinkRow kHostLinks[] = {
    {"gh200", {360e9}},    {"gb200", {360e9}}, {"gb300", {360e9}}, {"hopper", {55e9}},
    {"blackwell", {55e9}}, {"cdna3", {55e9}},  {"cdna4", {55e9}},  {"volta", {13e9}},
};
constexpr BytesPerSecond kPcie4{27e9};

/// The parameters per second that fp32 Adam updates on a host: in one process, and in all of them.
struct HostUpdateRow {
  plan::HostUpdate update;
  double process, host;
};
// fused and unfused: Qwen3-4B, one process, 4.1 s and 20.7 s beside forward and backward (prime-rl
// PR 3210); 11.6B unfused, 56 s (DeepSpeed PR 735). Eight processes with cores of their own update
// 30.5B in less than a step of 3.96 s (prime-rl PR 3234).
// cpu_adam: 11.6B in 8.2 s (PR 735). Processes of DeepSpeed share the cores of a host: eight of
// them take 10 s for 18.2B (issue 6834).
constexpr HostUpdateRow kHostUpdates[] = {
    {plan::HostUpdate::fused, 1.0e9, 7.7e9},
    {plan::HostUpdate::unfused, 0.2e9, 7.7e9},
    {plan::HostUpdate::cpu_adam, 1.4e9, 1.8e9},
};
// Bytes that fp32 Adam reads and writes per parameter: gradient, master weight and two moments
// read, the last three written.
constexpr double kFp32AdamBytes = 28;

constexpr double kFp32Gradient = 4;  // as the optimizer on the host reads it

/// The transfers of offload and the parameters that the host updates, for one rank and step.
struct HostWork {
  Bytes down{}, up{};   // gradients to the host, updated weights from it
  Bytes gathered{};     // weights to the device, per microbatch
  Bytes returned{};     // the same weights, copied back
  Bytes activations{};  // in each direction, per microbatch
  double updates = 0;   // parameters
  // Between host memory and the drives. Gradients and parameters are written once per step, states
  // are read before the update and written after it, parameters are read in every microbatch.
  Bytes nvme_gradients{}, nvme_read{}, nvme_written{}, nvme_gathered{};
};

/// Returns the seconds in which `ranks` processes of a host update a parameter each. Updates are
/// bound by memory: states in 16 bits take half of the time.
double find_update_time(const plan::TrainingConfig& config, double ranks) {
  const plan::Job& job = config.job;
  const auto* const row = std::find_if(
      std::begin(kHostUpdates), std::end(kHostUpdates),
      [&](const HostUpdateRow& one) { return one.update == config.software.host_update; });
  const StateBytes each = count_state_bytes(config);
  const double moments = job.optimizer_bytes() - double(job.master_bytes());
  const double updated = job.master_bytes() > 0 ? double(job.master_bytes()) : each.weights;
  const double gradient = config.software.fsdp ? each.gradients : kFp32Gradient;
  const double moved = gradient + 2 * (updated + moments);
  return ranks / std::min(ranks * row->process, row->host) * moved / kFp32AdamBytes;
}

/// Adds what moves between host memory and the drives.
void add_nvme_work(const plan::TrainingConfig& config, const OffloadingRank& on, HostWork& work) {
  const KeptOnNvme on_nvme = find_kept_on_nvme(config);
  if (on_nvme.optimizer) {
    work.nvme_gradients = bytes(work.updates, kFp32Gradient);
    work.nvme_written = bytes(work.updates, count_state_bytes(config).optimizer);
    work.nvme_read = work.nvme_written + work.nvme_gradients;
  }
  if (on_nvme.parameters) {
    const Bytes swapped =
        compute_states(config, StateCounts{.share = on.share, .trained = on.trained})
            .nvme_parameters;
    work.nvme_gathered = 2 * swapped;  // in forward and in backward
    work.nvme_written += swapped;
  }
}

HostWork count_host_work(const plan::TrainingConfig& config, const OffloadingRank& on) {
  const plan::Plan& plan = config.plan;
  const plan::Share& trained = on.trained;
  const bool sharded = plan.zero >= 1;
  HostWork work;
  if (plan.offload.optimizer > 0) {
    const StateBytes each = count_state_bytes(config);
    work.updates = plan.offload.optimizer * held(plan, trained, 1, sharded).value;
    work.down = bytes(work.updates, each.gradients);
    work.up = bytes(work.updates, each.weights);
  }
  if (find_kept_on_device(config).weights == 0) {
    // The shard of every layer, in forward and in backward.
    const double base =
        config.job.frozen() ? config.job.base_bytes() : double(config.job.param_bytes());
    work.gathered = 2 * held(plan, on.share, base, shards_weights(config));
    work.up = {};  // with the next gather
    if (config.software.copies_weights_back && plan.data_ranks() == 1)
      work.returned = work.gathered;
  }
  if (plan.offload.activations && plan.recompute == plan::Recompute::full && on.layers > 0) {
    const LayerActivations layer = activations(config, config.model.runs.front().layer);
    work.activations = double(on.layers) * layer.input;
  }
  add_nvme_work(config, on, work);
  return work;
}

}  // namespace

i64 count_host_ranks(const plan::TrainingConfig& config) {
  return std::clamp<i64>(config.cluster.host_devices, 1, std::max<i64>(1, config.world));
}

Bytes count_host_memory(const plan::TrainingConfig& config, const MemoryEstimate& memory) {
  return double(count_host_ranks(config)) * memory.host;
}

bool exceeds_host_memory(const plan::TrainingConfig& config, const MemoryEstimate& memory) {
  const Bytes stated = config.cluster.host.memory;
  return stated > Bytes{} && count_host_memory(config, memory) > stated;
}

Bytes count_nvme_space(const plan::TrainingConfig& config, const MemoryEstimate& memory) {
  return double(count_host_ranks(config)) * memory.nvme;
}

bool exceeds_nvme_capacity(const plan::TrainingConfig& config, const MemoryEstimate& memory) {
  const Bytes stated = config.cluster.host.nvme.capacity;
  return stated > Bytes{} && count_nvme_space(config, memory) > stated;
}

bool fits_host(const plan::TrainingConfig& config, const MemoryEstimate& memory) {
  return !exceeds_host_memory(config, memory) && !exceeds_nvme_capacity(config, memory);
}

BytesPerSecond find_host_bandwidth(const cluster::Device& device) {
  for (const HostLinkRow& row : kHostLinks)
    if (device.name.find(row.name) != std::string::npos || device.generation == row.name)
      return row.bandwidth;
  return kPcie4;
}

OffloadTime estimate_offload_time(const plan::TrainingConfig& config, const OffloadingRank& on) {
  if (!config.plan.offload.any()) return {};
  const HostWork work = count_host_work(config, on);
  const BytesPerSecond stated = config.cluster.host.link;
  const BytesPerSecond link =
      stated > BytesPerSecond{} ? stated : find_host_bandwidth(config.cluster.device);
  const double m = double(config.microbatches());
  // The ranks of a host share its cores and its drives.
  const double ranks = double(count_host_ranks(config));
  const cluster::Nvme nvme = find_nvme(config.cluster);
  const BytesPerSecond nvme_read = nvme.read / ranks, nvme_write = nvme.write / ranks;
  const auto exposed = [](Seconds time, Seconds compute) {
    return std::max(Seconds{}, time - compute);
  };
  // Gradients leave during the backward of the last microbatch; then the host reads the states of
  // one sub-group after another, updates and writes them, and the weights return.
  const Seconds down = std::max(work.down / link, work.nvme_gradients / nvme_write);
  const Seconds updates = Seconds{work.updates * find_update_time(config, ranks)} +
                          work.nvme_read / nvme_read + work.nvme_written / nvme_write;
  const Seconds up = work.up / link;
  // Weights and saved inputs move beside the computation of other layers. From a drive, the slower
  // of its link and that of the device counts.
  const Seconds streamed =
      std::max(work.gathered / link, work.nvme_gathered / nvme_read) + 2 * work.activations / link;
  const Seconds shown = exposed(down, on.backward) + updates + up +
                        m * (exposed(streamed, on.forward + on.backward) + work.returned / link);
  return {shown, down + updates + up + m * (streamed + work.returned / link) - shown};
}

}  // namespace rankwright::cost
