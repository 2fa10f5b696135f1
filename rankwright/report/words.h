// A plan said out loud, as an engineer would to a colleague: what is split where, which collective
// crosses which link, what is likely to limit it. One paragraph, every number computed.
#pragma once

#include <string>

#include "rankwright/planner/worksheet.h"

namespace rankwright {

/// The model, the cluster and the batch in one line: the heading of every report.
std::string headline(const Setup& setup);

/// What tells a plan: "tp 8 on nvlink", "pp 4 x 2 chunks on infiniband", "ZeRO-1".
std::vector<std::string> chip_list(const Setup& setup);

/// The plan in one line: "tp 8 on nvlink · pp 4 on infiniband · ...".
std::string chips(const Setup& setup);

std::string plan_in_words(const Setup& setup, const Worksheet& sheet);

}  // namespace rankwright
