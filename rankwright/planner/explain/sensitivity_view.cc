#include "rankwright/planner/explain/sensitivity_view.h"

namespace rankwright::planner {

SensitivityView make_sensitivity_view(const plan::TrainingConfig& config) {
  return {cost::estimate_closely(config, select_calibration(config)),
          cost::find_sensitivities(config, select_calibration(config))};
}

RivalsView make_rivals_view(const plan::TrainingConfig& first, const plan::TrainingConfig& second) {
  return {.first = cost::estimate_closely(first, select_calibration(first)),
          .second = cost::estimate_closely(second, select_calibration(second)),
          .comparison = cost::compare(first, second, select_calibration(first))};
}

}  // namespace rankwright::planner
