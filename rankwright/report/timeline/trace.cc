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

/// One argument of a slice, which viewers show when it is selected.
struct SliceArgument {
  std::string_view name;
  std::string text{};  // empty: `number` is the value
  i64 number = 0;
};

/// Lists the stage and the micro-batch of a cell, or the group and the bytes of a collective.
std::vector<SliceArgument> list_arguments(const program::Program& p, i64 rank,
                                          const pipeline::Action& a) {
  if (is_cell(a.kind))
    return {{.name = "stage", .number = i64(a.stage)},
            {.name = "micro-batch", .number = i64(a.microbatch)}};
  const program::Step& step = p.steps[std::size_t(rank)][a.microbatch];
  if (step.computes()) return {};
  return {{.name = "group", .text = std::string(name(step.group))},
          {.name = "bytes per call", .number = i64(std::llround(step.bytes.value))}};
}

/// Returns the name of a slice: "forward, micro-batch 0, stage 2", or that of the step.
std::string name_slice(const program::Program& p, i64 rank, const pipeline::Action& a) {
  return is_cell(a.kind) ? importer::cell_name(a) : name_event(p, rank, a);
}

/// The number of activations that a rank holds from a time on.
struct HeldChange {
  i64 at = 0;  // nanoseconds
  i64 held = 0;
};

/// Lists the changes of the activations held, by time. A forward pass begins to hold its stage's
/// activations; the backward pass or the weight gradient releases them.
std::vector<HeldChange> list_held(const std::vector<program::Event>& events) {
  using Kind = pipeline::ActionKind;
  std::vector<HeldChange> all;
  i64 now = 0;
  for (const program::Event& e : events) {
    const bool releases = e.action.kind == Kind::backward || e.action.kind == Kind::weight_grad;
    if (e.action.kind != Kind::forward && !releases) continue;
    now += releases ? -1 : 1;
    const i64 at = to_nanoseconds(releases ? e.end : e.start);
    all.push_back({all.empty() ? at : std::max(at, all.back().at), now});
  }
  return all;
}

std::string name_counter(i64 rank) { return fmt::format("activations held, pp rank {}", rank); }
std::string name_run(const planner::CriticalPathRun& run) {
  return fmt::format("on pp rank {}", run.pp_rank);
}
constexpr std::string_view kPathTrack = "critical path", kPathCategory = "critical_path";

std::string_view find_category(const program::Program& p, i64 rank, const pipeline::Action& a) {
  return row(planner::classify_event(p, rank, a)).category;
}

constexpr i64 kProcess = 1;  // rank 0 is its main thread, which viewers show first

i64 number_thread(const program::Program& p, i64 rank, bool beside) {
  return kProcess + rank + (beside ? p.pp() : 0);
}

/// The thread of the critical path comes after those of all ranks.
i64 number_path_thread(const program::Program& p) { return kProcess + 2 * p.pp(); }

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

void describe_thread(pbf_writer& trace, i64 thread, i64 order, std::string_view name) {
  pbf_writer packet(trace, importer::perfetto::kTracePacket);
  packet.add_uint32(importer::perfetto::packet::kSequence, std::uint32_t(thread));
  pbf_writer track(packet, importer::perfetto::packet::kTrack);
  track.add_uint64(importer::perfetto::track::kUuid, number_track(thread));
  track.add_uint64(importer::perfetto::track::kParent, 1);
  pbf_writer of(track, importer::perfetto::track::kThread);
  of.add_int32(importer::perfetto::thread::kPid, std::int32_t(kProcess));
  of.add_int32(importer::perfetto::thread::kTid, std::int32_t(thread));
  of.add_int32(importer::perfetto::thread::kSortIndex, std::int32_t(order));
  of.add_string(importer::perfetto::thread::kName, name.data(), name.size());
}

/// Writes an event of a track at a time; `fill` adds what the event has besides.
template <class Fill>
void write_event(pbf_writer& trace, i64 thread, std::uint64_t track, i64 at, int type, Fill fill) {
  pbf_writer packet(trace, importer::perfetto::kTracePacket);
  packet.add_uint64(importer::perfetto::packet::kTimestamp, std::uint64_t(at));
  packet.add_uint32(importer::perfetto::packet::kSequence, std::uint32_t(thread));
  pbf_writer event(packet, importer::perfetto::packet::kTrackEvent);
  event.add_enum(importer::perfetto::event::kType, type);
  event.add_uint64(importer::perfetto::event::kTrack, track);
  fill(event);
}

