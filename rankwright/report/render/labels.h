// Short labels of a plan that every report and chart shows: its headline and its degrees.
#pragma once

#include <string>
#include <vector>

#include "rankwright/plan/plan.h"

namespace rankwright::report {

/// Returns the model, the cluster and the batch in one line, the heading of every report.
std::string format_headline(const plan::TrainingConfig& config);

/// Returns the degrees and main choices of a plan: "tp 8 on nvlink", "pp 4 x 2 chunks on
/// infiniband", "ZeRO-1".
std::vector<std::string> list_degree_tags(const plan::TrainingConfig& config);

/// Returns the degree tags in one line: "tp 8 on nvlink · pp 4 on infiniband · ...".
std::string format_degree_tags(const plan::TrainingConfig& config);

}  // namespace rankwright::report
