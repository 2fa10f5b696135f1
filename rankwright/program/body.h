// Bodies: the computations and collectives that a framework (Megatron-LM) issues inside one cell,
// in order (formula E1). Bodies are stored per stage, not per microbatch, so their size grows with
// the layers only. Work done once per training step is in steps.h.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "rankwright/plan/plan.h"
#include "rankwright/program/program.h"

namespace rankwright::program {

/// Returns the bodies, indexed by stage, then by ActionKind (F, B, I, W). The collectives of B are
/// those of I and W together. Under selective recompute, a recomputed attention step is the
/// attention core only.
/// Requires: the config has no constraint violation.
std::vector<std::array<Body, 4>> build_bodies(const plan::TrainingConfig& config);

/// Returns the bytes that one microbatch sends across `boundary`, from that stage to the next or
/// back (T10).
Bytes count_transfer_bytes(const plan::TrainingConfig& config, i64 boundary);

/// Formats a step: "layer 3 attention", "layer 3 attention again" (recomputed), "TP all-gather
/// 134 MB", "... beside" (overlapped).
std::string show(const Step& step);

}  // namespace rankwright::program