void add_argument(pbf_writer& event, const SliceArgument& argument) {
  pbf_writer added(event, importer::perfetto::event::kAnnotation);
  if (argument.text.empty())
    added.add_int64(importer::perfetto::annotation::kInteger, argument.number);
  else
    added.add_string(importer::perfetto::annotation::kText, argument.text);
  added.add_string(importer::perfetto::annotation::kName, argument.name.data(),
                   argument.name.size());
}

void begin_slice(pbf_writer& trace, const program::Program& p, i64 rank, const Slice& slice) {
  const i64 thread = number_thread(p, rank, slice.beside);
  write_event(
      trace, thread, number_track(thread), slice.begin, importer::perfetto::event::kBegin,
      [&](pbf_writer& event) {
        for (const SliceArgument& argument : list_arguments(p, rank, slice.action))
          add_argument(event, argument);
        const std::string_view of = find_category(p, rank, slice.action);
        event.add_string(importer::perfetto::event::kCategory, of.data(), of.size());
        event.add_string(importer::perfetto::event::kName, name_slice(p, rank, slice.action));
        if (slice.sends)
          event.add_fixed64(importer::perfetto::event::kFlow, std::uint64_t(*slice.sends));
        if (slice.takes)
          event.add_fixed64(importer::perfetto::event::kLastFlow, std::uint64_t(*slice.takes));
      });
}

void end_slice(pbf_writer& trace, i64 thread, i64 at) {
  write_event(trace, thread, number_track(thread), at, importer::perfetto::event::kEnd,
              [](pbf_writer&) {});
}

/// Returns the ID of a rank's counter, after those of all threads.
std::uint64_t number_counter(const program::Program& p, i64 rank) {
  return number_track(number_path_thread(p) + 1 + rank);
}

void write_counter(pbf_writer& trace, const program::Program& p, i64 rank,
                   const std::vector<program::Event>& events) {
  const i64 thread = number_thread(p, rank, false);
  const std::uint64_t counter = number_counter(p, rank);
  {
    pbf_writer packet(trace, importer::perfetto::kTracePacket);
    packet.add_uint32(importer::perfetto::packet::kSequence, std::uint32_t(thread));
    pbf_writer track(packet, importer::perfetto::packet::kTrack);
    track.add_uint64(importer::perfetto::track::kUuid, counter);
    track.add_string(importer::perfetto::track::kName, name_counter(rank));
    track.add_uint64(importer::perfetto::track::kParent, 1);
    track.add_string(importer::perfetto::track::kCounter, "");  // an empty message
  }
  for (const HeldChange& change : list_held(events))
    write_event(trace, thread, counter, change.at, importer::perfetto::event::kCount,
                [&](pbf_writer& event) {
                  event.add_int64(importer::perfetto::event::kCounterValue, change.held);
                });
}

void write_path(pbf_writer& trace, const program::Program& p, const CriticalPath& path) {
  if (path.empty()) return;
  const i64 thread = number_path_thread(p);
  describe_thread(trace, thread, -1, kPathTrack);
  i64 last = 0;
  for (const planner::CriticalPathRun& run : path) {
    const i64 begin = std::max(last, to_nanoseconds(run.begin));
    last = std::max(begin, to_nanoseconds(run.end));
    write_event(trace, thread, number_track(thread), begin, importer::perfetto::event::kBegin,
                [&](pbf_writer& event) {
                  event.add_string(importer::perfetto::event::kCategory, kPathCategory.data(),
                                   kPathCategory.size());
                  event.add_string(importer::perfetto::event::kName, name_run(run));
                });
    end_slice(trace, thread, last);
  }
}

