// The events of a trace file before anybody asks which tracks they are of: names of tracks may
// stand behind what happens on them. One function a format; run_trace.h makes a step of them.
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

struct TraceEvents {
  using TrackId = std::pair<std::uint64_t, std::uint64_t>;  // process and thread; or uuid and 0

  struct Slice {
    TrackId track{};
    std::optional<i64> begin{}, end{};  // nanoseconds; nothing where the file says none in range
    std::string name{};
    std::string category{};
  };

  std::map<TrackId, std::string> tracks{};  // their names
  std::vector<Slice> slices{};              // in the order of the file
};

/// Chrome's trace event format: complete events (ph X) and thread names; the list alone, or in an
/// object as `traceEvents`. Arrows and whatever else there is are passed over.
Result<TraceEvents> read_chrome_events(std::string_view text, std::string_view file,
                                       const TraceLimits& limits);

/// A protobuf of perfetto.protos.Trace: threads' descriptors, and events that begin and end slices.
Result<TraceEvents> read_perfetto_events(std::string_view bytes, std::string_view file,
                                         const TraceLimits& limits);

/// RW0932.
Diagnostic no_trace(std::string detail, Location where);

/// RW0906.
Diagnostic too_long_a_trace(std::string detail, std::string_view file);

/// What is too much in it, of slices or of tracks.
std::optional<std::string> excess(const TraceEvents& events, const TraceLimits& limits);

}  // namespace rankwright::importer
