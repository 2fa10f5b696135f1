// The view of a plan that `explain` shows: the axes with degree, placement and reason; the
// collectives with calls, bytes and links; the states by axis; the estimate and where its time
// goes. report/explain_text and explain_json present it.
#pragma once

#include <string>
#include <vector>

#include "rankwright/cost/estimate.h"
#include "rankwright/cost/traffic_cost.h"
#include "rankwright/plan/plan.h"
#include "rankwright/planner/explain/waterfall.h"

namespace rankwright::planner {

/// One parallel axis of the plan.
struct AxisRow {
  std::string axis;  // "TP", "PP", "DP", "FSDP/ZeRO", and CP, EP and SP if used
  std::string degree;
  std::string placement;
  std::string reason;
};

/// One kind of collective, on the pp rank where it takes longest.
struct CommunicationRow {
  cost::TrafficCost evaluated;
  i64 pp_rank = 0;
  std::string level{};      // outermost link that it crosses
  std::string slowest{};    // link that determines its time
  std::string preferred{};  // link where it should be
  /// Its time, divided as the step divides the time of its item. Their sum is evaluated.total.
  Seconds exposed{}, overlapped{};
};

/// How one kind of state is divided over the axes.
struct StateRow {
  std::string state;
  std::string tp, pp, cp, dp, ep;  // "split", "same", "-"
  std::string consistent;          // collective that keeps it consistent
  std::string critical;            // whether that collective is on the critical path
};

/// The estimate of a plan in full.
struct ExplainView {
  std::vector<AxisRow> axes;
  std::vector<CommunicationRow> communication;
  std::vector<StateRow> states;
  cost::Estimate estimate;
  Waterfall waterfall;        // of the estimate's step
  std::vector<Bytes> totals;  // required memory, by pp rank
};

/// Builds the view with the closed-form estimate, or with `estimate`. Requires: a config without
/// constraint violations.
ExplainView make_explain_view(const plan::TrainingConfig& config);
ExplainView make_explain_view(const plan::TrainingConfig& config, const cost::Estimate& estimate);

/// Returns where a group is placed: "8 inside nvlink x 4 across infiniband", "inside nvlink", "one
/// rank", "some inside nvlink, some across infiniband".
std::string describe_span(const cluster::Cluster& cluster, const mesh::Span& span);

}  // namespace rankwright::planner
