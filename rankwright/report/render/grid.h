// The ranks drawn where they sit: a box for each node, ranks of one tensor-parallel group side by
// side, coloured by pp rank. Beyond a few dozen nodes only the first are drawn, with a line that
// says how many there are.
#pragma once

#include <string>

#include "rankwright/plan/plan.h"
#include "rankwright/report/render/paint.h"

namespace rankwright::report {

/// `width` is how many characters a line may have. With colour the boxes are drawn with lines,
/// without it in ASCII.
std::string rank_grid(const plan::TrainingConfig& config, const Paint& paint, std::size_t width);

}  // namespace rankwright::report
