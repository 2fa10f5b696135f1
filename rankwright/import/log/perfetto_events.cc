#include <fmt/format.h>

#include <protozero/pbf_reader.hpp>

#include "rankwright/base/format.h"
#include "rankwright/import/log/perfetto_fields.h"
#include "rankwright/import/log/trace_events.h"

namespace rankwright::importer {
namespace {

using protozero::data_view;
using protozero::pbf_reader;

// A field counts only with the wire type that it has by its .proto: the library asserts that it is
// asked for no other.
constexpr std::uint32_t number(perfetto::Field field) {
  return protozero::tag_and_type(field, protozero::pbf_wire_type::varint);
}
constexpr std::uint32_t nested(perfetto::Field field) {
  return protozero::tag_and_type(field, protozero::pbf_wire_type::length_delimited);
}

/// TrackEvent, as far as it matters.
struct PerfettoEvent {
  std::uint64_t type = 0;
  std::optional<std::uint64_t> track{};
  std::string name{};
  std::string category{};
};

PerfettoEvent event_in(data_view message) {
  PerfettoEvent event;
  pbf_reader reader(message);
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case number(perfetto::event::kType):
        event.type = reader.get_uint64();
        break;
      case number(perfetto::event::kTrack):
        event.track = reader.get_uint64();
        break;
      case nested(perfetto::event::kName):
        event.name = reader.get_string();
        break;
      case nested(perfetto::event::kCategory):
        event.category = reader.get_string();
        break;
      default:
        reader.skip();
    }
  }
  return event;
}

std::optional<std::string> thread_name_in(data_view message) {
  std::optional<std::string> name;
  pbf_reader reader(message);
  while (reader.next(perfetto::thread::kName, protozero::pbf_wire_type::length_delimited))
    name = reader.get_string();
  return name;
}

std::optional<i64> in_range(std::optional<std::uint64_t> nanoseconds) {
  if (!nanoseconds || *nanoseconds > std::uint64_t(kMaxNanoseconds)) return std::nullopt;
  return i64(*nanoseconds);
}

class PerfettoReader {
 public:
  void packet(data_view message) {
    std::optional<std::uint64_t> time;
    std::optional<data_view> event, track;
    pbf_reader reader(message);
    while (reader.next()) {
      switch (reader.tag_and_type()) {
        case number(perfetto::packet::kTimestamp):
          time = reader.get_uint64();
          break;
        case nested(perfetto::packet::kTrackEvent):
          event = reader.get_view();
          break;
        case nested(perfetto::packet::kTrack):
          track = reader.get_view();
          break;
        default:
          reader.skip();
      }
    }
    if (track) describe(*track);
    if (event) happen(event_in(*event), in_range(time));
  }

  TraceEvents events{};

 private:
  void describe(data_view message) {
    std::optional<std::uint64_t> uuid;
    std::optional<std::string> name;
    pbf_reader reader(message);
    while (reader.next()) {
      switch (reader.tag_and_type()) {
        case number(perfetto::track::kUuid):
          uuid = reader.get_uint64();
          break;
        case nested(perfetto::track::kThread):
          name = thread_name_in(reader.get_view());
          break;
        default:
          reader.skip();
      }
    }
    if (uuid && name) events.tracks.insert_or_assign({*uuid, 0}, std::move(*name));
  }

  /// An end is that of the slice of its track that began last.
  void happen(PerfettoEvent event, std::optional<i64> time) {
    if (!event.track) return;
    const TraceEvents::TrackId track{*event.track, 0};
    if (event.type == perfetto::event::kBegin) {
      open_[*event.track].push_back(events.slices.size());
      events.slices.push_back(
          {track, time, std::nullopt, std::move(event.name), std::move(event.category)});
    } else if (event.type == perfetto::event::kEnd) {
      std::vector<std::size_t>& open = open_[*event.track];
      if (open.empty()) {
        events.slices.push_back({.track = track, .end = time});  // its begin was lost
        return;
      }
      events.slices[open.back()].end = time;
      open.pop_back();
    }
  }

  std::map<std::uint64_t, std::vector<std::size_t>> open_{};  // by track: slices that have no end
};

}  // namespace

Result<TraceEvents> read_perfetto_events(std::string_view bytes, std::string_view file,
                                         const TraceLimits& limits) {
  PerfettoReader reader;
  pbf_reader trace(bytes.data(), bytes.size());
  std::size_t at = 0;
  // protozero reports by exceptions; they end here.
  try {
    while (trace.next(perfetto::kTracePacket, protozero::pbf_wire_type::length_delimited)) {
      reader.packet(trace.get_view());
      at = bytes.size() - trace.length();
      if (std::optional<std::string> wrong = excess(reader.events, limits))
        return fail(too_long_a_trace(std::move(*wrong), file));
    }
  } catch (const protozero::exception&) {
    return fail(no_trace(
        fmt::format("it is no JSON, and no protobuf of Perfetto's from byte {} on", count(i64(at))),
        {.file = std::string(file)}));
  }
  return std::move(reader.events);
}

}  // namespace rankwright::importer
