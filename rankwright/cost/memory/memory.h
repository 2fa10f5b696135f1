// The memory estimate of a plan: the peak memory of a device by entry. One estimate is for one pp
// rank, because all ranks with the same pp rank hold the same. total() must fit the device.
// Formulas M4 to M39.
//
// Nothing is simulated: the schedule states how many microbatches a pp rank holds
// (program/schedule/schedule.h), and the fullest of four instants counts.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "rankwright/base/units.h"
#include "rankwright/cluster/calibration.h"
#include "rankwright/cost/memory/rank_load.h"
#include "rankwright/plan/plan.h"

namespace rankwright::cost {

/// One line of a memory estimate.
enum class Entry : unsigned char {
  // States.
  parameters,
  gradients,
  optimizer,
  reference,
  // Allocated and freed within a step.
  activations,
  recomputed_layer,
  layer_gradients,
  logits,
  head_gradient,
  embedding_gradient,
  gathered_units,
  weight_copies,
  reduce_scatter,
  sequence_gather,
  empty_gradients,
  buckets,
  rotary_tables,
  optimizer_temporaries,
  workspace,
  // Outside tensors.
  graph_pool,
  reserve,
  context,
  dispatch_buffers,
  communicators,
};
inline constexpr std::size_t kEntries = std::size_t(Entry::communicators) + 1;

/// The description of an entry.
struct EntryRow {
  Entry entry;
  std::string_view name;
  std::string_view meaning;
  std::string_view formula;  // its number in docs/reference/formulas.md
  cluster::Origin origin;    // data_sheet: computed from shapes and formats
};
std::span<const EntryRow> entries();
const EntryRow& row(Entry);
std::string_view name(Entry);

/// The instant of a pp rank's peak memory. backward: in the backward of a layer; loss: at the
/// output head and the loss; embedding: its gradient is complete, and the activations of its
/// microbatch are freed; update: in the optimizer's step, when all activations are freed.
enum class Instant : unsigned char { backward, loss, embedding, update };
std::string_view name(Instant);

/// The peak memory of a rank of one pp rank, by entry.
struct MemoryEstimate {
  i64 pp_rank = 0;
  Instant instant = Instant::backward;
  std::array<Bytes, kEntries> entries{};
  Bytes host{};  // what offload keeps in the memory of the host, for this rank (M31)
  Bytes nvme{};  // what it keeps on the NVMe drives of the host, for this rank (M39)

  Bytes operator[](Entry entry) const { return entries[std::size_t(entry)]; }
  Bytes& operator[](Entry entry) { return entries[std::size_t(entry)]; }

  Bytes states() const;     // parameters, gradients, optimizer, reference model
  Bytes allocated() const;  // all tensors: PyTorch's maximum allocated memory
  Bytes reserved() const;   // allocated() plus the reserve of PyTorch's allocator
  Bytes total() const;      // reserved() plus the rest: the driver's figure, which must fit

  friend bool operator==(const MemoryEstimate&, const MemoryEstimate&) = default;
};

/// Estimates the memory of a rank of `pp_rank`. Requires: the config has no constraint violation.
MemoryEstimate estimate_memory(const plan::TrainingConfig& config, i64 pp_rank,
                               const cluster::Calibration& calibration);

/// Estimates the memory of all pp ranks.
std::vector<MemoryEstimate> estimate_memory_per_pp_rank(const plan::TrainingConfig& config,
                                                        const cluster::Calibration& calibration);

/// Returns the estimate of the pp rank with the largest total, the first one on a tie.
MemoryEstimate fullest(const plan::TrainingConfig& config, const cluster::Calibration& calibration);

/// Does so for given loads. For a search: plans that differ only in ZeRO have the same loads.
MemoryEstimate fullest(const plan::TrainingConfig& config, const cluster::Calibration& calibration,
                       std::span<const RankLoad> loads);

}  // namespace rankwright::cost
