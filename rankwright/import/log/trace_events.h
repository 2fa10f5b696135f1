// The raw events of a trace file, before they are assigned to tracks: the name of a track may come
// after the events on it. One reader per format; run_trace.h turns the events into a step.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rankwright/import/log/run_trace.h"

namespace rankwright::importer {

/// The tracks and slices of a trace file.
struct TraceEvents {
  using TrackId = std::pair<std::uint64_t, std::uint64_t>;  // process and thread, or uuid and 0

  struct Slice {
    TrackId track{};
    std::optional<i64> begin{}, end{};  // nanoseconds; empty if missing or out of range
    std::string name{};
    std::string category{};
  };

  std::map<TrackId, std::string> tracks{};  // track names
  std::vector<Slice> slices{};              // in file order
};

/// Reads Chrome's trace event format: complete events (ph X) and thread names, as a bare list or as
/// `traceEvents` in an object. Flow arrows and all other events are ignored.
Result<TraceEvents> read_chrome_events(std::string_view text, std::string_view file,
                                       const TraceLimits& limits);

/// Reads a protobuf of perfetto.protos.Trace: thread descriptors, and events that begin and end
/// slices.
Result<TraceEvents> read_perfetto_events(std::string_view bytes, std::string_view file,
                                         const TraceLimits& limits);

/// Returns RW0932, "not the trace of a training step".
Diagnostic not_a_trace(std::string detail, Location where);

/// Returns RW0906, for a trace beyond the limits.
Diagnostic trace_too_large(std::string detail, std::string_view file);

/// Returns a description of the exceeded limit, slices or tracks; nothing if both are within
/// bounds.
std::optional<std::string> find_excess(const TraceEvents& events, const TraceLimits& limits);

}  // namespace rankwright::importer
