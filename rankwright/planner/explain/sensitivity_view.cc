#include "rankwright/planner/explain/sensitivity_view.h"

namespace rankwright::planner {

SensitivityView sensitivity_view(const plan::TrainingConfig& config) {
  return {cost::close_estimate(config, calibration(config)),
          cost::sensitivity(config, calibration(config))};
}

RivalsView rivals_view(const plan::TrainingConfig& first, const plan::TrainingConfig& second) {
  return {.first = cost::close_estimate(first, calibration(first)),
          .second = cost::close_estimate(second, calibration(second)),
          .comparison = cost::compare(first, second, calibration(first))};
}

}  // namespace rankwright::planner
