#include "rankwright/import/log/run_trace.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "tests/support/traces.h"

namespace rankwright::importer {
namespace run_trace_test {

using sample::begun;
using sample::chrome_file;
using sample::described;
using sample::ended;
using sample::perfetto_file;
using sample::WrittenSlice;

constexpr i64 kMs = 1'000'000;  // in nanoseconds

RunTrace read_trace(std::string_view text) {
  const Result<RunTrace> trace = read_run_trace(text, "run");
  EXPECT_TRUE(trace.has_value()) << trace.error().detail;
  return trace.value_or(RunTrace{});
}

/// Milliseconds, computed as the reader does: 4 ms are 4,000,000 ns divided by a billion.
Seconds ms(double n) { return Seconds{n * 1e6 / 1e9}; }

/// Two ranks and one microbatch, 5 ms after the clock started: F 1 ms, B 2 ms, no time in
/// transfers; then the optimizer of rank 0 for 0.5 ms with a collective running beside it.
const std::vector<WrittenSlice>& worked_example() {
  static const std::vector<WrittenSlice> slices = {
      {{0}, 5 * kMs, 6 * kMs, "0F0", "forward"},
      {{0}, 9 * kMs, 11 * kMs, "0B0", "backward"},
      {{0}, 11 * kMs, 11'500'000, "optimizer", "optimizer"},
      {{0, true}, 10 * kMs, 11'250'000, "DP all-reduce", "collective"},
      {{1}, 6 * kMs, 7 * kMs, "1F0", "forward"},
      {{1}, 7 * kMs, 9 * kMs, "1B0", "backward"},
  };
  return slices;
}

TEST(RunTrace, StartsAtZeroWithSlicesSortedByBegin) {
  const RunTrace expected{
      .file = "run",
      .ranks = {{{ms(0), ms(1), "0F0", "forward", pipeline::cell::F(0, 0)},
                 {ms(4), ms(6), "0B0", "backward", pipeline::cell::B(0, 0)},
                 {ms(5), ms(6.25), "DP all-reduce", "collective", std::nullopt, true},
                 {ms(6), ms(6.5), "optimizer", "optimizer"}},
                {{ms(1), ms(2), "1F0", "forward", pipeline::cell::F(1, 0)},
                 {ms(2), ms(4), "1B0", "backward", pipeline::cell::B(1, 0)}}},
      .end = ms(6.5)};
  EXPECT_EQ(read_trace(chrome_file(worked_example())), expected);
  EXPECT_EQ(read_trace(perfetto_file(worked_example())), expected);
}

TEST(RunTrace, ParsesCellsFromNames) {
  const RunTrace trace = read_trace(chrome_file({{{0}, 0, 1, "2F0"},
                                                 {{0}, 1, 2, "12I345"},
                                                 {{0}, 2, 3, "3W1"},
                                                 {{0}, 3, 4, "2SEND_F0"},
                                                 {{0}, 4, 5, "2F"},
                                                 {{0}, 5, 6, ""}}));
  std::vector<std::optional<pipeline::Action>> cells;
  for (const TraceSlice& slice : trace.ranks.at(0)) cells.push_back(slice.cell);
  EXPECT_THAT(cells, testing::ElementsAre(pipeline::cell::F(2, 0), pipeline::cell::I(12, 345),
                                          pipeline::cell::W(3, 1), std::nullopt, std::nullopt,
                                          std::nullopt));
}

TEST(RunTrace, RankWithoutTrack_IsEmpty) {
  const RunTrace trace = read_trace(perfetto_file({{{2}, 3, 4}}));
  ASSERT_EQ(trace.ranks.size(), 3u);
  EXPECT_TRUE(trace.ranks[0].empty() && trace.ranks[1].empty());
  EXPECT_EQ(trace.ranks[2].size(), 1u);
  EXPECT_EQ(read_trace(perfetto_file({{{65534}, 0, 1}})).ranks.size(), 65'535u);
}

TEST(RunTrace, EqualBegins_KeepFileOrder) {
  const std::vector<WrittenSlice> slices = {
      {{0}, 5, 9, "b"}, {{0}, 0, 9, "a"}, {{0, true}, 5, 5, "c"}, {{0}, 5, 7, "d"}};
  for (const std::string& file : {chrome_file(slices), perfetto_file(slices)}) {
    const RunTrace trace = read_trace(file);
    std::string order;
    for (const TraceSlice& slice : trace.ranks.at(0)) order += slice.name;
    EXPECT_EQ(order, "abcd");
  }
}

TEST(RunTrace, IgnoresEventsOnOtherTracks) {
  const std::string one = chrome_file({{{0}, 0, kMs}});
  const RunTrace alone = read_trace(one);
  std::string chrome = one;
  chrome.insert(chrome.find('[') + 1,
                R"({"ph":"X","pid":7,"tid":99,"ts":-4,"name":"elsewhere"},)"
                R"({"ph":"M","pid":7,"tid":99,"name":"thread_name","args":{"name":"main"}},)"
                R"({"ph":"X","pid":8,"tid":1,"ts":1,"dur":1,"name":"another process"},)"
                R"({"ph":"X","tid":1,"ts":1,"dur":1},{"ph":"X","pid":"7","tid":1,"ts":1,"dur":1},)"
                R"({"ph":"s","pid":7,"tid":1,"ts":1,"id":1},{"ph":"i","pid":7,"tid":1},)"
                R"(5,"x",null,[{"ph":"X","pid":7,"tid":1}],)"
                R"({"args":{"deep":{"ph":"X","name":"pp rank 5"}},"pid":7,"tid":1},)");
  EXPECT_EQ(read_trace(chrome), alone);
  const std::string elsewhere = described(99, "main") + begun(99, 5) + begun(98, 5) + ended(97, 5);
  EXPECT_EQ(read_trace(elsewhere + perfetto_file({{{0}, 0, kMs}})), alone);
}

TEST(RunTrace, ReadsABareListOfEvents) {
  const std::string file = chrome_file(worked_example());
  const std::size_t open = file.find('[');
  EXPECT_EQ(read_trace(file.substr(open, file.rfind(']') + 1 - open)), read_trace(file));
  EXPECT_EQ(read_trace(R"({"otherData":{"traceEvents":[7]},"list":[[]],)" + file.substr(1)),
            read_trace(file));
}

TEST(RunTrace, TakesTheLastNameOfATrack) {
  EXPECT_EQ(read_trace(described(1, "pp rank 4") + perfetto_file({{{0}, 0, 1}})).ranks.size(), 1u);
  const Result<RunTrace> renamed =
      read_run_trace(perfetto_file({{{0}, 0, 1}}) + described(1, "main"), "run");
  ASSERT_FALSE(renamed.has_value());
  EXPECT_EQ(renamed.error().code, "RW0932");
}

TEST(RunTrace, EndEvent_ClosesTheInnermostSlice) {
  const RunTrace trace =
      read_trace(described(1, "pp rank 0") + begun(1, 0, "outer") + begun(1, 2 * kMs, "inner") +
                 ended(1, 3 * kMs) + ended(1, 5 * kMs));
  EXPECT_EQ(trace.ranks.at(0).at(0).end, ms(5));
  EXPECT_EQ(trace.ranks.at(0).at(1).end, ms(3));
}

TEST(RunTrace, FormatIsDetectedFromTheFirstByte) {
  // A packet of 123 bytes begins with a line break and a brace.
  const std::string plain = described(1, "pp rank 0") + begun(1, 0, "") + ended(1, 1);
  const std::size_t rest = begun(2, 0, "").size() - 2;  // without tag and length
  const std::string packet = begun(2, 0, std::string(123 - rest, 'x'));
  ASSERT_TRUE(packet.starts_with("\n{"));
  EXPECT_EQ(read_trace(packet + plain), read_trace(plain));
}

TEST(RunTrace, NamesAreSanitizedAndTruncated) {
  const std::string name = "a\x1b[31m\xff" + std::string(200, 'x');
  const RunTrace trace =
      read_trace(described(1, "pp rank 0") + begun(1, 0, name, "\n") + ended(1, 1));
  EXPECT_EQ(trace.ranks.at(0).at(0).name, "a?[31m?" + std::string(113, 'x'));
  EXPECT_EQ(trace.ranks.at(0).at(0).category, "?");
}

RC_GTEST_PROP(RunTrace, BothFormatsAgreeForAnyStartTime, ()) {
  const std::vector<i64> numbers =
      *rc::gen::nonEmpty(rc::gen::container<std::vector<i64>>(rc::gen::inRange<i64>(0, 1'000'000)));
  std::vector<WrittenSlice> slices, later;
  const i64 shift = *rc::gen::inRange<i64>(0, 1'000'000'000'000'000);
  for (const i64 n : numbers) {
    slices.push_back({{n % 5, n % 2 == 0}, n, n + n % 977, fmt::format("{}F{}", n % 5, n)});
    later.push_back(slices.back());
    later.back().begin += shift;
    later.back().end += shift;
  }
  const RunTrace trace = read_trace(chrome_file(slices));
  RC_ASSERT(trace == read_trace(perfetto_file(slices)));
  RC_ASSERT(trace == read_trace(chrome_file(later)));
  RC_ASSERT(trace == read_trace(perfetto_file(later)));
  std::size_t read = 0;
  Seconds first = trace.end;
  for (const std::vector<TraceSlice>& rank : trace.ranks) {
    RC_ASSERT(std::is_sorted(rank.begin(), rank.end(),
                             [](const auto& a, const auto& b) { return a.begin < b.begin; }));
    for (const TraceSlice& slice : rank) first = std::min(first, slice.begin);
    read += rank.size();
  }
  RC_ASSERT(read == numbers.size());
  RC_ASSERT(first == Seconds{});
}

}  // namespace run_trace_test
}  // namespace rankwright::importer
