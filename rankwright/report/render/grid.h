// Draws the ranks on their devices: one box per node, the ranks of a tensor-parallel group side by
// side, colored by pp rank. Beyond 16 nodes, draws only the first 6 and the total
// number.
#pragma once

#include <string>

#include "rankwright/plan/plan.h"
#include "rankwright/report/render/paint.h"

namespace rankwright::report {

/// Draws the grid in lines of at most `width` characters: with line-drawing characters on a color
/// terminal, in ASCII otherwise.
std::string draw_rank_grid(const plan::TrainingConfig& config, const Paint& paint,
                           std::size_t width);

}  // namespace rankwright::report
