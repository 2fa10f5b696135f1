// Steps of the role itself: what a rank does once a training step, beside its cells. Gradients are
// reduced, summed over tp and between copies of the embedding, their norm is taken, the optimizer
// runs, parameters are gathered: Megatron-LM's order. Formula E2.
#pragma once

#include <vector>

#include "rankwright/plan/plan.h"
#include "rankwright/program/program.h"

namespace rankwright::program {

/// Of one pp rank, by when they come.
struct RankSteps {
  Body first{};                // before its first cell
  std::vector<Body> behind{};  // by chunk: behind its last backward or weight gradient
  Body last{};                 // behind its last cell
};

/// By pp rank. The config has no violation.
std::vector<RankSteps> rank_steps(const plan::TrainingConfig& config);

/// The same in one line for each rank, as a Program keeps them: first, behind its chunks, last.
std::vector<Body> steps(const plan::TrainingConfig& config);

}  // namespace rankwright::program
