#include "rankwright/base/diagnostic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rankwright {
namespace diagnostic_test {

using ::testing::ElementsAre;

Diagnostic at(Severity severity, std::string file, int line, int column, std::string_view code) {
  return {.code = code,
          .severity = severity,
          .message = "",
          .where = {.file = std::move(file), .line = line, .column = column}};
}

std::vector<std::string_view> codes(const Diagnostics& diagnostics) {
  std::vector<std::string_view> result;
  for (const Diagnostic& d : diagnostics) result.push_back(d.code);
  return result;
}

TEST(Help, ReturnsTheEditsOrElseTheHint) {
  Diagnostic d{.code = "RW0102",
               .message = "",
               .hint = "not this",
               .fix = {{"parallelism.dp_size", "2"}, {"world_size", "64"}}};
  EXPECT_EQ(help(d), "dp_size: 2, world_size: 64");
  d.fix.clear();
  EXPECT_EQ(help(d), "not this");
  d.hint.clear();
  EXPECT_EQ(help(d), "");
}

TEST(Help, EditOutsideTheDiagnosedMap_NamesItsMap) {
  Diagnostic d{.code = "RW0402",
               .message = "",
               .fix = {{"job.global_batch", "24"}, {"job.sequence", "64"}},
               .key = "parallelism.pp_size"};
  EXPECT_EQ(help(d), "job: {global_batch: 24, sequence: 64}");
  d.key = "job.global_batch";
  EXPECT_EQ(help(d), "global_batch: 24, sequence: 64");
  d.key = "job";
  EXPECT_EQ(help(d), "job: {global_batch: 24, sequence: 64}");
  d.fix = {{"job.sequence", "64"}, {"parallelism.tp_size", "2"}};
  EXPECT_EQ(help(d), "job: {sequence: 64}, tp_size: 2");
  d.fix = {{"parallelism.overlap.grad_reduce", "false"}};
  EXPECT_EQ(help(d), "overlap: {grad_reduce: false}");
  d.key = "parallelism.overlap.grad_reduce";
  EXPECT_EQ(help(d), "overlap: {grad_reduce: false}");
}

TEST(Sort, OrdersBySeverityThenLocationThenCode) {
  Diagnostics list{
      at(Severity::note, "a", 1, 1, "note"),      at(Severity::error, "b", 1, 1, "other file"),
      at(Severity::error, "a", 2, 1, "line 2"),   at(Severity::error, "a", 1, 5, "column 5"),
      at(Severity::error, "a", 1, 1, "code b"),   at(Severity::error, "a", 1, 1, "code a"),
      at(Severity::warning, "a", 1, 1, "warning")};
  sort(list);
  EXPECT_THAT(codes(list), ElementsAre("code a", "code b", "column 5", "line 2", "other file",
                                       "warning", "note"));
}

TEST(Sort, WholeFileDiagnostics_ComeAfterItsLines) {
  Diagnostics list{at(Severity::error, "a", 0, 0, "whole"), at(Severity::error, "a", 9, 1, "line")};
  sort(list);
  EXPECT_THAT(codes(list), ElementsAre("line", "whole"));
}

TEST(Sort, IsStable) {
  Diagnostics list{at(Severity::error, "a", 1, 1, "x"), at(Severity::error, "a", 1, 1, "x")};
  list[0].message = "first";
  sort(list);
  EXPECT_EQ(list[0].message, "first");
}

TEST(HasErrors, IgnoresWarningsAndNotes) {
  EXPECT_FALSE(has_errors({}));
  EXPECT_FALSE(has_errors({at(Severity::warning, "", 0, 0, ""), at(Severity::note, "", 0, 0, "")}));
  EXPECT_TRUE(has_errors({at(Severity::warning, "", 0, 0, ""), at(Severity::error, "", 0, 0, "")}));
}

TEST(Severity, HasAName) {
  EXPECT_EQ(name(Severity::error), "error");
  EXPECT_EQ(name(Severity::warning), "warning");
  EXPECT_EQ(name(Severity::note), "note");
}

}  // namespace diagnostic_test
}  // namespace rankwright
