// Sends and receives for an order of cells. A cell's output is sent right behind it, and the
// receive is posted on the other rank where that rank then stands: the rule of torch's pipelining,
// which keeps all ranks in one common order and so cannot deadlock where the cells do not. What
// stands between two cells is posted together, as one batch.
#pragma once

#include "rankwright/program/program.h"

namespace rankwright::program {

/// `cells` holds cells only, every (stage, microbatch) on one rank. An order of cells that waits
/// for itself still becomes a Program: its receives stand right before the cells that need them,
/// and the proof names the cycle.
Program with_transfers(const Sequences& cells, i64 stages, i64 microbatches);

}  // namespace rankwright::program
