// The Engine is what a rank computes with: its share of the model, the store and the role, over
// groups that somebody joined. It needs no world: with groups of one rank each it is the model on a
// single process, which every layout is compared with.
#pragma once

#include <memory>

#include "rankwright/program/program.h"
#include "rankwright/runtime/role.h"

namespace rankwright::runtime {

/// The plan's groups that this rank is in. Collective: all ranks of the world at the same time.
Result<Groups> join(const Setup& setup, const World& world, const Backend& backend,
                    Counters* counters);

class Engine {
 public:
  /// `rank` is this rank's number in the plan.
  Engine(const Setup& setup, const TrainOptions& options, i64 rank, const Groups& groups);

  void step(const Corpus& corpus, i64 step) { role_.run(corpus, step); }

  const Setup& setup() const { return setup_; }
  const Program& program() const { return program_; }
  const Rank& rank() const { return rank_; }
  Shard& shard() { return shard_; }
  Store& store() { return store_; }
  Role& role() { return role_; }

 private:
  Setup setup_;
  Program program_;
  Rank rank_;
  Shard shard_;
  Store store_;
  Role role_;
};

}  // namespace rankwright::runtime
