// A comparison as JSON: schema rankwright.compare/1. Quantities are in base units (bytes,
// seconds), with the unit in the key.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "rankwright/report/compare/compare_text.h"

namespace rankwright::report {

nlohmann::ordered_json make_compare_document(const NamedPlan& a, const NamedPlan& b,
                                             const planner::CompareView& view);
std::string make_compare_json(const NamedPlan& a, const NamedPlan& b,
                              const planner::CompareView& view);

}  // namespace rankwright::report
