// What another predictor, Calculon, says of published runs: the errors of calculon.csv, by the id
// of a row of runs.csv. Data, embedded at build: Calculon is not run here.
#pragma once

#include <optional>
#include <string_view>

namespace rankwright::validate {

/// Predicted / measured - 1 of the step time; nothing for a run that it cannot do or was not asked.
std::optional<double> calculon_error(std::string_view id);

}  // namespace rankwright::validate
