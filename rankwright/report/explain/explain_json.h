// The view of `explain` as JSON: schema rankwright.explain/2. Quantities are in base units (bytes,
// seconds), with the unit in the key.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "rankwright/planner/explain/explain_view.h"

namespace rankwright::report {

nlohmann::ordered_json make_explain_document(const plan::TrainingConfig& config,
                                             const planner::ExplainView& view);
/// Returns one kind of collective of a plan.
nlohmann::ordered_json make_communication_json(const planner::CommunicationRow& row);

std::string make_explain_json(const plan::TrainingConfig& config, const planner::ExplainView& view);

}  // namespace rankwright::report
