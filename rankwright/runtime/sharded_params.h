// ShardedParams owns the weights, gradients and optimizer states of one rank, sharded by the ZeRO
// stage. It gathers weights, reduces gradients and updates the shard; the Program decides when. A
// region is a contiguous range that is sharded as a whole over the data ranks: all parameters of a
// chunk that are trained, in buckets (ZeRO 0 to 2), or one unit (ZeRO 3). Frozen parameters have
// weights only, which ZeRO 0 to 2 do not shard.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "rankwright/runtime/optimizer.h"
#include "rankwright/runtime/rank.h"
#include "rankwright/runtime/stage.h"

namespace rankwright::runtime {

/// The elements that one call reduces or gathers.
struct Bucket {
  i64 first = 0, count = 0;  // elements of its region
  Part own{};                // the part of the bucket that this rank updates
  i64 shard = 0;             // offset of that part in this rank's shard of the region
  Pending moving{};          // its reduction or gather in flight
  bool reduced = false;      // its reduction in this step was started
  Tensor landing{};          // ZeRO-1: receives this rank's part of the sum
};

/// Parameters that are sharded together.
struct Region {
  std::vector<Unit*> units{};
  std::vector<i64> offsets{};  // by unit
  std::size_t chunk = 0;
  Training training = Training::full;  // of all its units
  i64 size = 0, own = 0;
  std::vector<Bucket> buckets{};
  Tensor weights{};        // whole; undefined while ZeRO-3 has them sharded
  Tensor gradients{};      // whole: ZeRO 0 and 1
  Tensor own_gradients{};  // this rank's shard: ZeRO 2 and 3
  Tensor own_weights{};    // this rank's shard: ZeRO 3
  Tensor master{};         // this rank's shard in the sum format, if weights are narrower
  i64 complete = 0;        // gradients complete in this backward; ZeRO-2: copied to buckets
  Tensor filling{};        // ZeRO-2: the bucket being filled
};

/// The sharded parameters of one rank.
class ShardedParams {
 public:
  ShardedParams(const Rank& rank, Shard& shard, const AdamOptions& options, std::uint64_t seed);

  // ZeRO-3 only, else no-ops. begin() starts the unit's all-gather, unshard() waits for it (and
  // starts it if needed), reshard() frees the gathered weights.
  void begin(Unit& unit);
  void unshard(Unit& unit);
  void reshard(Unit& unit);

  /// Makes the gradients of the unit's parameters ready to accumulate into.
  void open(Unit& unit);
  /// Marks the unit's gradients of one microbatch as complete, which may start their reduction.
  /// `last`: this is the chunk's last microbatch.
  void complete(Unit& unit, bool last);

  // Called once per step. Buckets of a chunk are numbered in the order of the Program's calls.
  void clear_gradients();
  std::size_t buckets(std::size_t chunk) const;
  void begin_gather(std::size_t chunk, std::size_t bucket);
  void begin_reduce(std::size_t chunk, std::size_t bucket);
  void finish_gathers(std::size_t chunk);
  void finish_reductions();
  void sum_partial();  // over tp: gradients of replicated parameters
  void sum_shared();   // between first and last pp rank: tied embedding
  /// Sums gradients with the other pp rank that holds the chunk (DualPipe), in mirrors() calls.
  void sum_mirror(std::size_t chunk, std::size_t bucket);
  std::size_t mirrors(std::size_t chunk) const;
  double squared_norm();      // of the gradients that no other rank counts
  void update(double scale);  // multiplies gradients by `scale`, then runs AdamW

  /// Progresses nonblocking calls in flight.
  void progress_calls();

  /// For tests: returns a parameter's whole gradient before the optimizer's step. Elements that
  /// other ranks update are zero.
  Tensor gradient_of(const Parameter& parameter) const;
  /// For tests: returns copies of the frozen weights that this rank stores.
  std::vector<Tensor> copy_frozen() const;

 private:
  struct PendingReduce {
    Pending pending{};
    Tensor whole{}, part{}, into{};
  };
  struct UnitPlace {
    Region* region = nullptr;
    std::size_t unit = 0;
  };

  void add_regions(StagePart& stage, std::size_t chunk);
  void add_region(std::vector<Unit*> units, std::size_t chunk);
  void initialize(Region& region, std::uint64_t seed);
  void set_views(Region& region, std::size_t unit, Tensor Parameter::*view, const Tensor& whole,
                 i64 offset);
  void add_segments(Region& region);
  void scatter_into(const Tensor& whole, const Tensor& into);
  void add_to_buckets(Region& region, const Tensor& gradients);
  void finish_scatters();
  void finish(Region& region, Bucket& bucket);
  UnitPlace find_place(const Unit& unit);
  Region& find_region(std::size_t chunk, std::size_t& bucket);
  const Region& find_region(std::size_t chunk, std::size_t& bucket) const;
  Tensor own_master(Region& region, const Bucket& bucket) const;
  Tensor own_gradient(const Region& region, const Bucket& bucket) const;
  template <class Visit>
  void for_each_own(const Region& region, Visit visit) const;

  const Rank& rank_;
  int zero_;
  std::deque<Region> regions_{};
  std::deque<PendingReduce> reducing_{};                // ZeRO 2 and 3, oldest first
  std::vector<std::pair<const Unit*, Tensor>> open_{};  // ZeRO 2 and 3: being accumulated
  std::unique_ptr<Optimizer> optimizer_;
};

}  // namespace rankwright::runtime
