// A Program lists what each rank does in one training step, in order. All ranks with the same pp
// rank share a role, whose actions are the cells of the schedule, the transfers between stages and
// the role's own steps (once-per-step collectives, the optimizer). The layers and collectives
// inside a cell are the body of its (stage, kind), stored once. Times are in simulate.h and cost/.
#pragma once

#include <array>

#include "rankwright/pipeline/action.h"
#include "rankwright/plan/traffic.h"
#include "rankwright/program/stage_to_rank.h"

namespace rankwright::program {

/// The part of the model that a computing step runs.
enum class Part : unsigned char {
  none,  // the step is a collective
  embedding,
  attention,
  mlp,  // a dense feed-forward block, or the shared expert of an MoE layer
  router,
  experts,
  projection,  // of an MTP module: two hidden states to one
  head,        // output head and loss
  optimizer,
};

/// One computation or one collective call, inside a cell or among the role's own steps.
struct Step {
  Part part = Part::none;
  i64 layer = -1;      // layer index; MTP modules are numbered after the last layer; -1: none
  bool again = false;  // a forward that is recomputed
  // For a collective: its kind, group and the bytes of this call, as Traffic counts them.
  plan::TrafficKind kind{};
  plan::Op op{};
  mesh::GroupKind group{};
  Bytes bytes{};
  bool beside = false;  // overlaps the computation that follows; otherwise that waits for it

  bool computes() const { return part != Part::none; }
  friend bool operator==(const Step&, const Step&) = default;
};

/// Steps in execution order.
using Body = std::vector<Step>;

/// The actions of all ranks in one training step.
struct Program {
  i64 stages = 0;
  i64 microbatches = 0;
  pipeline::Sequences roles{};  // by pp rank
  StageToRank stage_to_rank{};
  /// By stage, then F, B, I, W. Empty if the program was read without a plan.
  std::vector<std::array<Body, 4>> bodies{};
  /// By pp rank: the steps that `step` actions refer to.
  std::vector<Body> steps{};

  i64 pp() const { return i64(roles.size()); }
};

}  // namespace rankwright::program
