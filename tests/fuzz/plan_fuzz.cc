// Any text is read as a plan file, or refused with findings; what is read resolves to a config that
// can be linted for every target.
#include "rankwright/import/plan/plan_file.h"
#include "rankwright/plan/constraint_violation.h"
#include "rankwright/rules/rule.h"
#include "tests/fuzz/fuzz.h"

int fuzz_plan(const std::uint8_t* data, std::size_t size) {
  using namespace rankwright;
  const importer::PlanFile file =
      importer::read_plan(std::string(as_text(data, size)), "fuzz.yaml", importer::refuse_file);
  for (const Diagnostic& finding : file.findings) check_finding(finding);
  if (has_errors(file.findings)) return 0;
  const plan::TrainingConfig config = resolve(file.draft);
  RW_CHECK(config.world >= 1);
  RW_CHECK(bool(find_first_violation(config)) == !find_violations(config).empty());
  for (const rules::TargetRow& row : rules::targets())
    for (const Diagnostic& finding : lint(config, row.target)) check_finding(finding);
  return 0;
}
