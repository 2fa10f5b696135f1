#include "rankwright/import/log/run_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "rankwright/base/format.h"
#include "rankwright/import/log/trace_events.h"
#include "rankwright/program/cells.h"

namespace rankwright::importer {
namespace {

constexpr std::string_view kGzip = "\x1F\x8B";

using Tracks = std::map<TraceEvents::TrackId, TraceTrack>;

Result<Tracks> find_rank_tracks(const TraceEvents& events, const Location& where) {
  Tracks ours;
  std::set<TraceTrack> known;
  for (const auto& [id, name] : events.tracks) {
    const std::optional<TraceTrack> track = parse_track_name(name);
    if (!track) continue;
    if (track->pp_rank >= program::kMaxPpRanks)
      return fail(trace_too_large(fmt::format("track of PP rank {}: at most {} ranks are supported",
                                              count(track->pp_rank), count(program::kMaxPpRanks)),
                                  where.file));
    if (!known.insert(*track).second)
      return fail(not_a_trace(fmt::format("two tracks are named '{}'", name), where));
    ours.emplace(id, *track);
  }
  if (ours.empty())
    return fail(not_a_trace(fmt::format("none of {} is named `pp rank N`",
                                        plural(i64(events.tracks.size()), "track", "tracks")),
                            where));
  return ours;
}

/// Returns what is wrong with the times of a slice, if anything.
std::optional<std::string> find_fault(const TraceEvents::Slice& slice, const TraceTrack& track) {
  const auto lacks = [&](std::string_view what) {
    return fmt::format("'{}' on the track '{}' {}", make_excerpt(slice.name), track_name(track),
                       what);
  };
  if (!slice.begin) return lacks("has no valid begin time");
  if (!slice.end || *slice.end < *slice.begin) return lacks("has no valid end time");
  return std::nullopt;
}

Result<RunTrace> make_step(const TraceEvents& events, const Location& where) {
  const Result<Tracks> tracks = find_rank_tracks(events, where);
  if (!tracks) return fail(tracks.error());
  constexpr i64 kInfiniteTime = std::numeric_limits<i64>::max();
  i64 first = kInfiniteTime;
  for (const TraceEvents::Slice& slice : events.slices) {
    const auto track = tracks->find(slice.track);
    if (track == tracks->end()) continue;
    if (std::optional<std::string> fault = find_fault(slice, track->second))
      return fail(not_a_trace(std::move(*fault), where));
    first = std::min(first, *slice.begin);
  }
  if (first == kInfiniteTime)
    return fail(not_a_trace("the tracks of the PP ranks are empty", where));

  RunTrace trace{.file = where.file};
  for (const auto& [id, track] : *tracks)
    trace.ranks.resize(std::max(trace.ranks.size(), std::size_t(track.pp_rank) + 1));
  for (const TraceEvents::Slice& slice : events.slices) {
    const auto track = tracks->find(slice.track);
    if (track == tracks->end()) continue;
    const auto since_first = [&](i64 ns) { return Seconds{double(ns - first) / 1e9}; };
    trace.ranks[std::size_t(track->second.pp_rank)].push_back(
        {.begin = since_first(*slice.begin),
         .end = since_first(*slice.end),
         .name = make_excerpt(slice.name, kLongestSliceName),
         .category = make_excerpt(slice.category, kLongestSliceName),
         .cell = parse_cell_name(slice.name),
         .beside = track->second.beside});
    trace.end = std::max(trace.end, since_first(*slice.end));
  }
  for (std::vector<TraceSlice>& rank : trace.ranks)
    std::stable_sort(rank.begin(), rank.end(),
                     [](const TraceSlice& a, const TraceSlice& b) { return a.begin < b.begin; });
  return trace;
}

}  // namespace

Diagnostic not_a_trace(std::string detail, Location where) {
  return {.code = "RW0932",
          .message = "not the trace of a training step",
          .detail = std::move(detail),
          .hint = "write one with rankwright run plan.yaml --trace run.pftrace",
          .where = std::move(where)};
}

Diagnostic trace_too_large(std::string detail, std::string_view file) {
  return {.code = "RW0906",
          .message = "the file is too large or too deeply nested",
          .detail = std::move(detail),
          .where = {.file = std::string(file)}};
}

std::optional<std::string> find_excess(const TraceEvents& events, const TraceLimits& limits) {
  const auto more = [&](std::string_view of) {
    return fmt::format("more than {} {}", count(limits.slices), of);
  };
  if (i64(events.slices.size()) > limits.slices) return more("slices");
  if (i64(events.tracks.size()) > limits.slices) return more("tracks");
  return std::nullopt;
}

Result<RunTrace> read_run_trace(std::string_view text, std::string_view file,
                                const TraceLimits& limits) {
  const Location where{.file = std::string(file)};
  if (text.size() > limits.bytes)
    return fail(trace_too_large(fmt::format("{} bytes: at most {} are supported",
                                            count(i64(text.size())), count(i64(limits.bytes))),
                                file));
  if (text.starts_with(kGzip))
    return fail(not_a_trace("the file is compressed: run gunzip on it first", where));
  // A protobuf may begin with a line break, so leading blanks are not skipped.
  const bool json = text.starts_with('{') || text.starts_with('[');
  const Result<TraceEvents> events =
      json ? read_chrome_events(text, file, limits) : read_perfetto_events(text, file, limits);
  if (!events) return fail(events.error());
  return make_step(*events, where);
}

}  // namespace rankwright::importer
