// A worksheet for machines: schema rankwright.explain/2. Quantities are in base units (bytes,
// seconds), with the unit in the key.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "rankwright/planner/worksheet.h"

namespace rankwright {

nlohmann::ordered_json explain_document(const Setup& setup, const Worksheet& sheet);
std::string explain_json(const Setup& setup, const Worksheet& sheet);

}  // namespace rankwright
