// A step as the trace of it says: what `run --trace` measured, or `explain --trace` simulated.
// Reads both formats that report/timeline/trace.h writes, and of what else a file may hold nothing.
// Times and names only: what the step was to take is a Timeline.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankwright/base/result.h"
#include "rankwright/base/units.h"
#include "rankwright/import/log/trace_format.h"
#include "rankwright/pipeline/action.h"

namespace rankwright::importer {

/// A file of kMaxSlices is at most 740 MB of JSON: 370 bytes a slice with both ends of its arrows.
struct TraceLimits {
  std::size_t bytes = std::size_t{1} << 30;
  i64 slices = kMaxSlices;  // on all tracks together; and as many tracks
  int depth = 32;           // of JSON
};

inline constexpr std::size_t kLongestSliceName = 120;

struct TraceSlice {
  Seconds begin{}, end{};
  std::string name{};      // "2F0"; a step's own; fit to be shown, and cut where it is long
  std::string category{};  // the same: "forward", "collective"
  std::optional<pipeline::Action> cell{};  // where the name is one's
  bool beside = false;                     // runs beside the cells of its rank

  friend bool operator==(const TraceSlice&, const TraceSlice&) = default;
};

struct RunTrace {
  std::string file{};
  std::vector<std::vector<TraceSlice>> ranks{};  // by pp rank, each rank's by their begin
  Seconds end{};                                 // of the last slice; the first begins at 0

  friend bool operator==(const RunTrace&, const RunTrace&) = default;
};

/// The format follows from the text: JSON begins with a bracket, and no protobuf of Perfetto's
/// does. RW0932 where it is no trace of a step, RW0906 beyond the limits and kMaxPpRanks.
Result<RunTrace> read_run_trace(std::string_view text, std::string_view file,
                                const TraceLimits& limits = {});

}  // namespace rankwright::importer
