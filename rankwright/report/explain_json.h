// A worksheet for machines: schema rankwright.explain/1. Quantities are in base units (bytes,
// seconds), with the unit in the key.
#pragma once

#include <string>

#include "rankwright/report/worksheet.h"

namespace rankwright {

std::string explain_json(const Setup& setup, const Worksheet& sheet);

}  // namespace rankwright
