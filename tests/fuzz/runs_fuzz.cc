// Any text as a table of measured runs: refused, or read; and every row that is not excluded is
// predicted, finite and above nothing.
#include <cmath>

#include "rankwright/validate/score.h"
#include "tests/fuzz/fuzz.h"

using namespace rankwright;

int fuzz_runs(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kMaxRows = 4;  // a row of thousands of stages takes milliseconds
  Result<Csv> table = parse_csv(as_text(data, size), "fuzz.csv");
  if (!table) return 0;
  if (table->rows.size() > kMaxRows) table->rows.resize(kMaxRows);
  const Result<validate::Runs> runs = validate::read_runs(*table, "fuzz.csv");
  if (!runs) {
    check_finding(runs.error());
    return 0;
  }
  for (const validate::Excluded& row : runs->excluded) RW_CHECK(!row.why.empty());
  const std::vector<validate::Case> cases = make_cases(runs->scored);
  const validate::Validation validation = validate::validate(
      cases, {}, {.calibrate_one = true}, [](std::size_t, std::size_t, std::string_view) {});
  RW_CHECK(validation.rows.size() == cases.size());
  for (const validate::ScoredRun& row : validation.rows) {
    RW_CHECK(std::isfinite(row.step.value) && row.step.value > 0);
    if (row.timed()) RW_CHECK(std::isfinite(row.error()));
    if (row.run->measured_memory.value > 0) RW_CHECK(std::isfinite(row.memory_error()));
  }
  return 0;
}
