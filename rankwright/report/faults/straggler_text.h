// Slow ranks and slow links said out loud: what the step takes before and after, who waits where,
// and what would hurt less. Numbers come from cost/faults/straggler.h, relief.h and slow_link.h.
#pragma once

#include <string>

#include "rankwright/cost/faults/slow_link.h"
#include "rankwright/cost/faults/straggler_mitigation.h"
#include "rankwright/report/render/paint.h"

namespace rankwright::report {

std::string straggler_text(const plan::TrainingConfig& config, const cost::Straggler& slow,
                           const cost::StragglerMitigation& mitigate_straggler, const Paint& paint,
                           std::size_t width);

/// `config` has the cluster as it should be.
std::string link_text(const plan::TrainingConfig& config, const cost::LinkLoss& loss,
                      const Paint& paint, std::size_t width);

/// "+21.4 %", "-3 %", "no longer".
std::string describe_slowdown(Seconds before, Seconds after);

/// "7.86", "1,432": an amount of GPUs or GPU-hours.
std::string about(double amount);

/// A bar of '#' for a share of `most`, none of it less than one mark; `cells` is the whole.
std::string bar(double share, double max, std::size_t cells);

/// How a placement is typed: {hosts: [...]} where whole hosts are moved, else {ranks: [...]}.
std::string typed(const mesh::Placement& placement, i64 host_devices);

}  // namespace rankwright::report
