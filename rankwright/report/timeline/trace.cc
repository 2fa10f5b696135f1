#include "rankwright/report/timeline/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <protozero/pbf_writer.hpp>

#include "rankwright/base/check.h"
#include "rankwright/import/log/perfetto_fields.h"
#include "rankwright/report/timeline/timeline_drawing.h"

namespace rankwright::report {
namespace {

/// A slice with the data that both formats need.
struct Slice {
  pipeline::Action action{};
  bool beside = false;
  i64 begin = 0, end = 0;               // nanoseconds
  std::optional<i64> sends{}, takes{};  // IDs of the outgoing and incoming arrow
};

i64 to_nanoseconds(Seconds t) {
  return i64(std::llround(std::min(t.value * 1e9, double(importer::kMaxNanoseconds))));
}

/// Returns the ID of the arrow between two stages of a microbatch; nothing if both are on this
/// rank.
std::optional<i64> find_arrow(const program::Program& program, i64 rank, i64 from, i64 to,
                              const pipeline::Action& a) {
  if (from < 0 || to < 0 || from >= program.stages || to >= program.stages) return std::nullopt;
  const i64 m = a.microbatch;
  const i64 other = program.stage_to_rank.of(i64(a.stage) == from ? to : from, m);
  if (other == rank || other == program::StageToRank::kNobody) return std::nullopt;
  return 2 * i64(program.stage_to_rank.index(to, m)) + (from < to ? 1 : 2);
}

/// Returns the slices of one rank in order. On each track a slice ends before the next begins,
/// even if rounding errors say otherwise.
std::vector<Slice> make_slices(const program::Program& p, i64 rank,
                               const std::vector<program::Event>& events) {
  std::vector<Slice> all;
  i64 free = 0, side = 0;
  for (const program::Event& e : events) {
    if (is_transfer(e.action.kind)) continue;  // drawn as an arrow
    Slice slice{.action = e.action, .beside = planner::is_beside(p, rank, e.action)};
    i64& last = slice.beside ? side : free;
    slice.begin = std::max(last, to_nanoseconds(e.start));
    slice.end = last = std::max(slice.begin, to_nanoseconds(e.end));
    const i64 stage = e.action.stage;
    if (e.action.kind == pipeline::ActionKind::forward) {
      slice.sends = find_arrow(p, rank, stage, stage + 1, e.action);
      slice.takes = find_arrow(p, rank, stage - 1, stage, e.action);
    } else if (gives_gradient(e.action.kind)) {
      slice.sends = find_arrow(p, rank, stage, stage - 1, e.action);
      slice.takes = find_arrow(p, rank, stage + 1, stage, e.action);
    }
    all.push_back(slice);
  }
  return all;
}

bool has_overlapped_steps(const program::Program& p, i64 rank) {
  if (p.steps.empty()) return false;
  const program::Body& steps = p.steps[std::size_t(rank)];
  return std::any_of(steps.begin(), steps.end(),
                     [](const program::Step& step) { return step.beside; });
}

std::string_view find_category(const program::Program& p, i64 rank, const pipeline::Action& a) {
  return row(planner::classify_event(p, rank, a)).category;
}

constexpr i64 kProcess = 1;  // rank 0 is its main thread, which viewers show first

i64 number_thread(const program::Program& p, i64 rank, bool beside) {
  return kProcess + rank + (beside ? p.pp() : 0);
}

using protozero::pbf_writer;

/// Returns the ID of a thread's track. ID 1 is the process.
std::uint64_t number_track(i64 thread) { return std::uint64_t(thread) + 1; }

void describe_process(pbf_writer& trace) {
  pbf_writer packet(trace, importer::perfetto::kTracePacket);
  packet.add_uint32(importer::perfetto::packet::kSequence, 1);
  pbf_writer track(packet, importer::perfetto::packet::kTrack);
  track.add_uint64(importer::perfetto::track::kUuid, 1);
  pbf_writer process(track, importer::perfetto::track::kProcess);
  process.add_int32(importer::perfetto::process::kPid, std::int32_t(kProcess));
  process.add_string(importer::perfetto::process::kName, "pipeline");
}

void describe_thread(pbf_writer& trace, const program::Program& p, i64 rank, bool beside) {
  const i64 thread = number_thread(p, rank, beside);
  pbf_writer packet(trace, importer::perfetto::kTracePacket);
  packet.add_uint32(importer::perfetto::packet::kSequence, std::uint32_t(thread));
  pbf_writer track(packet, importer::perfetto::packet::kTrack);
  track.add_uint64(importer::perfetto::track::kUuid, number_track(thread));
  track.add_uint64(importer::perfetto::track::kParent, 1);
  pbf_writer of(track, importer::perfetto::track::kThread);
  of.add_int32(importer::perfetto::thread::kPid, std::int32_t(kProcess));
  of.add_int32(importer::perfetto::thread::kTid, std::int32_t(thread));
  of.add_int32(importer::perfetto::thread::kSortIndex, std::int32_t(2 * rank + (beside ? 1 : 0)));
  of.add_string(importer::perfetto::thread::kName, importer::track_name({rank, beside}));
}

void begin_slice(pbf_writer& trace, const program::Program& p, i64 rank, const Slice& slice) {
  const i64 thread = number_thread(p, rank, slice.beside);
  pbf_writer packet(trace, importer::perfetto::kTracePacket);
  packet.add_uint64(importer::perfetto::packet::kTimestamp, std::uint64_t(slice.begin));
  packet.add_uint32(importer::perfetto::packet::kSequence, std::uint32_t(thread));
  pbf_writer event(packet, importer::perfetto::packet::kTrackEvent);
  event.add_enum(importer::perfetto::event::kType, importer::perfetto::event::kBegin);
  event.add_uint64(importer::perfetto::event::kTrack, number_track(thread));
  const std::string_view of = find_category(p, rank, slice.action);
  event.add_string(importer::perfetto::event::kCategory, of.data(), of.size());
  event.add_string(importer::perfetto::event::kName, name_event(p, rank, slice.action));
  if (slice.sends) event.add_fixed64(importer::perfetto::event::kFlow, std::uint64_t(*slice.sends));
  if (slice.takes)
    event.add_fixed64(importer::perfetto::event::kLastFlow, std::uint64_t(*slice.takes));
}

void end_slice(pbf_writer& trace, const program::Program& p, i64 rank, const Slice& slice) {
  const i64 thread = number_thread(p, rank, slice.beside);
  pbf_writer packet(trace, importer::perfetto::kTracePacket);
  packet.add_uint64(importer::perfetto::packet::kTimestamp, std::uint64_t(slice.end));
  packet.add_uint32(importer::perfetto::packet::kSequence, std::uint32_t(thread));
  pbf_writer event(packet, importer::perfetto::packet::kTrackEvent);
  event.add_enum(importer::perfetto::event::kType, importer::perfetto::event::kEnd);
  event.add_uint64(importer::perfetto::event::kTrack, number_track(thread));
}

/// Formats nanoseconds in microseconds, the unit of the trace event format, without loss.
std::string format_microseconds(i64 ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

void name_thread(std::string& out, const program::Program& p, i64 rank, bool beside) {
  const i64 thread = number_thread(p, rank, beside);
  const auto say = [&](std::string_view what, std::string_view key, const nlohmann::json& value) {
    fmt::format_to(
        std::back_inserter(out),
        ",\n{{\"ph\":\"M\",\"pid\":{},\"tid\":{},\"name\":\"{}\",\"args\":{{\"{}\":{}}}}}",
        kProcess, thread, what, key, value.dump());
  };
  say("thread_name", "name", importer::track_name({rank, beside}));
  say("thread_sort_index", "sort_index", 2 * rank + (beside ? 1 : 0));
}

void write_slice(std::string& out, const program::Program& p, i64 rank, const Slice& slice) {
  const i64 thread = number_thread(p, rank, slice.beside);
  fmt::format_to(std::back_inserter(out),
                 ",\n{{\"ph\":\"X\",\"pid\":{},\"tid\":{},\"ts\":{},\"dur\":{},\"cat\":\"{}\","
                 "\"name\":{}}}",
                 kProcess, thread, format_microseconds(slice.begin),
                 format_microseconds(slice.end - slice.begin), find_category(p, rank, slice.action),
                 nlohmann::json(name_event(p, rank, slice.action)).dump());
  // An arrow belongs to the slice that contains its end.
  const auto end_of_arrow = [&](std::string_view phase, i64 id, i64 at) {
    fmt::format_to(std::back_inserter(out),
                   ",\n{{\"ph\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":{},\"cat\":\"transfer\","
                   "\"name\":\"transfer\",\"id\":{}{}}}",
                   phase, kProcess, thread, format_microseconds(at), id,
                   phase == "f" ? ",\"bp\":\"e\"" : "");
  };
  if (slice.takes) end_of_arrow("f", *slice.takes, slice.begin);
  if (slice.sends) end_of_arrow("s", *slice.sends, std::max(slice.begin, slice.end - 1));
}

}  // namespace

std::string write_perfetto_trace(const program::Program& p, const Events& events) {
  RW_CHECK(planner::slice_count(p) <= importer::kMaxSlices);
  std::string out;
  pbf_writer trace(out);
  describe_process(trace);
  for (i64 r = 0; r < p.pp(); ++r) {
    describe_thread(trace, p, r, false);
    if (has_overlapped_steps(p, r)) describe_thread(trace, p, r, true);
    for (const Slice& slice : make_slices(p, r, events[std::size_t(r)])) {
      begin_slice(trace, p, r, slice);
      end_slice(trace, p, r, slice);
    }
  }
  return out;
}

std::string write_chrome_trace(const program::Program& p, const Events& events) {
  RW_CHECK(planner::slice_count(p) <= importer::kMaxSlices);
  std::string out = fmt::format(
      "{{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"
      "{{\"ph\":\"M\",\"pid\":{},\"name\":\"process_name\",\"args\":{{\"name\":\"pipeline\"}}}}",
      kProcess);
  for (i64 r = 0; r < p.pp(); ++r) {
    name_thread(out, p, r, false);
    if (has_overlapped_steps(p, r)) name_thread(out, p, r, true);
    for (const Slice& slice : make_slices(p, r, events[std::size_t(r)]))
      write_slice(out, p, r, slice);
  }
  return out + "\n]}\n";
}

Events collect_events(const planner::SimulatedStep& p) {
  Events all;
  for (i64 r = 0; r < p.program.pp(); ++r) all.push_back(events(p, r));
  return all;
}

std::string write_perfetto_trace(const planner::SimulatedStep& p) {
  return write_perfetto_trace(p.program, collect_events(p));
}

std::string write_chrome_trace(const planner::SimulatedStep& p) {
  return write_chrome_trace(p.program, collect_events(p));
}

std::string write_trace(std::string_view path, const program::Program& program,
                        const Events& events) {
  return path.ends_with(".json") ? write_chrome_trace(program, events)
                                 : write_perfetto_trace(program, events);
}

}  // namespace rankwright::report
