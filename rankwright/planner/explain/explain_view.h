// The worksheet of a plan, filled from computed numbers: axis, degree, placement and reason;
// communication with its frequency, bytes, links and risk; states by axis; the estimate and where
// its time goes. How it is laid out is report/explain_text and explain_json.
#pragma once

#include <string>
#include <vector>

#include "rankwright/cost/estimate.h"
#include "rankwright/cost/priced.h"
#include "rankwright/plan/plan.h"
#include "rankwright/planner/explain/waterfall.h"

namespace rankwright::planner {

struct AxisRow {
  std::string axis;  // "TP", "PP", "DP", "FSDP/ZeRO", and those that are used of CP, EP, SP
  std::string degree;
  std::string placement;
  std::string reason;
};

/// A collective on the pp rank that has most of it.
struct CommunicationRow {
  cost::PricedTraffic priced;
  i64 pp_rank = 0;
  std::string level{};      // the outermost link that it crosses
  std::string slowest{};    // the link that decides its time
  std::string preferred{};  // the link where it belongs
};

struct StateRow {
  std::string state;
  std::string tp, pp, cp, dp, ep;  // "cut", "same", "-"
  std::string consistent;          // which collective keeps it so
  std::string critical;            // whether that is on the critical path
};

struct ExplainView {
  std::vector<AxisRow> axes;
  std::vector<CommunicationRow> communication;
  std::vector<StateRow> states;
  cost::Estimate estimate;
  Waterfall waterfall;        // of the estimate's step
  std::vector<Bytes> totals;  // what must fit, by pp rank
};

/// Fills the worksheet with the closed-form estimate, or with `estimate`. Requires: the config has
/// no violation.
ExplainView make_explain_view(const plan::TrainingConfig& config);
ExplainView make_explain_view(const plan::TrainingConfig& config, const cost::Estimate& estimate);

/// The item of a step in which the collectives of these groups are waited for.
bool waits_for(cost::Item item, mesh::GroupKind group);

/// "8 inside nvlink x 4 across infiniband", "inside nvlink", "one rank",
/// "some inside nvlink, some across infiniband".
std::string placement_text(const cluster::Cluster& cluster, const mesh::Span& span);

}  // namespace rankwright::planner
