// Any text is read as a filled worksheet, or refused with findings; what was read is judged and
// written in every form.
#include "rankwright/lab/lab.h"
#include "rankwright/lab/worksheet/sheet_text.h"
#include "tests/fuzz/fuzz.h"

int fuzz_worksheet(const std::uint8_t* data, std::size_t size) {
  using namespace rankwright;
  static const lab::SheetPlan plan =
      lab::make_sheet_plan(lab::load_example_config("course-64.yaml"));
  const lab::GivenSheet sheet = lab::read_worksheet(std::string(as_text(data, size)), "fuzz.md",
                                                    lab::list_sheet_rows(plan.view));
  for (const Diagnostic& finding : sheet.findings) check_finding(finding);
  if (has_errors(sheet.findings)) return 0;
  const std::vector<lab::CellVerdict> verdicts = judge_worksheet(plan, sheet);
  for (const lab::CellVerdict& verdict : verdicts)
    RW_CHECK(!verdict.given.empty() || verdict.judgment.outcome == lab::CellOutcome::open);
  RW_CHECK(!render_sheet_text(verdicts, true, {}, 60).empty());
  RW_CHECK(!render_sheet_markdown(verdicts, true).empty());
  RW_CHECK(!make_sheet_json(verdicts, true, "fuzz").empty());
  return 0;
}
