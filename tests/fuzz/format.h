// Checks that hold for every framework's format: any text is read or refused with findings, and a
// file that is read resolves to a config that can be linted and compared with the file.
#pragma once

#include "rankwright/import/plan/plan_format.h"
#include "rankwright/plan/constraint_violation.h"
#include "tests/fuzz/fuzz.h"

namespace rankwright {

/// Feeds a format a file of a name, which tells scripts and configs apart.
inline int fuzz_format(std::string_view name, const std::uint8_t* data, std::size_t size,
                       const std::string& path = "fuzz.txt") {
  const importer::PlanFormat& format = *importer::find_plan_format(name);
  const std::string text(as_text(data, size));
  format.claims("fuzz.json", text);
  const importer::PlanFile file = read_plan_as(format, text, path, importer::refuse_file);
  for (const Diagnostic& finding : file.findings) check_finding(finding);
  if (has_errors(file.findings)) return 0;
  const plan::TrainingConfig config = resolve(file.draft);
  RW_CHECK(config.world >= 1);
  RW_CHECK(bool(find_first_violation(config)) == !find_violations(config).empty());
  for (const Diagnostic& finding : lint(config, format.target)) {
    check_finding(finding);
    spell_edits(format, finding.fix);
  }
  if (format.against != nullptr)
    for (const Diagnostic& finding : format.against(file, config)) check_finding(finding);
  return 0;
}

}  // namespace rankwright
