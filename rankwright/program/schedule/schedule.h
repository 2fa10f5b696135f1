// The order in which each pp rank runs its cells: one file a schedule, one row here. Sends and
// receives are not in it (transfers.h puts them in), times are simulate.h. Formulas G1 to G10 say
// how many forwards come first and what is held at most.
#pragma once

#include <span>

#include "rankwright/plan/plan.h"
#include "rankwright/program/schedule/action.h"

namespace rankwright::program {

/// The cells of every pp rank. The shape has no fault.
Sequences cells(const plan::PipelineShape& shape);

/// The most stage activations that a pp rank holds at once: a forward begins one, the full backward
/// or the weight gradient ends it. Stated by the schedule; its order keeps to it.
i64 max_in_flight(const plan::PipelineShape& shape, i64 pp_rank);

/// The same where chunks differ: the most that a pp rank holds at once when an activation of its
/// k-th chunk, in the order of stages_of, weighs weights[k]. Alike and of weight 1 they give
/// max_in_flight. Exact, but for V schedules with fewer microbatches than they hold: there no less
/// than is held.
double max_held(const plan::PipelineShape& shape, i64 pp_rank, std::span<const double> weights);

/// Cells of the whole pipeline, or nothing where that leaves 64 bits: what an expansion costs.
std::optional<i64> cell_count(const plan::PipelineShape& shape);

// The functions of the rows, one file each.
Sequences gpipe(const plan::PipelineShape&);
Sequences one_f_one_b(const plan::PipelineShape&);
Sequences interleaved(const plan::PipelineShape&);
Sequences looped_bfs(const plan::PipelineShape&);
Sequences zb_h1(const plan::PipelineShape&);
Sequences zb_2p(const plan::PipelineShape&);
Sequences interleaved_zb(const plan::PipelineShape&);
Sequences zb_v(const plan::PipelineShape&);
Sequences dualpipe(const plan::PipelineShape&);
Sequences dualpipe_v(const plan::PipelineShape&);

}  // namespace rankwright::program
