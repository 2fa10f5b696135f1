// The role's own steps: the work that a rank does once per training step, outside its cells, in
// Megatron-LM's order (formula E2). Gradients are reduced, summed over tp and between copies of the
// embedding, and their norm is computed; the optimizer runs; parameters are gathered.
#pragma once

#include <vector>

#include "rankwright/plan/plan.h"
#include "rankwright/program/program.h"

namespace rankwright::program {

/// The steps of one pp rank, grouped by when they run.
struct RankSteps {
  Body first{};                // before its first cell
  std::vector<Body> behind{};  // by chunk: after its last backward or weight gradient
  Body last{};                 // after its last cell
};

/// Returns the steps by pp rank. Requires: the config has no constraint violation.
std::vector<RankSteps> build_rank_steps(const plan::TrainingConfig& config);

/// Returns the steps by pp rank in one list each, as a Program stores them: first, by chunk, last.
std::vector<Body> steps(const plan::TrainingConfig& config);

}  // namespace rankwright::program
