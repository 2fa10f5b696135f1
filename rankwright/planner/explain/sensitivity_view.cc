#include "rankwright/planner/explain/sensitivity_view.h"

namespace rankwright {

SensitivityView sensitivity_view(const TrainingConfig& config) {
  return {close_estimate(config, calibration(config)), sensitivity(config, calibration(config))};
}

RivalsView rivals_view(const TrainingConfig& first, const TrainingConfig& second) {
  return {.first = close_estimate(first, calibration(first)),
          .second = close_estimate(second, calibration(second)),
          .comparison = compare(first, second, calibration(first))};
}

}  // namespace rankwright
