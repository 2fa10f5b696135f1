// Shows which layers are on which pp rank, as text and as JSON, and the most even split in the
// syntax of a plan file, Megatron-LM and torchtitan.
#pragma once

#include <string>

#include "rankwright/planner/explain/stages_view.h"
#include "rankwright/report/render/paint.h"

namespace rankwright::report {

std::string render_stages_text(const plan::TrainingConfig& config, const planner::StagesView& view,
                               const Paint& paint, std::size_t width);
std::string make_stages_json(const plan::TrainingConfig& config, const planner::StagesView& view);

}  // namespace rankwright::report
