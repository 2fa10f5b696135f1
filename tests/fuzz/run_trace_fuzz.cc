// Any bytes as the trace of a step: refused, or read as slices that can be drawn.
#include <algorithm>
#include <cmath>

#include "rankwright/import/log/run_trace.h"
#include "rankwright/program/cells.h"
#include "tests/fuzz/fuzz.h"

using namespace rankwright;

int fuzz_run_trace(const std::uint8_t* data, std::size_t size) {
  const Result<importer::RunTrace> trace =
      importer::read_run_trace(as_text(data, size), "fuzz.pftrace");
  if (!trace) {
    check_finding(trace.error());
    return 0;
  }
  RW_CHECK(i64(trace->ranks.size()) <= program::kMaxPpRanks);
  RW_CHECK(std::isfinite(trace->end.value));
  Seconds first = trace->end, last{};
  for (const std::vector<importer::TraceSlice>& rank : trace->ranks) {
    Seconds begin{};
    for (const importer::TraceSlice& slice : rank) {
      RW_CHECK(begin <= slice.begin && slice.begin <= slice.end);
      RW_CHECK(slice.name.size() <= importer::kLongestSliceName);
      RW_CHECK(!slice.cell || is_cell(slice.cell->kind));
      begin = slice.begin;
      first = std::min(first, slice.begin);
      last = std::max(last, slice.end);
    }
  }
  RW_CHECK(first == Seconds{} && last == trace->end);
  return 0;
}
