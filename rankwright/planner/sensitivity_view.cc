#include "rankwright/planner/sensitivity_view.h"

namespace rankwright {

SensitivityView sensitivity_view(const Setup& setup) {
  return {close_estimate(setup, calibration(setup)), sensitivity(setup, calibration(setup))};
}

RivalsView rivals_view(const Setup& first, const Setup& second) {
  return {.first = close_estimate(first, calibration(first)),
          .second = close_estimate(second, calibration(second)),
          .comparison = compare(first, second, calibration(first))};
}

}  // namespace rankwright
