// The World is all ranks of a run: this rank's position, the communicators of the plan's groups,
// and communication outside the plan (step results, stop requests), which is not counted as
// traffic. It initializes and finalizes the backend.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankwright/base/result.h"
#include "rankwright/plan/plan.h"
#include "rankwright/runtime/group.h"

namespace rankwright::runtime {

/// One communication backend.
struct Backend {
  std::string_view name;     // "mpi"
  std::string_view summary;  // what it needs, and whether it was ever tested
  bool built;                // if false, a stub that reports what was missing at build time
  /// Returns the transport of the world's ranks `members`. Requires: this rank is a member, and all
  /// members call it at the same time, with groups in the same order.
  Result<std::shared_ptr<Transport>> (*join)(const std::vector<i64>& members);
};
std::span<const Backend> backends();
const Backend* find_backend(std::string_view name);

/// Uses MPI for processes and bootstrap, whatever backend carries the collectives. One per program;
/// any thread may call it and its groups, but only one at a time.
class World {
 public:
  static Result<std::unique_ptr<World>> start();
  /// Collective. Requires: no group is used afterwards. A rank that must leave alone calls abort(),
  /// or exits without the destructor, and the launcher ends the other ranks.
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  i64 rank() const;
  i64 size() const;
  i64 host_rank() const;  // index among the ranks of this host
  std::string host() const;

  /// Returns the group of `kind` that this rank is in. Collective.
  Result<Group> group(const plan::TrainingConfig& config, mesh::GroupKind kind,
                      const Backend& backend, Counters* counters) const;

  // Communication outside the plan, not in its counters. Collective.
  void sum(std::vector<double>& values) const;
  void max(std::vector<double>& values) const;
  std::vector<double> gather(const std::vector<double>& values) const;  // rank 0: all, by rank
  void broadcast(std::string& text) const;                              // from rank 0
  void barrier() const;
  /// Ends all ranks at once, after an error that cannot be recovered.
  [[noreturn]] void abort(int code) const;

 private:
  World();
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace rankwright::runtime
