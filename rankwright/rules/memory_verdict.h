// The sentence of the verdict on memory (cost/memory/verdict.h), for findings and for report/.
#pragma once

#include <string>

#include "rankwright/cost/estimate.h"

namespace rankwright::rules {

/// Describes the verdict with its numbers: "fits with margin: 23.5 GiB free, more than the ±9 %
/// estimate error", "tight: 1.2 GiB free, less than the ±9 % estimate error", "over by 2.7 GiB,
/// within the ±9 % estimate error", "does not fit: over by 12 GiB".
std::string describe_memory_verdict(Bytes total, Bytes capacity, const cost::ErrorBand& band);
std::string describe_memory_verdict(const cost::Estimate& estimate);

/// Describes the verdict as the predicate of a sentence: "fits with margin: ...", "is tight: ...",
/// "is over by ...", "does not fit: ...".
std::string state_memory_verdict(const cost::Estimate& estimate);

}  // namespace rankwright::rules
