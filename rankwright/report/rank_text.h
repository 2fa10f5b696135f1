// Everything about one rank, for people and as JSON.
#pragma once

#include <string>

#include "rankwright/planner/rank_view.h"
#include "rankwright/report/paint.h"

namespace rankwright {

std::string rank_text(const Setup& setup, const RankView& view, const Paint& paint,
                      std::size_t width = 120);
std::string rank_json(const Setup& setup, const RankView& view);

}  // namespace rankwright
