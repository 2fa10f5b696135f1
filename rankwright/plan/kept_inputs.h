// Kept inputs: whether the inputs that tp or cp gathers for the forward pass of a layer still exist
// in its backward pass. traffic.h counts the gathers, program/ orders them; cost/memory/ has the
// bytes of what is kept (M29).
#pragma once

#include "rankwright/plan/plan.h"

namespace rankwright::plan {

/// Returns whether the backward pass gathers the inputs of a layer again. PyTorch without
/// torch.compile keeps them, unless selective recomputation drops them. Layers that are recomputed
/// as a whole gather them in their second forward pass, which is not meant here.
inline bool gathers_again(const TrainingConfig& config) {
  return !config.software.eager_ops || config.plan.recompute == Recompute::selective;
}

}  // namespace rankwright::plan
