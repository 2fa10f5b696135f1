// Any bytes as a schedule file: read, or refused with a place; checked without a crash; and what is
// sound is simulated, printed and read again.
#include "rankwright/program/simulate.h"
#include "rankwright/program/timeline.h"
#include "rankwright/program/transfers.h"
#include "rankwright/rules/proof_findings.h"
#include "tests/fuzz/fuzz.h"

using namespace rankwright;

int fuzz_schedule(const std::uint8_t* data, std::size_t size) {
  const Result<program::WrittenSchedule> written =
      program::parse_cells(as_text(data, size), "fuzz.csv");
  if (!written) {
    check_finding(written.error());
    return 0;
  }
  const rules::CheckedSchedule checked = rules::check_schedule(*written);
  if (!checked.findings.empty() || written->transfers) return 0;
  const Result<program::WrittenSchedule> again =
      program::parse_cells(program::show_cells(written->ranks), "again.csv");
  RW_CHECK(again && again->ranks == written->ranks);
  const program::Program program =
      program::add_transfers(written->ranks, checked.stages, checked.microbatches);
  const program::Durations times =
      make_equal_durations(program, Seconds{1}, Seconds{1}, Seconds{1});
  const program::Timeline timeline = simulate(program, times);
  RW_CHECK(!find_critical_path(program, times, timeline).empty());
  return 0;
}
