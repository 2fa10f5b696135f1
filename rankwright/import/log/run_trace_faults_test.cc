// Faulty traces: what read_run_trace() rejects, and with which message.
#include <gmock/gmock.h>

#include <protozero/pbf_writer.hpp>
#include <set>

#include "rankwright/import/log/run_trace.h"
#include "tests/support/traces.h"

namespace rankwright::importer {
namespace run_trace_faults_test {

using sample::begun;
using sample::chrome_file;
using sample::described;
using sample::ended;
using sample::perfetto_file;
using testing::StartsWith;

/// Returns "CODE detail" of the error, such as "RW0932 what is wrong".
std::string fault(std::string_view text, const TraceLimits& limits = {}) {
  const Result<RunTrace> trace = read_run_trace(text, "run", limits);
  EXPECT_FALSE(trace.has_value());
  return trace ? "" : std::string(trace.error().code) + " " + trace.error().detail;
}

/// Returns a slice on the track of pp rank 0 with these additional JSON fields.
std::string slice_with(std::string_view fields) {
  return fmt::format(
      R"([{{"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{{"name":"pp rank 0"}}}},)"
      R"({{"ph":"X","pid":1,"tid":1,"name":"0F0"{}}}])",
      fields);
}

TEST(RunTraceFault, NoRankTrack_NamesTheExpectedTrack) {
  const std::string none = "RW0932 of 0 tracks none is named `pp rank N`";
  for (const char* text : {"", "{}", "[]", "[[],5]", R"({"traceEvents":5})",
                           R"({"traceEvents":[{"ph":"M","pid":1,"name":"thread_name"}]})",
                           R"([{"ph":"M","pid":1,"tid":"a","name":"thread_name"}])"})
    EXPECT_EQ(fault(text), none) << text;
  EXPECT_EQ(fault(described(1, "main") + described(2, "pp rank 00") + begun(1, 0) + ended(1, 1)),
            "RW0932 of 2 tracks none is named `pp rank N`");
  EXPECT_EQ(fault(described(1, "pp rank 0")), "RW0932 its tracks of pp ranks are empty");
  EXPECT_EQ(fault("\x1F\x8B\x08"), "RW0932 it is packed by gzip: unpack it first");
  const Diagnostic json_error = read_run_trace("", "run.json").error();
  EXPECT_EQ(json_error.where.file, "run.json");
  EXPECT_EQ(json_error.message, "not a trace of a step");
}

TEST(RunTraceFault, InvalidJson_HasItsLocation) {
  const Diagnostic json_error = read_run_trace("[\n{\"ph\":\"X\",\n \"ts\":}]", "run.json").error();
  EXPECT_EQ(json_error.code, "RW0932");
  EXPECT_EQ(json_error.where, (Location{"run.json", 3, 7, 1}));
  for (const char* text : {"{", "[", "[}", "{]", "[1e999]", "[nan]", "[\"\xff\"]", "[] []", "[,]"})
    EXPECT_THAT(fault(text), StartsWith("RW0932 it begins as JSON")) << text;
}

TEST(RunTraceFault, TruncatedJson_IsRejectedAtEveryLength) {
  const std::string whole = chrome_file({{{0}, 0, 1000}, {{0}, 1000, 2500, "0B0", "backward"}});
  ASSERT_TRUE(read_run_trace(whole, "run").has_value());
  for (std::size_t n = 1; n < whole.size(); ++n)
    EXPECT_THAT(fault(whole.substr(0, n)), StartsWith("RW0932 it begins as JSON")) << n;
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
  const std::string slice = "RW0932 '0F0' on the track 'pp rank 0' ";
  const std::string begin = slice + "has no begin between 0 and 285 years";
  const std::string end = slice + "has no end between its begin and 285 years";
  for (const char* fields :
       {"", R"(,"dur":1)", R"(,"ts":"1","dur":1)", R"(,"ts":null,"dur":1)", R"(,"ts":[1],"dur":1)",
        R"(,"ts":{"ts":1},"dur":1)", R"(,"ts":true,"dur":1)", R"(,"ts":-1,"dur":1)",
        R"(,"ts":-0.001,"dur":1)", R"(,"ts":9.1e15,"dur":1)", R"(,"ts":1e308,"dur":1)",
        R"(,"ts":18446744073709551615,"dur":1)", R"(,"ts":-9223372036854775808,"dur":1)"})
    EXPECT_EQ(fault(slice_with(fields)), begin) << fields;
  for (const char* fields :
       {R"(,"ts":1)", R"(,"ts":1,"dur":"1")", R"(,"ts":1,"dur":-0.001)", R"(,"ts":1,"dur":-1e308)",
        R"(,"ts":1,"dur":1e308)", R"(,"ts":9e15,"dur":1)", R"(,"ts":8e15,"dur":8e15)"})
    EXPECT_EQ(fault(slice_with(fields)), end) << fields;
  EXPECT_TRUE(read_run_trace(slice_with(R"(,"ts":8e15,"dur":1e15)"), "run").has_value());
  EXPECT_TRUE(read_run_trace(slice_with(R"(,"ts":-0.0,"dur":0)"), "run").has_value());
}

