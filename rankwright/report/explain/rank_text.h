// Everything about one rank: coordinates, device, stages, groups and memory, as text and as JSON.
#pragma once

#include <string>

#include "rankwright/planner/explain/rank_view.h"
#include "rankwright/report/render/paint.h"

namespace rankwright::report {

std::string render_rank_text(const plan::TrainingConfig& config, const planner::RankView& view,
                             const Paint& paint, std::size_t width = 120);
std::string make_rank_json(const plan::TrainingConfig& config, const planner::RankView& view);

}  // namespace rankwright::report
