// Slow links, slow ranks and a dead rank as text, one after another.
#pragma once

#include <string>

#include "rankwright/planner/explain_faults.h"
#include "rankwright/report/render/paint.h"

namespace rankwright::report {

std::string render_faults_text(const planner::FaultsAnswer& answer, const Paint& paint,
                               std::size_t width);

}  // namespace rankwright::report
