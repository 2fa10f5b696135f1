// `rankwright explain plan.yaml --slow 17:1.3x --slow-link infiniband:0.5x --fail 17`: the cost of
// stragglers, slow links and a failed rank. planner/ computes it.
#pragma once

#include "cli/options.h"
#include "cli/plan_input.h"
#include "cli/verb.h"
#include "rankwright/planner/explain_faults.h"

namespace rankwright::cli {

/// The flags --slow, --slow-link, --fail and their options.
struct FaultFlags : planner::FaultOptions {
  void add_to(Options& options);
};

/// Writes the cost of the faults. Returns the exit code.
int show_faults(const PlanFlags& plan, const FaultFlags& flags, bool markdown,
                const Options& options, const Io& io);

}  // namespace rankwright::cli
