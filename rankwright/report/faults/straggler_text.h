// Describes slow ranks and slow links: the step time before and after, which ranks wait where, and
// what would reduce the loss. straggler.h, straggler_mitigation.h and slow_link.h in cost/faults
// compute the numbers.
#pragma once

#include <string>

#include "rankwright/cost/faults/slow_link.h"
#include "rankwright/cost/faults/straggler_mitigation.h"
#include "rankwright/report/render/paint.h"

namespace rankwright::report {

/// Describes slow ranks and how to mitigate them.
std::string render_straggler_text(const plan::TrainingConfig& config, const cost::Straggler& slow,
                                  const cost::StragglerMitigation& mitigation, const Paint& paint,
                                  std::size_t width);

/// Describes slow links. `config` has the cluster with its links at full speed.
std::string render_link_text(const plan::TrainingConfig& config, const cost::LinkLoss& loss,
                             const Paint& paint, std::size_t width);

/// Formats the relative difference of two step times: "+21.4 %", "-3 %", "no longer".
std::string format_slowdown(Seconds before, Seconds after);

/// Formats a number of GPUs or GPU-hours: "7.86", "1,432".
std::string about(double amount);

/// Draws `share` of `max` as a bar of '#', at most `cells` long; at least one mark if `share` > 0.
std::string bar(double share, double max, std::size_t cells);

/// Formats a placement for a plan file: {hosts: [...]} if whole hosts are moved, otherwise {ranks:
/// [...]}. Empty if it is too long to print.
std::string typed(const mesh::Placement& placement, i64 host_devices);

}  // namespace rankwright::report
