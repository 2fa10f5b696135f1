// Any text is read as a Megatron-LM launch script or log; what is read resolves to a config that
// can be linted, and written as flags again where arithmetic has nothing against it.
#include "rankwright/export/exporter.h"
#include "rankwright/import/plan/plan_format.h"
#include "rankwright/plan/constraint_violation.h"
#include "rankwright/rules/rule.h"
#include "tests/fuzz/fuzz.h"

int fuzz_megatron(const std::uint8_t* data, std::size_t size) {
  using namespace rankwright;
  const std::string text(as_text(data, size));
  // A script that sources a file gets itself, again and again.
  const importer::PlanFile file =
      read_plan_as(*importer::find_plan_format("megatron"), text, "fuzz.sh",
                   [&](const std::string&) -> Result<std::string> { return text; });
  for (const Diagnostic& finding : file.findings) check_finding(finding);
  for (const importer::FieldReader::Key& key : file.keys)
    RW_CHECK(key.where.line >= 0 && key.where.column >= 0);
  if (has_errors(file.findings)) return 0;
  const plan::TrainingConfig config = resolve(file.draft);
  RW_CHECK(config.world >= 1);
  for (const Diagnostic& finding : lint(config, rules::Target::megatron)) check_finding(finding);
  if (!find_first_violation(config))
    RW_CHECK(!export_plan(*exporter::find_exporter("megatron"), config).empty());
  return 0;
}
