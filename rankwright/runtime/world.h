// The World is all ranks of a run: who I am, which communicators the plan's groups become, and what
// ranks say to each other outside the plan (how the step went, whether somebody wants to stop),
// which is counted apart. It starts and ends the backend.
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

/// One row a backend.
struct Backend {
  std::string_view name;     // "mpi"
  std::string_view summary;  // what it needs, and whether it has ever run
  bool built;                // else a stub that says what was missing at build time
  /// The transport of the ranks `members` of the world, this one among them; all of them call it
  /// at the same time, groups in the same order.
  Result<std::shared_ptr<Transport>> (*join)(const std::vector<i64>& members);
};
std::span<const Backend> backends();
const Backend* find_backend(std::string_view name);

/// MPI for processes and bootstrap, whatever carries the collectives. One in a program; any thread
/// may call it and its groups, one at a time.
class World {
 public:
  static Result<std::unique_ptr<World>> start();
  /// Collective, after every group's last call: who has to leave alone calls abort, or exits
  /// without it, and the launcher ends the others.
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  i64 rank() const;
  i64 size() const;
  i64 host_rank() const;  // among the ranks of this host
  std::string host() const;

  /// The communicator of the group of `kind` that this rank is in. Collective.
  Result<Group> group(const plan::TrainingConfig& config, mesh::GroupKind kind,
                      const Backend& backend, Counters* counters) const;

  /// Outside the plan, and not in its counters.
  void sum(std::vector<double>& values) const;
  void max(std::vector<double>& values) const;
  std::vector<double> gather(const std::vector<double>& values) const;  // rank 0: all, in order
  void broadcast(std::string& text) const;                              // from rank 0
  void barrier() const;
  /// Ends all ranks at once: somebody found something that cannot go on.
  [[noreturn]] void abort(int code) const;

 private:
  World();
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace rankwright::runtime
