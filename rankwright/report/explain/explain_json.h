// A worksheet for machines: schema rankwright.explain/2. Quantities are in base units (bytes,
// seconds), with the unit in the key.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "rankwright/planner/explain/explain_view.h"

namespace rankwright {

nlohmann::ordered_json explain_document(const TrainingConfig& config, const ExplainView& sheet);
std::string explain_json(const TrainingConfig& config, const ExplainView& sheet);

}  // namespace rankwright
