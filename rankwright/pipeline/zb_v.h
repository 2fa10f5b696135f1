// The order of ZB-V as a list of runs.
#pragma once

#include "rankwright/pipeline/runs.h"

namespace rankwright::pipeline {

/// Returns the runs of one rank (PT5). With few microbatches, the order is that of 2 pp - 1
/// microbatches with the excess ones left out.
RunList zb_v_runs(i64 pp, i64 rank, i64 microbatches);

}  // namespace rankwright::pipeline
