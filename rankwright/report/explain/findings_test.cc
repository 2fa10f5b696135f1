#include "rankwright/report/explain/findings.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <nlohmann/json.hpp>

#include "rankwright/report/render/table.h"
#include "tests/support/golden.h"

namespace rankwright::report {
namespace findings_test {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

Diagnostic at(int line, int column, int width) {
  return {.code = "RW0102",
          .message = "wrong",
          .detail = "so",
          .where = {.file = "plan.yaml", .line = line, .column = column, .width = width}};
}

std::string text_of(const Diagnostic& d, std::string_view file_text) {
  return render_findings_text({d}, "plan.yaml", file_text, {});
}

TEST(FindingsText, PointsAtTheLocation) {
  Diagnostic d = at(2, 4, 3);
  d.notes = {"a note"};
  d.hint = "b: 2";
  golden::expect("report/finding.txt", text_of(d, "a: 1\nb: 100\n"));
}

TEST(FindingsText, IsEmptyWithoutFindings) { EXPECT_EQ(render_findings_text({}, "", "", {}), ""); }

TEST(FindingsText, AlignsTheGutterForLongLineNumbers) {
  EXPECT_THAT(text_of(at(100, 1, 1), std::string(99, '\n') + "x\n"),
              HasSubstr("      |\n  100 | x\n      | ^ so\n"));
}

TEST(FindingsText, ClampsTheCaretToTheLine) {
  EXPECT_THAT(text_of(at(1, 4, 50), "b: 100\n"), HasSubstr("\n    |    ^^^ so\n"));
  EXPECT_THAT(text_of(at(1, 90, 1), "b: 100\n"), HasSubstr("\n    |       ^ so\n"));
  EXPECT_THAT(text_of(at(1, 0, 0), "b: 100\n"), HasSubstr("\n    | ^ so\n"));
}

TEST(FindingsText, CountsCharactersBeforeTheCaret) {
  // 'é' has two bytes: byte column 7 is the sixth character.
  EXPECT_THAT(text_of(at(1, 7, 1), "{é: 1, b: 2}\n"),
              HasSubstr("  1 | {é: 1, b: 2}\n    |      ^ so\n"));
}

TEST(FindingsText, OmitsAMissingSourceLine) {
  const std::string beyond = text_of(at(9, 1, 1), "a: 1\n");
  EXPECT_THAT(beyond, HasSubstr("  --> plan.yaml:9:1\n  so\n"));
  Diagnostic other = at(1, 1, 1);
  other.where.file = "other.yaml";
  EXPECT_THAT(text_of(other, "a: 1\n"), Not(HasSubstr("a: 1")));
  Diagnostic whole = at(0, 0, 1);
  EXPECT_THAT(text_of(whole, "a: 1\n"), HasSubstr("  --> plan.yaml\n  so\n"));
}

TEST(FindingsText, Tab_IsOneBlank_ControlCharacters_AreQuestionMarks) {
  EXPECT_THAT(text_of(at(1, 2, 1), "\ta\x1b[31m\x7f\r\n"),
              HasSubstr("  1 |  a?[31m?\n    |  ^ so\n"));
}

TEST(FindingsText, EscapesTerminalControlCodes) {
  Diagnostic d = at(1, 1, 1);
  d.message = d.detail = d.hint = "\x1b[31m\n";
  d.notes = {"\x1b[0m"};
  EXPECT_THAT(text_of(d, "\x1b\n"), Not(HasSubstr("\x1b")));
}

TEST(FindingsText, ShowsAShortLineWhole) {
  const std::string line = std::string(100, 'a') + "HERE";
  EXPECT_THAT(text_of(at(1, 101, 4), line + "\n"), HasSubstr("  1 | " + line + "\n"));
}

// 120 characters less the gutter "    | " and two ellipses leave 108; a third of them lead.
TEST(FindingsText, ShowsAWindowOfALongLine) {
  const std::string line = std::string(500, 'a') + "HERE" + std::string(500, 'b');
  EXPECT_THAT(text_of(at(1, 501, 4), line + "\n"),
              HasSubstr("  1 | ..." + std::string(36, 'a') + "HERE" + std::string(68, 'b') +
                        "...\n    | " + std::string(39, ' ') + "^^^^ so\n"));
  EXPECT_THAT(text_of(at(1, 1, 1), line + "\n"),
              HasSubstr("  1 | " + std::string(108, 'a') + "...\n    | ^ so\n"));
}

RC_GTEST_PROP(FindingsText, CaretStaysInsideAnyLine, ()) {
  const auto line = *rc::gen::container<std::string>(rc::gen::arbitrary<char>());
  const Diagnostic d = at(1, *rc::gen::inRange(-5, 400), *rc::gen::inRange(-5, 400));
  const std::string text = text_of(d, line);
  RC_ASSERT(text.find('\x1b') == std::string::npos);
  const std::size_t caret = text.find('^');
  if (line.substr(0, line.find('\n')).empty() || line.find('^') != std::string::npos) return;
  const std::size_t start = text.rfind('\n', caret) + 1;
  RC_ASSERT(caret - start < 240);
}

TEST(FindingsCount, CountsBySeverity) {
  EXPECT_EQ(count_findings({}), "");
  Diagnostics all(3);
  std::string text = "three errors: " + count_findings(all) + "\n";
  all[1].severity = Severity::warning;
  all[2].severity = Severity::note;
  text += "one of each severity: " + count_findings(all) + "\n";
  golden::expect("report/finding-counts.txt", text);
}

TEST(FindingsText, IsColoredBySeverity) {
  Diagnostic d = at(1, 1, 1);
  const Paint paint{.on = true};
  EXPECT_THAT(render_findings_text({d}, "plan.yaml", "a\n", paint),
              HasSubstr("\033[1;31merror[RW0102]"));
  d.severity = Severity::warning;
  EXPECT_THAT(render_findings_text({d}, "plan.yaml", "a\n", paint),
              HasSubstr("\033[1;33mwarning["));
  d.severity = Severity::note;
  EXPECT_THAT(render_findings_text({d}, "plan.yaml", "a\n", paint), HasSubstr("\033[1;36mnote["));
}

TEST(FindingsJson, ReplacesInvalidUtf8) {
  Diagnostic d = at(1, 1, 1);
  d.detail = "\xff\xc3";
  const json all = json::parse(make_findings_json({d}, "plan.yaml"));
  EXPECT_EQ(all["findings"][0]["detail"], "\uFFFD\uFFFD");
  EXPECT_TRUE(json::accept(render_findings_sarif({d}, "1.2.3")));
}

TEST(FindingsSarif, NamesFilesAsUris) {
  Diagnostic d = at(1, 1, 1);
  d.where.file = "my plans/ä#1.yaml";
  d.detail = "";
  const json run = json::parse(render_findings_sarif({d}, "1.2.3"))["runs"][0];
  EXPECT_EQ(run["tool"]["driver"]["version"], "1.2.3");
  EXPECT_EQ(run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            "my%20plans/%C3%A4%231.yaml");
  EXPECT_EQ(run["results"][0]["message"]["text"], "wrong");
}

TEST(FindingsSarif, BreaksLinksInNames) {
  Diagnostic d = at(1, 1, 1);
  d.detail = "[a](b) [c]((d)";
  const json run = json::parse(render_findings_sarif({d}, "1.2.3"))["runs"][0];
  EXPECT_EQ(run["results"][0]["message"]["text"], "wrong: [a] (b) [c] ((d)");
}

}  // namespace findings_test
}  // namespace rankwright::report
