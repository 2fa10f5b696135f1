// A Problem is what a search is asked: what to train on what (a TrainingConfig without its plan),
// what the plan may be, and what it may take. No results.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "rankwright/plan/plan.h"
#include "rankwright/rules/rule.h"

namespace rankwright::search {

/// What a number may be, both ends included.
struct Range {
  i64 min = 1;
  i64 max = std::numeric_limits<i64>::max();

  bool has(i64 value) const { return min <= value && value <= max; }
  friend bool operator==(const Range&, const Range&) = default;
};

/// What a plan may be. As it stands: anything.
struct Limits {
  Range tp{}, cp{}, pp{}, dp{}, ep{}, etp{};
  Range micro_batch{};
  Range chunks{};
  Range zero{0, 3};
  bool hybrid = true;                            // sharding inside a level
  std::optional<plan::Recompute> recompute{};    // else all
  std::optional<pipeline::Schedule> schedule{};  // else all
  std::optional<bool> sequence_parallel{};       // else both
  std::optional<plan::CpComm> cp_comm{};         // else all
  std::optional<mesh::Order> order{};            // else all
  bool even = false;                             // no stage split but the even one
  rules::Target target = rules::Target::any;     // what this framework can run without a warning

  friend bool operator==(const Limits&, const Limits&) = default;
};

struct Problem {
  /// Model, cluster, job, software and world; of the plan what is not searched: overlap.
  plan::TrainingConfig config;
  Limits limits{};
  Bytes capacity{};  // a plan that takes more does not fit
  /// Sends are hidden where a pp rank has several chunks, as frameworks do it; else as the plan's
  /// overlap says.
  bool overlap_chunks = false;

  /// A plan that takes no more fits with margin.
  Bytes safe() const;
};

/// The whole device.
Problem make_problem(plan::TrainingConfig config, Limits limits = {});

}  // namespace rankwright::search
