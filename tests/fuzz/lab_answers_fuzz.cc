// Any text is read as the answers of any lab, or refused with findings; values that were read are
// judged. Plans that it names are not opened.
#include "rankwright/lab/judge.h"
#include "tests/fuzz/fuzz.h"

int fuzz_lab_answers(const std::uint8_t* data, std::size_t size) {
  using namespace rankwright;
  for (const lab::Lab& lab : lab::labs()) {
    const lab::GivenAnswers all =
        read_answers(lab, std::string(as_text(data, size)), "fuzz.yaml", importer::refuse_file);
    for (const Diagnostic& finding : all.findings) check_finding(finding);
    RW_CHECK(all.answers.size() == lab.questions.size());
    if (has_errors(all.findings)) continue;
    for (const lab::GivenAnswer& one : all.answers) {
      RW_CHECK(!one.given || one.plan.has_value() == (one.question->kind == lab::AnswerKind::plan));
      for (const Diagnostic& fault : one.faults) check_finding(fault);
      if (one.plan) continue;
      const lab::LabOutcome outcome = judge(one).outcome;
      RW_CHECK((outcome == lab::LabOutcome::unread) == !one.faults.empty());
      RW_CHECK((outcome == lab::LabOutcome::open) == (!one.given && one.faults.empty()));
    }
  }
  return 0;
}
