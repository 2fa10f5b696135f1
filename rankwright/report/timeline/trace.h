// A step, simulated or measured, for trace viewers: one track a pp rank, a slice a cell or step, an
// arrow for what is sent from rank to rank. Perfetto's own format and the older JSON that Chrome's
// viewer reads; both say the same, in nanoseconds. What runs beside cells has a track of its own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankwright/import/log/trace_format.h"
#include "rankwright/planner/timeline/simulated_step.h"

namespace rankwright::report {

/// By pp rank, each rank's by their start. Transfers may be among them: they are drawn as arrows.
using Events = std::vector<std::vector<program::Event>>;
Events all_events(const planner::SimulatedStep& simulated);

/// A protobuf of perfetto.protos.Trace: .pftrace.
std::string perfetto_trace(const program::Program& program, const Events& events);
std::string perfetto_trace(const planner::SimulatedStep& simulated);

/// The trace event format: .json.
std::string chrome_trace(const program::Program& program, const Events& events);
std::string chrome_trace(const planner::SimulatedStep& simulated);

/// The one that a file of this name holds.
std::string trace_for(std::string_view path, const program::Program& program, const Events& events);

}  // namespace rankwright::report
