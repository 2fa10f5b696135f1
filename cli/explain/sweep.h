// `rankwright explain plan.yaml --sweep microbatches=1..64`: the plan once per value of one
// setting. planner/ computes it.
#pragma once

#include <string>

#include "cli/options.h"
#include "cli/plan_input.h"
#include "cli/verb.h"

namespace rankwright::cli {

/// The flag --sweep.
struct SweepFlags {
  std::string sweep{};

  void add_to(Options& options);
  bool wanted() const { return !sweep.empty(); }
};

/// Writes the sweep, and its picture to `svg` unless that is empty. Returns the exit code.
int show_sweep(const PlanFlags& plan, const SweepFlags& flags, const std::string& svg,
               bool markdown, const Options& options, const Io& io);

}  // namespace rankwright::cli
