// Measures the machine that the world's ranks run on: compute and memory throughput, and the time
// of the calls that a run makes, inside a host and across hosts, with all ranks active at the same
// time. fit/probed.h derives a cluster description from the figures.
#pragma once

#include <functional>
#include <string>

#include "rankwright/base/result.h"
#include "rankwright/fit/probed.h"
#include "rankwright/runtime/world.h"

namespace rankwright::runtime {

/// Options of a probe.
struct ProbeOptions {
  bool quick = false;  // takes seconds instead of a minute, and is coarser
  /// Called on rank 0 with what is being measured.
  std::function<void(const std::string&)> said = [](const std::string&) {};
};

/// Runs the probe. Collective; every rank gets the same figures. Returns RW0705 if hosts have
/// unequal numbers of ranks.
Result<fit::ProbeFigures> probe(const World& world, const Backend& backend,
                                const ProbeOptions& options);

}  // namespace rankwright::runtime
