// The store keeps the weights, gradients and optimizer states of one rank as ZeRO says, and moves
// them: gathers what is computed with, reduces what was computed, takes the optimizer's step. A
// region is elements in a row that are cut over the data ranks together: all that a chunk holds, in
// buckets (ZeRO 0 to 2), or one unit (ZeRO 3). Which of it happens when is the Program's business.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "rankwright/runtime/optimizer.h"
#include "rankwright/runtime/rank.h"
#include "rankwright/runtime/stage.h"

namespace rankwright::runtime {

/// What is reduced or gathered in one call.
struct Bucket {
  i64 first = 0, count = 0;  // in its region
  Part own{};                // of the bucket: what this rank updates
  i64 shard = 0;             // where that begins among all that it updates of the region
  Pending moving{};          // its reduction or gather
  bool reduced = false;      // in this step, or begun
  Tensor landing{};          // ZeRO-1: where the own part of the sum arrives
};

struct Region {
  std::vector<Unit*> units{};
  std::vector<i64> offsets{};  // by unit
  std::size_t chunk = 0;
  i64 size = 0, own = 0;
  std::vector<Bucket> buckets{};
  Tensor weights{};        // whole; nothing while ZeRO-3 has given them up
  Tensor gradients{};      // whole: ZeRO 0 and 1
  Tensor own_gradients{};  // of what this rank updates: ZeRO 2 and 3
  Tensor own_weights{};    // the same: ZeRO 3
  Tensor master{};         // the same in the format of sums, where weights have less
  i64 complete = 0;        // gradients so far in this backward; ZeRO-2: that left for buckets
  Tensor filling{};        // ZeRO-2: the bucket that they went to
};

class ShardedParams {
 public:
  ShardedParams(const Rank& rank, Shard& shard, const AdamOptions& options, std::uint64_t seed);

  // ZeRO-3. begin: its gather; need: wait for it; drop: give the weights up.
  void begin(Unit& unit);
  void unshard(Unit& unit);
  void reshard(Unit& unit);

  /// Gradients of the unit's parameters may be added to from here on.
  void open(Unit& unit);
  /// Its piece's backward is done. `last`: of the last microbatch of its chunk.
  void complete(Unit& unit, bool last);

  // Once a step. Buckets of a chunk are numbered in the order of the Program's calls.
  void clear_gradients();
  std::size_t buckets(std::size_t chunk) const;
  void begin_gather(std::size_t chunk, std::size_t bucket);
  void begin_reduce(std::size_t chunk, std::size_t bucket);
  void finish_gathers(std::size_t chunk);
  void finish_reductions();
  void sum_partial();  // over tp: gradients of what all its ranks hold
  void sum_shared();   // between the first and the last pp rank
  /// With the other pp rank that holds the chunk: as many calls as it has buckets.
  void sum_mirror(std::size_t chunk, std::size_t bucket);
  std::size_t mirrors(std::size_t chunk) const;
  double squared_norm();      // of what this rank alone counts
  void update(double scale);  // gradients times scale, then AdamW

  /// Calls that were begun go on while the rank computes.
  void move_on();

  /// For tests: a parameter's gradient as this rank has it before the optimizer's step, whole; its
  /// parts that other ranks update are zero.
  Tensor gradient_of(const Parameter& parameter) const;

 private:
  struct Reducing {
    Pending pending{};
    Tensor whole{}, part{}, into{};
  };
  struct Place {
    Region* region = nullptr;
    std::size_t unit = 0;
  };

  void add_regions(StagePart& stage, std::size_t chunk);
  void add_region(std::vector<Unit*> units, std::size_t chunk);
  void fill(Region& region, std::uint64_t seed);
  void set_views(Region& region, std::size_t unit, Tensor Parameter::*view, const Tensor& whole,
                 i64 offset);
  void add_segments(Region& region);
  void scatter_into(const Tensor& whole, const Tensor& into);
  void leave(Region& region, const Tensor& gradients);
  void finish_scatters();
  void finish(Region& region, Bucket& bucket);
  Place place(const Unit& unit);
  Region& region_of(std::size_t chunk, std::size_t& bucket);
  const Region& region_of(std::size_t chunk, std::size_t& bucket) const;
  Tensor own_master(Region& region, const Bucket& bucket) const;
  Tensor own_gradient(const Region& region, const Bucket& bucket) const;
  template <class Visit>
  void for_each_own(const Region& region, Visit visit) const;

  const Rank& rank_;
  int zero_;
  std::deque<Region> regions_{};
  std::deque<Reducing> reducing_{};                     // ZeRO 2 and 3, oldest first
  std::vector<std::pair<const Unit*, Tensor>> open_{};  // ZeRO 2 and 3: gradients being added up
  std::unique_ptr<Optimizer> optimizer_;
};

}  // namespace rankwright::runtime
