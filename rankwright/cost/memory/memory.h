// The memory ledger of a plan: what fills a device when it is fullest, entry by entry, so that a
// person can add it up. One ledger is of one pp rank: all ranks of a pp rank hold alike. What must
// fit is total(). Formulas M4 to M24.
//
// Nothing is simulated here: how many microbatches a pp rank holds is stated by its schedule
// (program/schedule/schedule.h), and of three instants the fullest counts.
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

enum class Entry : unsigned char {
  // States.
  parameters,
  gradients,
  optimizer,
  // What comes and goes within a step.
  activations,
  recomputed_layer,
  layer_gradients,
  logits,
  head_gradient,
  embedding_gradient,
  gathered_units,
  reduce_scatter,
  sequence_gather,
  empty_gradients,
  buckets,
  workspace,
  // Beyond what tensors take.
  reserve,
  context,
  communicators,
};
inline constexpr std::size_t kEntries = std::size_t(Entry::communicators) + 1;

/// One row an entry.
struct EntryRow {
  Entry entry;
  std::string_view name;
  std::string_view meaning;
  std::string_view formula;  // its number in docs/reference/formulas.md
  cluster::Origin origin;    // data_sheet: counted from shapes and formats
};
std::span<const EntryRow> entries();
const EntryRow& row(Entry);
std::string_view name(Entry);

/// When a pp rank is fullest. backward: of a layer; loss: of the head and the loss; embedding: its
/// gradient is whole, and the activations of this microbatch are gone.
enum class Instant : unsigned char { backward, loss, embedding };
std::string_view name(Instant);

struct MemoryEstimate {
  i64 pp_rank = 0;
  Instant instant = Instant::backward;
  std::array<Bytes, kEntries> entries{};

  Bytes operator[](Entry entry) const { return entries[std::size_t(entry)]; }
  Bytes& operator[](Entry entry) { return entries[std::size_t(entry)]; }

  Bytes states() const;     // parameters, gradients, optimizer
  Bytes allocated() const;  // all tensors: the most that PyTorch says is allocated
  Bytes reserved() const;   // and what its allocator holds besides
  Bytes total() const;      // and what lies outside it: what the driver shows, and what must fit

  friend bool operator==(const MemoryEstimate&, const MemoryEstimate&) = default;
};

/// Of a rank of `pp_rank`. The config has no violation.
MemoryEstimate estimate_memory(const plan::TrainingConfig& config, i64 pp_rank,
                               const cluster::Calibration& calibration);

/// By pp rank, in one go; and the one whose total is largest, the first of equals.
std::vector<MemoryEstimate> estimate_memory_per_pp_rank(const plan::TrainingConfig& config,
                                                        const cluster::Calibration& calibration);
MemoryEstimate fullest(const plan::TrainingConfig& config, const cluster::Calibration& calibration);

/// The same for a search: plans that differ in ZeRO alone have the same loads.
MemoryEstimate fullest(const plan::TrainingConfig& config, const cluster::Calibration& calibration,
                       std::span<const RankLoad> loads);

}  // namespace rankwright::cost
