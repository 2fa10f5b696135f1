// Shows where a step's time goes: one bar per item of StepTime, with its share and a remark that
// has numbers of the plan. The bars add up to the step. report/ draws them.
#pragma once

#include <string>
#include <vector>

#include "rankwright/cost/estimate.h"
#include "rankwright/plan/plan.h"

namespace rankwright::planner {

struct CommunicationRow;

/// The bars of one step.
struct Waterfall {
  struct Bar {
    cost::Item item{};
    std::string name{};
    Seconds time{};
    double share = 0;  // of the step
    bool computes = false;
    cluster::Origin origin = cluster::Origin::calibrated;
    std::string level{};  // outermost level that its collectives cross; empty if there are none
    std::vector<std::size_t> collectives{};  // indices of communication rows
    std::string remark{};
  };
  std::vector<Bar> bars{};  // items that take time, in the order of a step
  Seconds total{};
  cost::ErrorBand band{};
};

/// Returns the bars of `estimate`. Requires: `communication` has the collectives of its step, and
/// the config has no constraint violations.
Waterfall make_waterfall(const plan::TrainingConfig& config,
                         const std::vector<CommunicationRow>& communication,
                         const cost::Estimate& estimate);

}  // namespace rankwright::planner
