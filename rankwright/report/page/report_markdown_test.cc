#include "rankwright/report/page/report_markdown.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <sstream>

#include "tests/support/golden.h"
#include "tests/support/reports.h"

namespace rankwright::report {
namespace report_markdown_test {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string write_document(const planner::PlanReport& plan, const std::string& pictures = "") {
  return render_report_markdown(
      {.version = "1", .command = "rankwright report " + plan.name, .plans = {plan}}, pictures);
}

/// Removes code blocks and inline code, in which nothing is markup.
std::string strip_code(const std::string& document) {
  std::istringstream in(document);
  std::string prose, line, fence;
  while (std::getline(in, line)) {
    const bool ends = !fence.empty() && line == fence;
    const bool begins = fence.empty() && line.starts_with("```");
    if (begins) fence = line.substr(0, line.find_first_not_of('`'));
    if (fence.empty())
      for (bool code = false; const char c : line) {
        const bool escaped = !prose.empty() && prose.back() == '\\';
        if (c == '`' && !escaped) code = !code;
        if (!code) prose += c;
      }
    prose += "\n";
    if (ends) fence.clear();
  }
  return prose;
}

/// Returns what comes before the section of the step, then the headings and the last line.
std::string make_outline(const std::string& document) {
  const std::size_t step = document.find("## Step\n");
  std::string outline = document.substr(0, step), last;
  std::istringstream rest(document.substr(std::min(step, document.size())));
  for (std::string line; std::getline(rest, line); last = line)
    if (line.starts_with("#")) outline += line + "\n";
  return outline + last + "\n";
}

TEST(ReportMarkdown, HasItsSectionsInOrder) {
  golden::expect("report/course-64-outline.md", make_outline(write_document(course_report())));
}

// A name appears literally and never becomes a tag, link, code or heading.
TEST(ReportMarkdown, EscapesNames) {
  planner::PlanReport report = hostile_report();
  report.config.model.name = "<img src=x> &lt; [a](b) `c` | \\\n# big";
  const std::string text = write_document(report);
  EXPECT_THAT(text, StartsWith("# &lt;img src=x> &amp;lt; \\[a](b) \\`c\\` \\| \\\\ # big ("));
  const std::string prose = strip_code(text);
  for (const char* markup : {"<script", "</text", "<img", "\n# big", " &lt; "})
    EXPECT_THAT(prose, Not(HasSubstr(markup)));
}

TEST(ReportMarkdown, LinksPicturesInFoldersWithBlanks) {
  EXPECT_THAT(write_document(course_report(), "my pics"),
              HasSubstr("![step](<my pics/step.svg>)\n"));
  EXPECT_THAT(write_document(course_report()), Not(HasSubstr("![step]")));
}

}  // namespace report_markdown_test
}  // namespace rankwright::report
