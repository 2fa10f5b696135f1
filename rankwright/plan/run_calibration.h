// A RunCalibration is the constants of the cost model as one measured run of the user's moves them:
// a factor on the rates of computation, and memory that no formula has. It belongs to a
// TrainingConfig that is priced with it. How it is found is validate/calibrate.h.
#pragma once

#include <string>

#include "rankwright/base/integer.h"
#include "rankwright/cluster/calibration.h"
#include "rankwright/cluster/cluster.h"
#include "rankwright/model/model.h"

namespace rankwright::plan {

struct RunCalibration {
  cluster::Calibration calibration{};
  std::string log{};                // its file
  i64 steps = 0;                    // lines that the measured step is the median of
  Seconds measured{}, predicted{};  // the step of the plan that ran, and before calibration
  // What ran: plans of another model or device share fewer of its errors.
  model::Model model{};
  cluster::Device device{};
};

}  // namespace rankwright::plan
