// A Program is what each rank does in one step, in order. Ranks that do the same share a role: all
// ranks of one pp rank. A role's actions are the cells of the schedule, the transfers between
// stages and the role's own steps (collectives over the whole step, the optimizer). What happens
// inside a cell, its layers and their collectives, is the body of its (stage, kind), stored once.
// No times: those are simulate.h and cost/.
#pragma once

#include <array>

#include "rankwright/plan/traffic.h"
#include "rankwright/program/schedule/action.h"
#include "rankwright/program/stage_to_rank.h"

namespace rankwright::program {

/// What a computing step computes.
enum class Part : unsigned char {
  none,  // the step is a collective
  embedding,
  attention,
  mlp,  // a dense feed-forward, or the shared expert of a MoE layer
  router,
  experts,
  projection,  // of an MTP module: two hidden states to one
  head,        // output head and loss
  optimizer,
};

/// One thing inside a cell, or of the role itself: computation, or one call of a collective.
struct Step {
  Part part = Part::none;
  i64 layer = -1;      // of the model; MTP modules count on behind its last layer; -1: none
  bool again = false;  // forward, run a second time under recompute
  // A collective: what it is, its group and the bytes of this call, as Traffic counts them.
  plan::TrafficKind kind{};
  plan::Op op{};
  mesh::GroupKind group{};
  Bytes bytes{};
  bool beside = false;  // runs beside the computation that follows; the others make it wait

  bool computes() const { return part != Part::none; }
  friend bool operator==(const Step&, const Step&) = default;
};

using Body = std::vector<Step>;

struct Program {
  i64 stages = 0;
  i64 microbatches = 0;
  Sequences roles{};  // by pp rank
  StageToRank stage_to_rank{};
  /// By stage, then F, B, I, W. Empty where the program was read without a plan.
  std::vector<std::array<Body, 4>> bodies{};
  /// By pp rank: what the `step` actions refer to.
  std::vector<Body> steps{};

  i64 pp() const { return i64(roles.size()); }
};

}  // namespace rankwright::program
