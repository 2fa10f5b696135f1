// `rankwright explain plan.yaml --slow 17:1.3x --slow-link infiniband:0.5x --fail 17`: what slow
// ranks, slow links and a dead rank cost. The costs are planner/explain_faults.h.
#pragma once

#include "cli/options.h"
#include "cli/plan_input.h"
#include "cli/verb.h"
#include "rankwright/planner/explain_faults.h"

namespace rankwright::cli {

struct FaultFlags : planner::FaultOptions {
  void add_to(Options& options);
};

/// Returns the exit code.
int show_faults(const PlanFlags& plan, const FaultFlags& flags, bool markdown,
                const Options& options, const Io& io);

}  // namespace rankwright::cli
