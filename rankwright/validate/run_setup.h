// What a row of a table of runs says as a TrainingConfig: the model from its shapes, the cluster
// from the GPU and its links, the plan from the degrees, the software from the framework's name.
// Not whether that can be: run.cc asks.
#pragma once

#include <optional>
#include <string>

#include "rankwright/validate/run.h"
#include "rankwright/validate/run_row.h"

namespace rankwright::validate {

/// How the catalog calls a source's GPU: "A100-80" is a100-80g. Nothing for one that it has not.
std::optional<std::string_view> device_name(std::string_view gpu);

/// The row lacks nothing, its numbers are within bounds, and its GPU is known. Stages are left
/// even.
Run run_of(const RunRow& row);

}  // namespace rankwright::validate
