// Which layers are on which pp rank, for people and as JSON, and the most even split as a plan
// file, Megatron-LM and torchtitan state it.
#pragma once

#include <string>

#include "rankwright/planner/explain/stages_view.h"
#include "rankwright/report/render/paint.h"

namespace rankwright {

std::string stages_text(const TrainingConfig& config, const StagesView& view, const Paint& paint,
                        std::size_t width);
std::string stages_json(const TrainingConfig& config, const StagesView& view);

}  // namespace rankwright
