// The prediction errors of another predictor, Calculon, on published runs (calculon.csv), by the id
// of a row of runs.csv. The data is embedded at build time; Calculon is not run here.
#pragma once

#include <optional>
#include <string_view>

namespace rankwright::validate {

/// Returns predicted / measured - 1 of the step time; nullopt for a run that Calculon cannot model
/// or was not run on.
std::optional<double> find_calculon_error(std::string_view id);

}  // namespace rankwright::validate
