// Conventions that the writer (report/timeline/trace.h) and the reader (run_trace.h) of step traces
// share in both formats: the names of tracks and of cells, and the limits of a file.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rankwright/base/integer.h"
#include "rankwright/pipeline/action.h"

namespace rankwright::importer {

/// Maximum number of slices in a trace. More make files of half a gigabyte, which viewers refuse;
/// writers check this first.
inline constexpr i64 kMaxSlices = 2'000'000;

/// Trace times are whole nanoseconds from 0 to 285 years.
inline constexpr i64 kMaxNanoseconds = 9'000'000'000'000'000'000;

/// One track: the cells and steps of a pp rank, or what runs concurrently with them (`beside`).
struct TraceTrack {
  i64 pp_rank = 0;
  bool beside = false;

  friend auto operator<=>(const TraceTrack&, const TraceTrack&) = default;
};

/// Returns "pp rank 3" or "pp rank 3, overlapped".
std::string track_name(const TraceTrack& track);

/// Returns the track with that name, or nothing if the name has another form. A rank beyond 64 bits
/// is clamped to the largest value.
std::optional<TraceTrack> parse_track_name(std::string_view name);

/// Returns "forward, micro-batch 0, stage 2". Requires: a cell.
std::string cell_name(const pipeline::Action& cell);

/// Returns the cell with that name, or with the short name "2F0" that older traces have; nothing
/// for any other text.
std::optional<pipeline::Action> parse_cell_name(std::string_view name);

}  // namespace rankwright::importer
