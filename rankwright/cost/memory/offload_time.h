// The time that offload to the host adds to a step: transfers over the link between device and
// host, between host and NVMe drives, and the optimizer's update on the host (formulas X15 and
// X18). The rates are those that published runs reach; they are not fitted.
#pragma once

#include "rankwright/base/units.h"
#include "rankwright/cost/memory/memory.h"
#include "rankwright/plan/plan.h"
#include "rankwright/plan/shares.h"

namespace rankwright::cost {

/// Returns the ranks that share the memory and the cores of a host.
i64 count_host_ranks(const plan::TrainingConfig& config);

/// Returns the memory of a host that all its ranks offload to.
Bytes count_host_memory(const plan::TrainingConfig& config, const MemoryEstimate& memory);

/// Returns whether that is more than the cluster states; false if it states nothing.
bool exceeds_host_memory(const plan::TrainingConfig& config, const MemoryEstimate& memory);

/// Returns the space on the NVMe drives of a host that all its ranks offload to.
Bytes count_nvme_space(const plan::TrainingConfig& config, const MemoryEstimate& memory);

/// Returns whether that is more than the cluster states; false if it states nothing.
bool exceeds_nvme_capacity(const plan::TrainingConfig& config, const MemoryEstimate& memory);

/// Returns whether what is offloaded fits in the memory and on the drives of a host.
bool fits_host(const plan::TrainingConfig& config, const MemoryEstimate& memory);

/// Returns the bandwidth that a device reaches to the memory of its host, in one direction.
BytesPerSecond find_host_bandwidth(const cluster::Device& device);

/// The parameters and layers of one pp rank, and its time per microbatch.
struct OffloadingRank {
  plan::Share share{}, trained{};
  i64 layers = 0;
  Seconds forward{}, backward{};
};

/// The time of offload in one step: `exposed` delays the step, `overlapped` runs beside
/// computation.
struct OffloadTime {
  Seconds exposed{}, overlapped{};
};

/// Estimates the transfers and the host's update in one step on a pp rank.
OffloadTime estimate_offload_time(const plan::TrainingConfig& config, const OffloadingRank& on);

}  // namespace rankwright::cost
