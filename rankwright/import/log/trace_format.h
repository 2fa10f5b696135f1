// What writer (report/timeline/trace.h) and reader (run_trace.h) of a step's trace agree on,
// whichever of the two formats it has: how tracks are named, and how much a file may hold.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rankwright/base/integer.h"

namespace rankwright::importer {

/// Slices of a trace. More make files of half a gigabyte, which viewers refuse: whoever writes a
/// trace asks first.
inline constexpr i64 kMaxSlices = 2'000'000;

/// Times in traces are whole nanoseconds, from 0 to 285 years.
inline constexpr i64 kMaxNanoseconds = 9'000'000'000'000'000'000;

/// What a track shows: the cells and steps of a pp rank, or what runs beside them.
struct TraceTrack {
  i64 pp_rank = 0;
  bool beside = false;

  friend auto operator<=>(const TraceTrack&, const TraceTrack&) = default;
};

/// "pp rank 3", "pp rank 3, beside".
std::string track_name(const TraceTrack& track);

/// The track of that name; nothing where it is no name of ours. A rank that 64 bits do not hold is
/// the largest that they do.
std::optional<TraceTrack> parse_track_name(std::string_view name);

}  // namespace rankwright::importer
