// Any text is read as a launch script of the Trainer, or refused with findings; what is read
// resolves to a config that can be linted.
#include "rankwright/import/plan/plan_format.h"
#include "rankwright/plan/constraint_violation.h"
#include "rankwright/rules/rule.h"
#include "tests/fuzz/fuzz.h"

int fuzz_trainer_script(const std::uint8_t* data, std::size_t size) {
  using namespace rankwright;
  importer::PlanFile file =
      read_plan_as(*importer::find_plan_format("fine-tuning"), std::string(as_text(data, size)),
                   "fuzz.sh", importer::refuse_file);
  for (const Diagnostic& finding : file.findings) check_finding(finding);
  if (has_errors(file.findings)) return 0;
  assume_world(file);
  const plan::TrainingConfig config = resolve(file.draft);
  RW_CHECK(config.world >= 1);
  for (const Diagnostic& finding : lint(config, rules::Target::accelerate)) check_finding(finding);
  return 0;
}
