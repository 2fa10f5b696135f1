// Writes a simulated or measured step for trace viewers: one track per pp rank, one slice per cell
// or step, an arrow per transfer between ranks, and a counter of the activations that each rank
// holds. Steps that overlap cells are on a separate track, as is the critical path of a simulated
// step. Perfetto's format and Chrome's older JSON contain the same data, in nanoseconds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankwright/import/log/trace_format.h"
#include "rankwright/planner/timeline/timeline_summary.h"

namespace rankwright::report {

/// Events by pp rank, each rank's ordered by start. Transfers may be included; they are drawn as
/// arrows.
using Events = std::vector<std::vector<program::Event>>;
/// Returns all events of a simulated step.
Events collect_events(const planner::SimulatedStep& simulated);

/// The critical path in order; empty for a measured step.
using CriticalPath = std::vector<planner::CriticalPathRun>;

/// Writes a perfetto.protos.Trace protobuf (.pftrace).
std::string write_perfetto_trace(const program::Program& program, const Events& events,
                                 const CriticalPath& path = {});
std::string write_perfetto_trace(const planner::SimulatedStep& simulated);

/// Writes the trace event format (.json).
std::string write_chrome_trace(const program::Program& program, const Events& events,
                               const CriticalPath& path = {});
std::string write_chrome_trace(const planner::SimulatedStep& simulated);

/// Writes the format that the file name asks for: Chrome's for .json, otherwise Perfetto's.
std::string write_trace(std::string_view path, const program::Program& program,
                        const Events& events);
std::string write_trace(std::string_view path, const planner::SummarizedStep& step);

}  // namespace rankwright::report
