#include "rankwright/planner/explain/sensitivity_view.h"

namespace rankwright::planner {

SensitivityView make_sensitivity_view(const plan::TrainingConfig& config) {
  return {cost::estimate_closely(config, calibration(config)),
          cost::find_sensitivities(config, calibration(config))};
}

RivalsView make_rivals_view(const plan::TrainingConfig& first, const plan::TrainingConfig& second) {
  return {.first = cost::estimate_closely(first, calibration(first)),
          .second = cost::estimate_closely(second, calibration(second)),
          .comparison = cost::compare(first, second, calibration(first))};
}

}  // namespace rankwright::planner
