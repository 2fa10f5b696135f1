// Bodies: what a framework (Megatron-LM) issues inside one cell for one microbatch, in order. They
// belong to stages, not to microbatches, so they cost what the layers cost. What is done once a
// step is steps.h; formula E1 is the order.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "rankwright/plan/plan.h"
#include "rankwright/program/program.h"

namespace rankwright::program {

/// By stage, then F, B, I, W (the index is the ActionKind). The collectives of B are those of I and
/// of W together. Under selective recompute an attention that runs again is its core alone. The
/// config has no violation.
std::vector<std::array<Body, 4>> bodies(const plan::TrainingConfig& config);

/// What crosses `boundary`, that is from that stage to the next or back, for one microbatch (T10).
Bytes transfer_bytes(const plan::TrainingConfig& config, i64 boundary);

/// "layer 3 attention", "layer 3 attention again", "TP all-gather 134 MB", "... beside".
std::string show(const Step& step);

}  // namespace rankwright::program
