#include <fmt/format.h>

#include <protozero/pbf_reader.hpp>

#include "rankwright/base/format.h"
#include "rankwright/import/log/perfetto_fields.h"
#include "rankwright/import/log/trace_events.h"

namespace rankwright::importer {
namespace {

using protozero::data_view;
using protozero::pbf_reader;

// A field is read only with the wire type of its .proto: the library asserts that it is not asked
// for another.
constexpr std::uint32_t varint_tag(perfetto::Field field) {
  return protozero::tag_and_type(field, protozero::pbf_wire_type::varint);
}
constexpr std::uint32_t message_tag(perfetto::Field field) {
  return protozero::tag_and_type(field, protozero::pbf_wire_type::length_delimited);
}

/// The fields of TrackEvent that are read.
struct PerfettoEvent {
  std::uint64_t type = 0;
  std::optional<std::uint64_t> track{};
  std::string name{};
  std::string category{};
};

PerfettoEvent read_event(data_view message) {
  PerfettoEvent event;
  pbf_reader reader(message);
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case varint_tag(perfetto::event::kType):
        event.type = reader.get_uint64();
        break;
      case varint_tag(perfetto::event::kTrack):
        event.track = reader.get_uint64();
        break;
      case message_tag(perfetto::event::kName):
        event.name = reader.get_string();
        break;
      case message_tag(perfetto::event::kCategory):
        event.category = reader.get_string();
        break;
      default:
        reader.skip();
    }
  }
  return event;
}

std::optional<std::string> read_thread_name(data_view message) {
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
  void read_packet(data_view message) {
    std::optional<std::uint64_t> time;
    std::optional<data_view> event, track;
    pbf_reader reader(message);
    while (reader.next()) {
      switch (reader.tag_and_type()) {
        case varint_tag(perfetto::packet::kTimestamp):
          time = reader.get_uint64();
          break;
        case message_tag(perfetto::packet::kTrackEvent):
          event = reader.get_view();
          break;
        case message_tag(perfetto::packet::kTrack):
          track = reader.get_view();
          break;
        default:
          reader.skip();
      }
    }
    if (track) add_track(*track);
    if (event) add_event(read_event(*event), in_range(time));
  }

  TraceEvents events{};

 private:
  void add_track(data_view message) {
    std::optional<std::uint64_t> uuid;
    std::optional<std::string> name;
    pbf_reader reader(message);
    while (reader.next()) {
      switch (reader.tag_and_type()) {
        case varint_tag(perfetto::track::kUuid):
          uuid = reader.get_uint64();
          break;
        case message_tag(perfetto::track::kThread):
          name = read_thread_name(reader.get_view());
          break;
        default:
          reader.skip();
      }
    }
    if (uuid && name) events.tracks.insert_or_assign({*uuid, 0}, std::move(*name));
  }

  /// An end event closes the slice of its track that began last.
  void add_event(PerfettoEvent event, std::optional<i64> time) {
    if (!event.track) return;
    const TraceEvents::TrackId track{*event.track, 0};
    if (event.type == perfetto::event::kBegin) {
      open_[*event.track].push_back(events.slices.size());
      events.slices.push_back(
          {track, time, std::nullopt, std::move(event.name), std::move(event.category)});
    } else if (event.type == perfetto::event::kEnd) {
      std::vector<std::size_t>& open = open_[*event.track];
      if (open.empty()) {
        events.slices.push_back({.track = track, .end = time});  // its begin is missing
        return;
      }
      events.slices[open.back()].end = time;
      open.pop_back();
    }
  }

  std::map<std::uint64_t, std::vector<std::size_t>> open_{};  // by track: slices without an end
};

}  // namespace

Result<TraceEvents> read_perfetto_events(std::string_view bytes, std::string_view file,
                                         const TraceLimits& limits) {
  PerfettoReader reader;
  pbf_reader trace(bytes.data(), bytes.size());
  std::size_t at = 0;
  // protozero reports errors by exceptions; they are caught here.
  try {
    while (trace.next(perfetto::kTracePacket, protozero::pbf_wire_type::length_delimited)) {
      reader.read_packet(trace.get_view());
      at = bytes.size() - trace.length();
      if (std::optional<std::string> wrong = find_excess(reader.events, limits))
        return fail(trace_too_large(std::move(*wrong), file));
    }
  } catch (const protozero::exception&) {
    return fail(not_a_trace(
        fmt::format("neither JSON nor a Perfetto trace (invalid from byte {})", count(i64(at))),
        {.file = std::string(file)}));
  }
  return std::move(reader.events);
}

}  // namespace rankwright::importer
