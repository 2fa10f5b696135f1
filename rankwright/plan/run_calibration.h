// A RunCalibration is the set of constants of the cost model after calibration with one measured
// run: a factor on the compute rates, and memory that no formula explains. It belongs to a
// TrainingConfig that is estimated with it. validate/calibrate.h computes it.
#pragma once

#include <string>

#include "rankwright/base/integer.h"
#include "rankwright/cluster/calibration.h"
#include "rankwright/cluster/cluster.h"
#include "rankwright/model/model.h"

namespace rankwright::plan {

struct RunCalibration {
  cluster::Calibration calibration{};
  std::string log{};  // path of the log
  i64 steps = 0;      // number of log lines that the measured step time is the median of
  Seconds measured{}, predicted{};  // step time of the plan that ran; prediction before calibration
  // The model and device of the run. Plans with others share fewer of its errors.
  model::Model model{};
  cluster::Device device{};
};

}  // namespace rankwright::plan
