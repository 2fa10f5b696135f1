#include "rankwright/pipeline/bubble.h"

namespace rankwright::pipeline {

double bubble_ratio(Schedule schedule, i64 pp, i64 chunks, i64 microbatches) {
  if (pp == 1) return 0;
  constexpr double kWork = 3;  // of one microbatch
  return row(schedule).bubble(double(pp), double(chunks)) / (kWork * double(microbatches));
}

double bubble_fraction(Schedule schedule, i64 pp, i64 chunks, i64 microbatches) {
  const double ratio = bubble_ratio(schedule, pp, chunks, microbatches);
  return ratio / (1 + ratio);
}

}  // namespace rankwright::pipeline
