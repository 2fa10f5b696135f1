#include "rankwright/report/timeline/trace.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <protozero/pbf_reader.hpp>
#include <set>

#include "rankwright/import/log/run_trace.h"
#include "rankwright/report/timeline/timeline_drawing.h"
#include "tests/support/simulated_steps.h"

namespace rankwright::report {
namespace trace_test {

using nlohmann::json;
using protozero::pbf_reader;

/// A slice as a viewer reads it.
struct ReadSlice {
  std::string track;
  std::string name;
  std::string category;
  i64 begin = 0, end = 0;
  std::set<std::uint64_t> sends{}, takes{};
  std::map<std::string, std::string> arguments{};

  friend bool operator==(const ReadSlice&, const ReadSlice&) = default;
};

struct Trace {
  std::string process{};
  std::vector<std::string> tracks{};
  std::vector<ReadSlice> slices{};  // in the order of the file
  std::vector<ReadSlice> path{};    // of the track "critical path"
  std::map<std::string, std::vector<std::pair<i64, i64>>> counters{};  // time and value, by name

  void add(const ReadSlice& slice) {
    (slice.track == "critical path" ? path : slices).push_back(slice);
  }
};

/// The fields of a message by field number; the last one wins, as in protobuf. `annotations` are
/// all messages of field 4.
struct Message {
  std::map<std::uint32_t, std::uint64_t> numbers{};
  std::map<std::uint32_t, std::string> texts{};
  std::vector<std::string> annotations{};
};

Message read_message(pbf_reader reader) {
  Message found;
  while (reader.next()) {
    const std::uint32_t tag = reader.tag();
    if (reader.wire_type() == protozero::pbf_wire_type::varint)
      found.numbers[tag] = reader.get_uint64();
    else if (reader.wire_type() == protozero::pbf_wire_type::fixed64)
      found.numbers[tag] = reader.get_fixed64();
    else
      found.texts[tag] = reader.get_string();
    if (tag == 4 && found.texts.contains(4)) found.annotations.push_back(found.texts[4]);
  }
  return found;
}

Message read_nested(const Message& message, std::uint32_t tag) {
  return read_message(pbf_reader(message.texts.at(tag)));
}

/// TrackDescriptor: uuid 1, name 2, process 3 {process_name 6}, thread 4 {thread_name 5},
/// counter 8.
void read_track(const Message& track, std::map<std::uint64_t, std::string>& tracks, Trace& trace) {
  if (track.texts.contains(3)) {
    trace.process = read_nested(track, 3).texts.at(6);
    return;
  }
  const bool counter = track.texts.contains(8);
  const std::string name = counter ? track.texts.at(2) : read_nested(track, 4).texts.at(5);
  if (!counter && name != "critical path") trace.tracks.push_back(name);
  EXPECT_TRUE(tracks.emplace(track.numbers.at(1), name).second);
}

/// Trace: packet 1. TracePacket: timestamp 8, track_event 11, track_descriptor 60. TrackEvent: type
/// 9 (1 begins, 2 ends, 4 counts), track_uuid 11, categories 22, name 23, counter_value 30,
/// flow_ids 47, terminating_flow_ids 48, debug_annotations 4 {int_value 4, string_value 6, name
/// 10}.
Trace read_perfetto(const std::string& bytes) {
  Trace trace;
  std::map<std::uint64_t, std::string> tracks;
  std::map<std::uint64_t, ReadSlice> open;  // by track: the slice that has not ended
  pbf_reader reader(bytes);
  while (reader.next(1)) {
    const Message packet = read_message(reader.get_message());
    EXPECT_NE(packet.numbers.at(10), 0u);  // every packet sequence has an ID
    if (packet.texts.contains(60)) {
      read_track(read_nested(packet, 60), tracks, trace);
      continue;
    }
    const Message event = read_nested(packet, 11);
    const std::uint64_t track = event.numbers.at(11);
    const i64 time = i64(packet.numbers.at(8));
    if (event.numbers.at(9) == 4) {
      trace.counters[tracks.at(track)].emplace_back(time, i64(event.numbers.at(30)));
      continue;
    }
    if (event.numbers.at(9) == 2) {
      open.at(track).end = time;
      trace.add(open.at(track));
      open.erase(track);
      continue;
    }
    ReadSlice slice{tracks.at(track), event.texts.at(23), event.texts.at(22), time};
    for (const std::string& one : event.annotations) {
      const Message annotation = read_message(pbf_reader(one));
      slice.arguments[annotation.texts.at(10)] = annotation.texts.contains(6)
                                                     ? annotation.texts.at(6)
                                                     : std::to_string(annotation.numbers.at(4));
    }
    if (event.numbers.contains(47)) slice.sends.insert(event.numbers.at(47));
    if (event.numbers.contains(48)) slice.takes.insert(event.numbers.at(48));
    EXPECT_TRUE(open.emplace(track, slice).second) << "slices overlap";
  }
  EXPECT_TRUE(open.empty());
  return trace;
}

Trace read_chrome(const std::string& text) {
  Trace trace;
  std::map<i64, std::string> tracks;
  const auto ns = [](const json& microseconds) {
    return i64(std::llround(microseconds.get<double>() * 1000));
  };
  const json all = json::parse(text);
  for (const json& e : all["traceEvents"]) {
    const std::string phase = e["ph"];
    if (phase == "M" && e["name"] == "process_name") trace.process = e["args"]["name"];
    if (phase == "M" && e["name"] == "thread_name") {
      const std::string name = e["args"]["name"];
      if (name != "critical path") trace.tracks.push_back(name);
      EXPECT_TRUE(tracks.emplace(e["tid"], name).second);
    }
    if (phase == "C")
      trace.counters[e["name"]].emplace_back(ns(e["ts"]), e["args"]["held"].get<i64>());
    if (phase == "X") {
      ReadSlice slice{tracks.at(e["tid"]), e["name"], e["cat"], ns(e["ts"]),
                      ns(e["ts"]) + ns(e["dur"])};
      if (e.contains("args"))
        for (const auto& [name, value] : e["args"].items())
          slice.arguments[name] = value.is_string() ? value.get<std::string>() : value.dump();
      trace.add(slice);
    }
    if (phase != "s" && phase != "f") continue;
    ReadSlice& slice = trace.slices.back();
    EXPECT_EQ(tracks.at(e["tid"]), slice.track);
    EXPECT_TRUE(ns(e["ts"]) >= slice.begin && ns(e["ts"]) <= slice.end);
    (phase == "s" ? slice.sends : slice.takes).insert(e["id"].get<std::uint64_t>());
  }
  return trace;
}

TEST(Trace, ReadsBackWhatWasWritten) {
  // Two ranks, one microbatch: F0 0-1 s, F1 1-2 s, B1 2-4 s, B0 4-6 s; one arrow each way.
  const planner::SimulatedStep p = sample::simulate_unit_step({.pp = 2, .microbatches = 1});
  const Trace trace = read_perfetto(write_perfetto_trace(p));
  EXPECT_EQ(trace.process, "pipeline");
  EXPECT_EQ(trace.tracks, (std::vector<std::string>{"pp rank 0", "pp rank 1"}));
  constexpr i64 kSecond = 1'000'000'000;
  const std::uint64_t down = *trace.slices[0].sends.begin(), up = *trace.slices[1].takes.begin();
  EXPECT_NE(down, up);
  using Arguments = std::map<std::string, std::string>;
  const Arguments first{{"stage", "0"}, {"micro-batch", "0"}};
  const Arguments second{{"stage", "1"}, {"micro-batch", "0"}};
  const std::vector<ReadSlice> expected = {
      {"pp rank 0", "forward, micro-batch 0, stage 0", "forward", 0, kSecond, {down}, {}, first},
      {"pp rank 0",
       "backward, micro-batch 0, stage 0",
       "backward",
       4 * kSecond,
       6 * kSecond,
       {},
       {up},
       first},
      {"pp rank 1",
       "forward, micro-batch 0, stage 1",
       "forward",
       kSecond,
       2 * kSecond,
       {},
       {down},
       second},
      {"pp rank 1",
       "backward, micro-batch 0, stage 1",
       "backward",
       2 * kSecond,
       4 * kSecond,
       {up},
       {},
       second}};
  EXPECT_EQ(trace.slices, expected);
  // The path goes down with the forward, and back with the backward.
  ASSERT_EQ(trace.path.size(), 3u);
  EXPECT_EQ(trace.path[1].name, "on pp rank 1");
  EXPECT_EQ(trace.path[1].begin, kSecond);
  EXPECT_EQ(trace.path[2].end, 6 * kSecond);
}

// Rank 0 of two runs both forwards before its first backward; the last rank alternates.
TEST(Trace, CountsTheActivationsHeld) {
  const planner::SimulatedStep p = sample::simulate_unit_step({.pp = 2, .microbatches = 2});
  const Trace trace = read_perfetto(write_perfetto_trace(p));
  const auto values = [&](const std::string& name) {
    std::vector<i64> all;
    for (const auto& [time, value] : trace.counters.at(name)) all.push_back(value);
    return all;
  };
  EXPECT_EQ(values("activations held, pp rank 0"), (std::vector<i64>{1, 2, 1, 0}));
  EXPECT_EQ(values("activations held, pp rank 1"), (std::vector<i64>{1, 0, 1, 0}));
}

TEST(Trace, MeasuredTransfersBecomeArrows) {
  // The step above with measured times, which include sends and receives.
  const program::Program program = sample::program_of({.pp = 2, .microbatches = 1});
  const auto event = [](const pipeline::Action& a, double begin, double end) {
    return program::Event{a, begin * 1.0_ms, end * 1.0_ms};
  };
  const Events measured = {
      {event(pipeline::cell::F(0, 0), 0.25, 1),
       event(action(pipeline::ActionKind::send_forward, 0, 0), 1, 1.5),
       event(action(pipeline::ActionKind::recv_backward, 0, 0), 1.5, 5),
       event(pipeline::cell::B(0, 0), 5, 7)},
      {event(action(pipeline::ActionKind::recv_forward, 1, 0), 0, 1.5),
       event(pipeline::cell::F(1, 0), 1.5, 2), event(pipeline::cell::B(1, 0), 2, 4)}};
  const Trace trace = read_perfetto(write_perfetto_trace(program, measured));
  ASSERT_EQ(trace.slices.size(), 4u);
  EXPECT_EQ(trace.slices[0].begin, 250'000);
  EXPECT_EQ(trace.slices[1].name, "backward, micro-batch 0, stage 0");
  EXPECT_TRUE(trace.path.empty());
  EXPECT_EQ(trace.slices[1].begin, 5'000'000);
  EXPECT_EQ(trace.slices[0].sends, trace.slices[2].takes);
  EXPECT_EQ(trace.slices, read_chrome(write_trace("a.json", program, measured)).slices);
  EXPECT_EQ(write_trace("a.pftrace", program, measured), write_perfetto_trace(program, measured));
}

TEST(Trace, PutsOverlappedStepsOnASeparateTrack) {
  program::Program program = sample::program_of({.pp = 1, .microbatches = 2});
  sample::add_steps(program);
  program::Durations times = make_equal_durations(program, Seconds{1}, Seconds{1}, Seconds{1});
  times.steps[0] = {Seconds{1}, Seconds{2}, Seconds{3}};
  const Trace trace = read_perfetto(
      write_perfetto_trace(planner::simulate_step({.pp = 1, .microbatches = 2}, program, times)));
  EXPECT_EQ(trace.tracks, (std::vector<std::string>{"pp rank 0", "pp rank 0, overlapped"}));
  std::map<std::string, std::string> categories;
  for (const ReadSlice& slice : trace.slices)
    if (slice.category == "collective" || slice.category == "optimizer") {
      categories[slice.name] = slice.track;
      EXPECT_EQ(slice.arguments.contains("bytes per call"), slice.category == "collective");
    }
  EXPECT_EQ(categories["DP all-reduce"], "pp rank 0, overlapped");
  EXPECT_EQ(categories["optimizer"], "pp rank 0");
}

TEST(Trace, CountsItsSlices) {
  program::Program program = sample::four_by_eight().program;
  EXPECT_EQ(planner::slice_count(program), 64);
  sample::add_steps(program);
  EXPECT_EQ(planner::slice_count(program), 64 + 4 * 3);
}

RC_GTEST_PROP(Trace, BothFormatsHaveEveryEventOnce, ()) {
  const planner::SimulatedStep p = sample::simulate_random_step();
  const Trace trace = read_perfetto(write_perfetto_trace(p));
  RC_ASSERT(trace.slices == read_chrome(write_chrome_trace(p)).slices);
  RC_ASSERT(trace.tracks == read_chrome(write_chrome_trace(p)).tracks);
  RC_ASSERT(trace.path == read_chrome(write_chrome_trace(p)).path);
  RC_ASSERT(trace.counters == read_chrome(write_chrome_trace(p)).counters);
  std::size_t at = 0;
  for (i64 r = 0; r < p.program.pp(); ++r)
    for (const program::Event& e : events(p, r)) {
      const ReadSlice& slice = trace.slices.at(at++);
      RC_ASSERT(slice.name == (is_cell(e.action.kind) ? importer::cell_name(e.action)
                                                      : name_event(p.program, r, e.action)));
      RC_ASSERT(slice.track ==
                fmt::format("pp rank {}{}", r,
                            planner::is_beside(p.program, r, e.action) ? ", overlapped" : ""));
      RC_ASSERT(std::abs(double(slice.begin) - e.start.value * 1e9) <= 1);
      RC_ASSERT(std::abs(double(slice.end) - e.end.value * 1e9) <= 1);
    }
  RC_ASSERT(at == trace.slices.size());
}

/// import/log/run_trace.h reads the written trace, with times in integer nanoseconds.
RC_GTEST_PROP(Trace, ReadsBackAsTheSimulatedStep, ()) {
  const planner::SimulatedStep p = sample::simulate_random_step();
  const Result<importer::RunTrace> trace = importer::read_run_trace(write_perfetto_trace(p), "run");
  const Result<importer::RunTrace> of_json = importer::read_run_trace(write_chrome_trace(p), "run");
  RC_ASSERT(trace.has_value() && of_json.has_value());
  RC_ASSERT(*trace == *of_json);
  RC_ASSERT(i64(trace->ranks.size()) == p.program.pp());
  RC_ASSERT(std::abs((trace->end - p.timeline.end).value) <= 1e-9);
  for (i64 r = 0; r < p.program.pp(); ++r) {
    const std::vector<program::Event> simulated = events(p, r);
    const std::vector<importer::TraceSlice>& read = trace->ranks[std::size_t(r)];
    RC_ASSERT(read.size() == simulated.size());
    for (std::size_t i = 0; i < read.size(); ++i) {
      const pipeline::Action& a = simulated[i].action;
      RC_ASSERT(std::abs((read[i].begin - simulated[i].start).value) <= 1e-9);
      RC_ASSERT(std::abs((read[i].end - simulated[i].end).value) <= 1e-9);
      RC_ASSERT(read[i].name ==
                (is_cell(a.kind) ? importer::cell_name(a) : name_event(p.program, r, a)));
      RC_ASSERT(read[i].category == row(planner::classify_event(p.program, r, a)).category);
      RC_ASSERT(read[i].beside == planner::is_beside(p.program, r, a));
      RC_ASSERT(read[i].cell.has_value() == is_cell(a.kind));
      if (is_cell(a.kind)) RC_ASSERT(*read[i].cell == action(a.kind, a.stage, a.microbatch));
    }
  }
}

TEST(Trace, ReadTimesStartAtTheFirstSlice) {
  const program::Program program = sample::program_of({.pp = 1, .microbatches = 1});
  const Events measured = {
      {{pipeline::cell::F(0, 0), 250.0_us, 1.0_ms}, {pipeline::cell::B(0, 0), 1.0_ms, 3.0_ms}}};
  for (const std::string path : {"a.json", "a.pftrace"}) {
    const Result<importer::RunTrace> trace =
        importer::read_run_trace(write_trace(path, program, measured), path);
    ASSERT_TRUE(trace.has_value()) << trace.error().detail;
    EXPECT_EQ(trace->file, path);
    EXPECT_EQ(trace->ranks.at(0).at(0).begin, Seconds{});
    EXPECT_EQ(trace->ranks.at(0).at(1).begin, Seconds{0.00075});  // 1 ms - 250 us
    EXPECT_EQ(trace->end, Seconds{0.00275});
  }
}

RC_GTEST_PROP(Trace, SlicesDoNotOverlapOnATrack, ()) {
  std::map<std::string, i64> last;
  const planner::SimulatedStep p = sample::simulate_random_step();
  const Trace trace = read_perfetto(write_perfetto_trace(p));
  RC_ASSERT(i64(trace.slices.size()) == planner::slice_count(p.program));
  for (const ReadSlice& slice : trace.slices) {
    RC_ASSERT(slice.begin >= last[slice.track]);
    RC_ASSERT(slice.end >= slice.begin);
    last[slice.track] = slice.end;
  }
}

/// Every transfer of the program is one arrow, from a slice that ends before the other begins.
RC_GTEST_PROP(Trace, HasAnArrowForEverySend, ()) {
  const planner::SimulatedStep p = sample::simulate_random_step();
  i64 sends = 0;
  for (const pipeline::Sequence& role : p.program.roles)
    for (const pipeline::Action& a : role) sends += is_send(a.kind) ? 1 : 0;
  std::map<std::uint64_t, ReadSlice> from, to;
  for (const ReadSlice& slice : read_perfetto(write_perfetto_trace(p)).slices) {
    for (const std::uint64_t id : slice.sends) RC_ASSERT(from.emplace(id, slice).second);
    for (const std::uint64_t id : slice.takes) RC_ASSERT(to.emplace(id, slice).second);
  }
  RC_ASSERT(i64(from.size()) == sends);
  RC_ASSERT(i64(to.size()) == sends);
  for (const auto& [id, slice] : from) {
    RC_ASSERT(to.at(id).track != slice.track);
    RC_ASSERT(to.at(id).begin >= slice.end - 1);
    // Stage 2 sends forward to stage 3, and backward to stage 1.
    const i64 stage = std::stoll(slice.arguments.at("stage")),
              other = std::stoll(to.at(id).arguments.at("stage"));
    RC_ASSERT(other == stage + (slice.category == "forward" ? 1 : -1));
  }
}

}  // namespace trace_test
}  // namespace rankwright::report
