// A Problem is the input of a search: a TrainingConfig without its plan, limits of the plan, and
// the memory that it may take.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "rankwright/cost/memory/verdict.h"
#include "rankwright/plan/plan.h"
#include "rankwright/rules/rule.h"

namespace rankwright::search {

/// Allowed values of a number, from `min` to `max` inclusive.
struct Range {
  i64 min = 1;
  i64 max = std::numeric_limits<i64>::max();

  bool has(i64 value) const { return min <= value && value <= max; }
  friend bool operator==(const Range&, const Range&) = default;
};

/// Restrictions of the search space. The default allows every plan.
struct Limits {
  Range tp{}, cp{}, pp{}, dp{}, ep{}, etp{};
  Range micro_batch{};
  Range chunks{};
  Range zero{0, 3};
  bool hybrid = true;                            // also shard inside one network level
  std::optional<plan::Recompute> recompute{};    // nothing: all
  bool recompute_parts = true;                   // also sets of modules and parts of the layers
  std::optional<pipeline::Schedule> schedule{};  // nothing: all
  std::optional<bool> sequence_parallel{};       // nothing: both
  std::optional<plan::CpComm> cp_comm{};         // nothing: all
  std::optional<mesh::Order> order{};            // nothing: all
  bool even = false;                             // only even stage splits
  rules::Target target = rules::Target::any;     // only plans that it runs without warning
  bool published = false;                        // only plans near a published run (X14)

  friend bool operator==(const Limits&, const Limits&) = default;
};

/// The input of a search.
struct Problem {
  /// Model, cluster, job, software and world. Only the overlap, the offload and the dispatcher of
  /// its plan are used.
  plan::TrainingConfig config;
  Limits limits{};
  Bytes capacity{};  // memory of one device
  /// The worst verdict on memory that a plan may have.
  cost::MemoryVerdict accepts = cost::MemoryVerdict::tight;
  std::optional<Bytes> max_memory{};  // a plan may not take more, even if the device has more
  /// True: sends overlap if a pp rank has several chunks, as in frameworks. False: as in the
  /// overlap of the config's plan.
  bool overlap_chunks = false;
  /// True: experts in other nodes are reached with one copy per node (plan::Dispatcher::deepep), as
  /// Megatron-LM can. False: as in the config's plan.
  bool dispatch_per_node = false;

  /// Returns the memory that a plan may take.
  Bytes limit() const;
  /// Returns the memory up to which a plan is within the limit and fits with margin.
  Bytes safe() const;
};

/// Makes a problem whose capacity is the whole memory of a device.
Problem make_problem(plan::TrainingConfig config, Limits limits = {});

}  // namespace rankwright::search