/// Formats nanoseconds in microseconds, the unit of the trace event format, without loss.
std::string format_microseconds(i64 ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

void name_thread(std::string& out, i64 thread, i64 order, std::string_view name) {
  const auto say = [&](std::string_view what, std::string_view key, const nlohmann::json& value) {
    fmt::format_to(
        std::back_inserter(out),
        ",\n{{\"ph\":\"M\",\"pid\":{},\"tid\":{},\"name\":\"{}\",\"args\":{{\"{}\":{}}}}}",
        kProcess, thread, what, key, value.dump());
  };
  say("thread_name", "name", name);
  say("thread_sort_index", "sort_index", order);
}

/// Writes a slice with arguments, which are an object.
void write_box(std::string& out, i64 thread, i64 begin, i64 end, std::string_view category,
               std::string_view name, const nlohmann::ordered_json& arguments) {
  fmt::format_to(std::back_inserter(out),
                 ",\n{{\"ph\":\"X\",\"pid\":{},\"tid\":{},\"ts\":{},\"dur\":{},\"cat\":\"{}\","
                 "\"name\":{}{}}}",
                 kProcess, thread, format_microseconds(begin), format_microseconds(end - begin),
                 category, nlohmann::json(name).dump(),
                 arguments.empty() ? "" : ",\"args\":" + arguments.dump());
}

void write_counter(std::string& out, i64 rank, const std::vector<program::Event>& events) {
  for (const HeldChange& change : list_held(events))
    fmt::format_to(
        std::back_inserter(out),
        ",\n{{\"ph\":\"C\",\"pid\":{},\"ts\":{},\"name\":\"{}\",\"args\":{{\"held\":{}}}}}",
        kProcess, format_microseconds(change.at), name_counter(rank), change.held);
}

void write_path(std::string& out, const program::Program& p, const CriticalPath& path) {
  if (path.empty()) return;
  name_thread(out, number_path_thread(p), -1, kPathTrack);
  i64 last = 0;
  for (const planner::CriticalPathRun& run : path) {
    const i64 begin = std::max(last, to_nanoseconds(run.begin));
    last = std::max(begin, to_nanoseconds(run.end));
    write_box(out, number_path_thread(p), begin, last, kPathCategory, name_run(run), {});
  }
}

void write_slice(std::string& out, const program::Program& p, i64 rank, const Slice& slice) {
  const i64 thread = number_thread(p, rank, slice.beside);
  nlohmann::ordered_json arguments = nlohmann::ordered_json::object();
  for (const SliceArgument& argument : list_arguments(p, rank, slice.action)) {
    if (argument.text.empty())
      arguments[std::string(argument.name)] = argument.number;
    else
      arguments[std::string(argument.name)] = argument.text;
  }
  write_box(out, thread, slice.begin, slice.end, find_category(p, rank, slice.action),
            name_slice(p, rank, slice.action), arguments);
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

std::string write_perfetto_trace(const program::Program& p, const Events& events,
                                 const CriticalPath& path) {
  RW_CHECK(planner::slice_count(p) <= importer::kMaxSlices);
  std::string out;
  pbf_writer trace(out);
  describe_process(trace);
  write_path(trace, p, path);
  for (i64 r = 0; r < p.pp(); ++r) {
    for (const bool beside : {false, true})
      if (!beside || has_overlapped_steps(p, r))
        describe_thread(trace, number_thread(p, r, beside), 2 * r + (beside ? 1 : 0),
                        importer::track_name({r, beside}));
    for (const Slice& slice : make_slices(p, r, events[std::size_t(r)])) {
      begin_slice(trace, p, r, slice);
      end_slice(trace, number_thread(p, r, slice.beside), slice.end);
    }
    write_counter(trace, p, r, events[std::size_t(r)]);
  }
  return out;
}

std::string write_chrome_trace(const program::Program& p, const Events& events,
                               const CriticalPath& path) {
  RW_CHECK(planner::slice_count(p) <= importer::kMaxSlices);
  std::string out = fmt::format(
      "{{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"
      "{{\"ph\":\"M\",\"pid\":{},\"name\":\"process_name\",\"args\":{{\"name\":\"pipeline\"}}}}",
      kProcess);
  write_path(out, p, path);
  for (i64 r = 0; r < p.pp(); ++r) {
    for (const bool beside : {false, true})
      if (!beside || has_overlapped_steps(p, r))
        name_thread(out, number_thread(p, r, beside), 2 * r + (beside ? 1 : 0),
                    importer::track_name({r, beside}));
    for (const Slice& slice : make_slices(p, r, events[std::size_t(r)]))
      write_slice(out, p, r, slice);
    write_counter(out, r, events[std::size_t(r)]);
  }
  return out + "\n]}\n";
}

Events collect_events(const planner::SimulatedStep& p) {
  Events all;
  for (i64 r = 0; r < p.program.pp(); ++r) all.push_back(events(p, r));
  return all;
}

std::string write_perfetto_trace(const planner::SimulatedStep& p) {
  return write_perfetto_trace(p.program, collect_events(p), planner::summary(p).path);
}

std::string write_chrome_trace(const planner::SimulatedStep& p) {
  return write_chrome_trace(p.program, collect_events(p), planner::summary(p).path);
}

std::string write_trace(std::string_view path, const program::Program& program,
                        const Events& events) {
  return path.ends_with(".json") ? write_chrome_trace(program, events)
                                 : write_perfetto_trace(program, events);
}

std::string write_trace(std::string_view path, const planner::SummarizedStep& step) {
  const Events events = collect_events(step.simulated);
  const program::Program& program = step.simulated.program;
  return path.ends_with(".json") ? write_chrome_trace(program, events, step.summary.path)
                                 : write_perfetto_trace(program, events, step.summary.path);
}

}  // namespace rankwright::report
