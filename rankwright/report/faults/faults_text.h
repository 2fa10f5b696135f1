// Slow links, slow ranks and a dead rank for people, one after another.
#pragma once

#include <string>

#include "rankwright/planner/explain_faults.h"
#include "rankwright/report/render/paint.h"

namespace rankwright {

std::string faults_text(const FaultsAnswer& answer, const Paint& paint, std::size_t width);

}  // namespace rankwright
