// Faulty traces: what read_run_trace() rejects, and with which message.
#include <gtest/gtest.h>

#include <protozero/pbf_writer.hpp>
#include <set>

#include "rankwright/import/log/run_trace.h"
#include "tests/support/golden.h"
#include "tests/support/input_lines.h"
#include "tests/support/traces.h"

namespace rankwright::importer {
namespace run_trace_faults_test {

using sample::begun;
using sample::chrome_file;
using sample::described;
using sample::ended;
using sample::perfetto_file;

/// Returns "CODE detail" of the error, such as "RW0932 what is wrong".
std::string limit_fault(std::string_view text, const TraceLimits& limits) {
  const Result<RunTrace> trace = read_run_trace(text, "run", limits);
  EXPECT_FALSE(trace.has_value());
  return trace ? "" : std::string(trace.error().code) + " " + trace.error().detail;
}

std::string fault(std::string_view text) { return limit_fault(text, {}); }

/// Returns a slice on the track of pp rank 0 with these additional JSON fields.
std::string slice_with(std::string_view fields) {
  return fmt::format(
      R"([{{"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{{"name":"pp rank 0"}}}},)"
      R"({{"ph":"X","pid":1,"tid":1,"name":"0F0"{}}}])",
      fields);
}

TEST(RunTraceFault, NoRankTrackOrADuplicate_IsNamed) {
  golden::expect(
      "import/run-trace-tracks.txt",
      transcribe({"", "{}", "[]", "[[],5]", R"({"traceEvents":5})",
                  R"({"traceEvents":[{"ph":"M","pid":1,"name":"thread_name"}]})",
                  R"([{"ph":"M","pid":1,"tid":"a","name":"thread_name"}])", "\x1F\x8B\x08"},
                 fault) +
          format_case("tracks 'main' and 'pp rank 00'",
                      fault(described(1, "main") + described(2, "pp rank 00") + begun(1, 0) +
                            ended(1, 1))) +
          format_case("a track 'pp rank 0', then renamed to 'main'",
                      fault(perfetto_file({{{0}, 0, 1}}) + described(1, "main"))) +
          format_case("a track 'pp rank 0' without slices", fault(described(1, "pp rank 0"))) +
          format_case("two tracks with one name", fault(described(1, "pp rank 3, beside") +
                                                        described(2, "pp rank 3, beside"))) +
          format_case("the message above these details",
                      read_run_trace("", "run").error().message));
  EXPECT_EQ(read_run_trace("", "run.json").error().where.file, "run.json");
}

TEST(RunTraceFault, InvalidJson_HasItsLocation) {
  const Diagnostic json_error = read_run_trace("[\n{\"ph\":\"X\",\n \"ts\":}]", "run.json").error();
  EXPECT_EQ(json_error.code, "RW0932");
  EXPECT_EQ(json_error.where, (Location{"run.json", 3, 7, 1}));
  golden::expect(
      "import/run-trace-invalid-json.txt",
      transcribe({"{", "[", "[}", "{]", "[1e999]", "[nan]", "[\"\xff\"]", "[] []", "[,]"}, fault));
}

TEST(RunTraceFault, TruncatedJson_IsRejectedAtEveryLength) {
  const std::string whole = chrome_file({{{0}, 0, 1000}, {{0}, 1000, 2500, "0B0", "backward"}});
  ASSERT_TRUE(read_run_trace(whole, "run").has_value());
  const std::string invalid_json = fault("{");
  for (std::size_t n = 1; n < whole.size(); ++n)
    EXPECT_EQ(fault(whole.substr(0, n)), invalid_json) << n;
}

TEST(RunTraceFault, TruncatedProtobuf_IsRejectedInsideASlice) {
  // Prefixes that end with a slice are traces themselves, of one slice and of two.
  std::string whole = described(1, "pp rank 0");
  std::set<std::size_t> complete;
  for (std::uint64_t i = 0; i < 3; ++i) {
    whole += begun(1, 300 * i) + ended(1, 300 * i + 200);
    complete.insert(whole.size());
  }
  for (std::size_t n = 0; n <= whole.size(); ++n) {
    const Result<RunTrace> part = read_run_trace(whole.substr(0, n), "run");
    EXPECT_EQ(part.has_value(), complete.contains(n)) << n;
    EXPECT_EQ(part ? "" : part.error().code, part ? "" : "RW0932") << n;
  }
}

