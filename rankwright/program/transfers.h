// Adds sends and receives to an order of cells. A cell's output is sent right after it, and the
// receive is posted at the other rank's current position. This is the rule of torch's pipelining:
// it keeps all ranks in one common order, so it cannot deadlock an order that is deadlock-free
// without transfers. All transfers between two cells are posted together, as one batch.
#pragma once

#include "rankwright/program/program.h"

namespace rankwright::program {

/// Returns the Program of an order of cells. An order with a cyclic wait also becomes a Program:
/// its receives come right before the cells that need them, and the proof reports the cycle.
/// Requires: `cells` has only cells and steps, and every (stage, microbatch) is on one rank.
Program add_transfers(const pipeline::Sequences& cells, i64 stages, i64 microbatches);

}  // namespace rankwright::program
