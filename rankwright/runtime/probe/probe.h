// Measures the machine that the ranks of a world stand on: what they compute, and what their calls
// take inside a host and across hosts, with the calls that a run makes, all ranks at the same time.
// What follows from it is fit/probed.h.
#pragma once

#include <functional>
#include <string>

#include "rankwright/base/result.h"
#include "rankwright/fit/probed.h"
#include "rankwright/runtime/world.h"

namespace rankwright::runtime {

struct ProbeOptions {
  bool quick = false;  // seconds and not a minute, and coarser
  /// What is being measured; called on rank 0 alone.
  std::function<void(const std::string&)> said = [](const std::string&) {};
};

/// Collective; every rank gets the same. RW0705 where hosts have unequal numbers of ranks.
Result<fit::ProbeFigures> probe(const World& world, const Backend& backend,
                                const ProbeOptions& options);

}  // namespace rankwright::runtime