TEST(RunTraceFault, JsonSliceWithoutBeginOrEnd_IsNamed) {
  const auto slice_fault = [](const std::string& fields) { return fault(slice_with(fields)); };
  golden::expect(
      "import/run-trace-json-slices.txt",
      transcribe({"", R"(,"dur":1)", R"(,"ts":"1","dur":1)", R"(,"ts":null,"dur":1)",
                  R"(,"ts":[1],"dur":1)", R"(,"ts":{"ts":1},"dur":1)", R"(,"ts":true,"dur":1)",
                  R"(,"ts":-1,"dur":1)", R"(,"ts":-0.001,"dur":1)", R"(,"ts":9.1e15,"dur":1)",
                  R"(,"ts":1e308,"dur":1)", R"(,"ts":18446744073709551615,"dur":1)",
                  R"(,"ts":-9223372036854775808,"dur":1)"},
                 slice_fault) +
          transcribe({R"(,"ts":1)", R"(,"ts":1,"dur":"1")", R"(,"ts":1,"dur":-0.001)",
                      R"(,"ts":1,"dur":-1e308)", R"(,"ts":1,"dur":1e308)", R"(,"ts":9e15,"dur":1)",
                      R"(,"ts":8e15,"dur":8e15)"},
                     slice_fault));
  EXPECT_TRUE(read_run_trace(slice_with(R"(,"ts":8e15,"dur":1e15)"), "run").has_value());
  EXPECT_TRUE(read_run_trace(slice_with(R"(,"ts":-0.0,"dur":0)"), "run").has_value());
}

TEST(RunTraceFault, ProtobufSliceWithoutBeginOrEnd_IsNamed) {
  const std::string track = described(1, "pp rank 0");
  constexpr std::uint64_t kMax = 9'000'000'000'000'000'000;
  golden::expect(
      "import/run-trace-protobuf-slices.txt",
      format_case("begin after the maximum",
                  fault(track + begun(1, kMax + 1) + ended(1, ~std::uint64_t{0}))) +
          format_case("end without begin", fault(track + ended(1, 5))) +
          format_case("begin without end", fault(track + begun(1, 5))) +
          format_case("end on another track", fault(track + begun(1, 5) + ended(2, 6))) +
          format_case("end before begin", fault(track + begun(1, 5) + ended(1, 4))) +
          format_case("end after the maximum", fault(track + begun(1, 5) + ended(1, kMax + 1))));
  EXPECT_TRUE(read_run_trace(track + begun(1, 0) + ended(1, kMax), "run").has_value());
}

TEST(RunTraceFault, FieldOfAnotherWireType_CountsAsMissing) {
  // The timestamp as text, then as fixed64; the event type and its track as text.
  const std::string event = "\x48\x01\x58\x01";  // type 1, track 1
  const std::string event_of_texts = "\x4A\x01\x01\x5A\x01\x01";
  std::string text, fixed, untyped;
  protozero::pbf_writer(text).add_string(8, "5");
  protozero::pbf_writer(text).add_message(11, event);
  protozero::pbf_writer(fixed).add_fixed64(8, 5);
  protozero::pbf_writer(fixed).add_message(11, event);
  protozero::pbf_writer(untyped).add_uint64(8, 5);
  protozero::pbf_writer(untyped).add_message(11, event_of_texts);
  const auto trace = [](const std::string& packet) {
    std::string out = described(1, "pp rank 0");
    protozero::pbf_writer(out).add_message(1, packet);
    return out;
  };
  const std::string track = described(1, "pp rank 0");
  const std::string no_begin = fault(track + ended(1, 5)), no_slices = fault(track);
  for (const std::string& packet : {text, fixed}) EXPECT_EQ(fault(trace(packet)), no_begin);
  EXPECT_EQ(fault(trace(untyped)), no_slices);
}

TEST(RunTraceFault, InvalidProtobuf_NamesItsOffset) {
  const std::string whole = perfetto_file({{{0}, 0, 1}});
  golden::expect(
      "import/run-trace-invalid-protobuf.txt",
      format_case(
          fmt::format("{} valid bytes, then a group, which is a removed wire type", whole.size()),
          fault(whole + "\x0B")) +
          transcribe({"hello", "\n", "\x0A\x05", "\x0A\xFF\xFF\xFF\xFF\x0F", "\x0A\x02\x5A\x7F",
                      "\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", "\x02\x01x"},
                     fault));
}

TEST(RunTraceFault, ExceedingALimit_IsRejected) {
  const std::vector<sample::WrittenSlice> three = {{{0}, 0, 1}, {{0}, 1, 2}, {{0}, 2, 3}};
  const std::string chrome = chrome_file(three), perfetto = perfetto_file(three);
  const std::string two_tracks = described(1, "a") + described(2, "b");
  golden::expect(
      "import/run-trace-limits.txt",
      format_case("3 of 2 bytes", limit_fault("[1]", {.bytes = 2})) +
          format_case("1,000 brackets", fault(std::string(1000, '['))) +
          format_case("4 of 3 levels", limit_fault(R"([{"args":{"x":[1]}}])", {.depth = 3})) +
          format_case("3 of 2 slices, Chrome", limit_fault(chrome, {.slices = 2})) +
          format_case("3 of 2 slices, Perfetto", limit_fault(perfetto, {.slices = 2})) +
          format_case("2 of 1 tracks", limit_fault(two_tracks, {.slices = 1})) +
          format_case("the rank after the last", fault(described(1, "pp rank 65535"))));
  for (const std::string& file : {chrome, perfetto})
    EXPECT_TRUE(read_run_trace(file, "run", {.slices = 3}).has_value());
  EXPECT_EQ(fault(described(1, "pp rank 99999999999999999999")).substr(0, 6), "RW0906");
}

}  // namespace run_trace_faults_test
}  // namespace rankwright::importer
