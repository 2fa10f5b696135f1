// Everything about one rank, for people and as JSON.
#pragma once

#include <string>

#include "rankwright/planner/explain/rank_view.h"
#include "rankwright/report/render/paint.h"

namespace rankwright {

std::string rank_text(const TrainingConfig& config, const RankView& view, const Paint& paint,
                      std::size_t width = 120);
std::string rank_json(const TrainingConfig& config, const RankView& view);

}  // namespace rankwright