TEST(RunTraceFault, ProtobufSliceWithoutBeginOrEnd_IsNamed) {
  const std::string track = described(1, "pp rank 0");
  constexpr std::uint64_t kMax = 9'000'000'000'000'000'000;
  const auto lacks = [](std::string_view name, std::string_view what) {
    return fmt::format("RW0932 '{}' on the track 'pp rank 0' has no {} 285 years", name, what);
  };
  EXPECT_EQ(fault(track + begun(1, kMax + 1) + ended(1, ~std::uint64_t{0})),
            lacks("0F0", "begin between 0 and"));
  EXPECT_EQ(fault(track + ended(1, 5)), lacks("", "begin between 0 and"));
  EXPECT_EQ(fault(track + begun(1, 5)), lacks("0F0", "end between its begin and"));
  EXPECT_EQ(fault(track + begun(1, 5) + ended(2, 6)), lacks("0F0", "end between its begin and"));
  EXPECT_EQ(fault(track + begun(1, 5) + ended(1, 4)), lacks("0F0", "end between its begin and"));
  EXPECT_EQ(fault(track + begun(1, 5) + ended(1, kMax + 1)),
            lacks("0F0", "end between its begin and"));
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
  for (const std::string& packet : {text, fixed})
    EXPECT_EQ(fault(trace(packet)),
              "RW0932 '' on the track 'pp rank 0' has no begin between 0 and 285 years");
  EXPECT_EQ(fault(trace(untyped)), "RW0932 its tracks of pp ranks are empty");
}

TEST(RunTraceFault, InvalidProtobuf_NamesItsOffset) {
  const std::string whole = perfetto_file({{{0}, 0, 1}});
  EXPECT_EQ(fault("hello"), "RW0932 it is no JSON, and no protobuf of Perfetto's from byte 0 on");
  EXPECT_EQ(fault(whole + "\x0B"),  // a group, which is a removed wire type
            fmt::format("RW0932 it is no JSON, and no protobuf of Perfetto's from byte {} on",
                        whole.size()));
  for (const char* bytes : {"\n", "\x0A\x05", "\x0A\xFF\xFF\xFF\xFF\x0F", "\x0A\x02\x5A\x7F",
                            "\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", "\x02\x01x"})
    EXPECT_THAT(fault(bytes), StartsWith("RW0932 it is no JSON, and no protobuf"));
}

TEST(RunTraceFault, DuplicateTrackName_IsRejected) {
  EXPECT_EQ(fault(described(1, "pp rank 3, beside") + described(2, "pp rank 3, beside")),
            "RW0932 two tracks are named 'pp rank 3, beside'");
}

TEST(RunTraceFault, ExceedingALimit_IsRejected) {
  EXPECT_EQ(fault("[1]", {.bytes = 2}), "RW0906 it has 3 bytes, and at most 2 are read");
  EXPECT_EQ(fault(std::string(1000, '[')), "RW0906 it is nested more than 32 deep");
  EXPECT_EQ(fault(R"([{"args":{"x":[1]}}])", {.depth = 3}), "RW0906 it is nested more than 3 deep");
  const std::vector<sample::WrittenSlice> three = {{{0}, 0, 1}, {{0}, 1, 2}, {{0}, 2, 3}};
  for (const std::string& file : {chrome_file(three), perfetto_file(three)}) {
    EXPECT_EQ(fault(file, {.slices = 2}), "RW0906 it has more than 2 slices");
    EXPECT_TRUE(read_run_trace(file, "run", {.slices = 3}).has_value());
  }
  EXPECT_EQ(fault(described(1, "a") + described(2, "b"), {.slices = 1}),
            "RW0906 it has more than 1 tracks");
  EXPECT_EQ(fault(described(1, "pp rank 65535")),
            "RW0906 it has a track of pp rank 65,535, and at most 65,535 ranks are read");
  EXPECT_EQ(fault(described(1, "pp rank 99999999999999999999")).substr(0, 6), "RW0906");
}

}  // namespace run_trace_faults_test
}  // namespace rankwright::importer
