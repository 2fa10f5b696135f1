// Writes trace files in both formats for tests, slice by slice, including faulty ones. Independent
// of report/timeline/trace.h, so that a mistake there is not hidden by a matching one here.
#pragma once

#include <fmt/format.h>

#include <map>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <vector>

#include "rankwright/import/log/trace_format.h"

namespace rankwright::sample {

struct WrittenSlice {
  importer::TraceTrack track{};
  i64 begin = 0, end = 0;  // nanoseconds
  std::string name = "0F0";
  std::string category = "forward";
};

inline i64 thread_of(const importer::TraceTrack& track) {
  return 2 * track.pp_rank + (track.beside ? 2 : 1);
}

/// Writes a Chrome trace, with tracks after the slices: readers must not rely on the order.
inline std::string chrome_file(const std::vector<WrittenSlice>& slices) {
  std::string events;
  std::map<i64, importer::TraceTrack> tracks;
  for (const WrittenSlice& s : slices) {
    tracks[thread_of(s.track)] = s.track;
    events += fmt::format(
        R"({{"name":"{}","cat":"{}","ph":"X","ts":{}.{:03},"dur":{}.{:03},"pid":7,"tid":{}}},)",
        s.name, s.category, s.begin / 1000, s.begin % 1000, (s.end - s.begin) / 1000,
        (s.end - s.begin) % 1000, thread_of(s.track));
  }
  for (const auto& [thread, track] : tracks)
    events +=
        fmt::format(R"({{"args":{{"name":"{}"}},"name":"thread_name","ph":"M","pid":7,"tid":{}}},)",
                    track_name(track), thread);
  if (!events.empty()) events.pop_back();
  return R"({"traceEvents":[)" + events + "]}";
}

/// Writes a TracePacket with track_descriptor 60 {uuid 1, thread 4 {thread_name 5}}.
inline std::string described(std::uint64_t uuid, const std::string& name) {
  std::string out;
  protozero::pbf_writer trace(out);
  protozero::pbf_writer packet(trace, 1);
  protozero::pbf_writer track(packet, 60);
  track.add_uint64(1, uuid);
  protozero::pbf_writer(track, 4).add_string(5, name);
  return out;
}

/// Writes a TracePacket with timestamp 8 and track_event 11 {type 9: 1 begins, track_uuid 11,
/// categories 22, name 23}.
inline std::string begun(std::uint64_t uuid, std::uint64_t at, const std::string& name = "0F0",
                         const std::string& category = "forward") {
  std::string out;
  protozero::pbf_writer trace(out);
  protozero::pbf_writer packet(trace, 1);
  packet.add_uint64(8, at);
  protozero::pbf_writer event(packet, 11);
  event.add_enum(9, 1);
  event.add_uint64(11, uuid);
  event.add_string(22, category);
  event.add_string(23, name);
  return out;
}

/// Writes the TracePacket that ends a slice: type 2.
inline std::string ended(std::uint64_t uuid, std::uint64_t at) {
  std::string out;
  protozero::pbf_writer trace(out);
  protozero::pbf_writer packet(trace, 1);
  packet.add_uint64(8, at);
  protozero::pbf_writer event(packet, 11);
  event.add_enum(9, 2);
  event.add_uint64(11, uuid);
  return out;
}

inline std::string perfetto_file(const std::vector<WrittenSlice>& slices) {
  std::string out;
  std::map<i64, importer::TraceTrack> tracks;
  for (const WrittenSlice& s : slices) {
    const std::uint64_t uuid = std::uint64_t(thread_of(s.track));
    tracks[thread_of(s.track)] = s.track;
    out += begun(uuid, std::uint64_t(s.begin), s.name, s.category);
    out += ended(uuid, std::uint64_t(s.end));
  }
  for (const auto& [thread, track] : tracks)
    out += described(std::uint64_t(thread), track_name(track));
  return out;
}

}  // namespace rankwright::sample
