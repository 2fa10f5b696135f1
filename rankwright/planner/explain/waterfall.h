// Where a step's time goes: one bar per item of StepTime, with its share and a remark that carries
// numbers of the plan. The bars add up to the step. Drawing them is left to report/.
#pragma once

#include <string>
#include <vector>

#include "rankwright/cost/estimate.h"
#include "rankwright/plan/plan.h"

namespace rankwright::planner {

struct CommunicationRow;

struct Waterfall {
  struct Bar {
    cost::Item item{};
    std::string name{};
    Seconds time{};
    double share = 0;  // of the step
    bool computes = false;
    cluster::Origin origin = cluster::Origin::calibrated;
    std::string level{};                     // that its collectives cross; empty where it has none
    std::vector<std::size_t> collectives{};  // indices of communication rows
    std::string remark{};
  };
  std::vector<Bar> bars{};  // items that take time, in the order of a step
  Seconds total{};
  cost::ErrorBand band{};
};

/// Returns the bars of `estimate`, whose step has these collectives. Requires: the config has no
/// violation.
Waterfall make_waterfall(const plan::TrainingConfig& config,
                         const std::vector<CommunicationRow>& communication,
                         const cost::Estimate& estimate);

}  // namespace rankwright::planner
