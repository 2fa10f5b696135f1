// Reads the trace of a step: measured by `run --trace` or simulated by `explain --trace`. Reads
// both formats that report/timeline/trace.h writes and ignores everything else in the file. Returns
// times and names only; the expected times of a step are a Timeline.
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

/// Limits of a trace file. A file of kMaxSlices has at most 740 MB of JSON: 370 bytes per slice
/// with both ends of its flow arrows.
struct TraceLimits {
  std::size_t bytes = std::size_t{1} << 30;
  i64 slices = kMaxSlices;  // maximum over all tracks; also the maximum number of tracks
  int depth = 32;           // of JSON nesting
};

inline constexpr std::size_t kLongestSliceName = 120;

/// One slice of a track.
struct TraceSlice {
  Seconds begin{}, end{};
  std::string name{};                      // "2F0" or the name of a step; printable and truncated
  std::string category{};                  // printable and truncated: "forward", "collective"
  std::optional<pipeline::Action> cell{};  // set if the name is that of a cell
  bool beside = false;                     // runs concurrently with the cells of its rank

  friend bool operator==(const TraceSlice&, const TraceSlice&) = default;
};

/// A step, as its trace file states it.
struct RunTrace {
  std::string file{};
  std::vector<std::vector<TraceSlice>> ranks{};  // by pp rank; slices sorted by begin
  Seconds end{};                                 // end of the last slice; the first one begins at 0

  friend bool operator==(const RunTrace&, const RunTrace&) = default;
};

/// Reads a trace. Its format is detected from the text: JSON begins with a bracket, a Perfetto
/// protobuf does not. Fails with RW0932 if it is not the trace of a step, with RW0906 beyond the
/// limits or kMaxPpRanks.
Result<RunTrace> read_run_trace(std::string_view text, std::string_view file,
                                const TraceLimits& limits = {});

}  // namespace rankwright::importer
