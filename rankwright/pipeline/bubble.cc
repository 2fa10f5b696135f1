#include "rankwright/pipeline/bubble.h"

#include <algorithm>

namespace rankwright::pipeline {
namespace {

/// Returns the idle time in units of F, with F = I = W = 1 and B = I + W; a microbatch's work is 3.
double bubble(plan::Schedule schedule, double pp, double chunks) {
  constexpr double kF = 1, kI = 1, kW = 1, kB = kI + kW;
  switch (schedule) {
    case Schedule::gpipe:
    case Schedule::one_f_one_b:
      return (pp - 1) * (kF + kB);  // B1
    case Schedule::interleaved:
    case Schedule::looped_bfs:
      return (pp - 1) * (kF + kB) / chunks;  // B2
    case Schedule::zb_h1:
      return (pp - 1) * (kF + kI - kW);  // B3
    case Schedule::interleaved_zb:
      return (pp - 1) * (kF + kI - kW) / chunks;
    case plan::Schedule::zb_2p:
      return (pp - 1) * kF;  // B4: rank r starts r forwards late, and all end together
    case plan::Schedule::zb_v:
      return (pp - 1) * kF / chunks;
    case Schedule::dualpipe:
      return std::max(0.0, pp / 2 - 1) * (kF + kB + kB - 3 * kW);  // B5
    case Schedule::dualpipe_v:
      return (pp - 1) * (kF + kB + kB - 3 * kW) / 2;  // B5 on half-sized stages
  }
  return 0;
}

}  // namespace

double bubble_ratio(Schedule schedule, i64 pp, i64 chunks, i64 microbatches) {
  if (pp == 1) return 0;
  constexpr double kWork = 3;
  return bubble(schedule, double(pp), double(chunks)) / (kWork * double(microbatches));
}

double bubble_fraction(Schedule schedule, i64 pp, i64 chunks, i64 microbatches) {
  const double ratio = bubble_ratio(schedule, pp, chunks, microbatches);
  return ratio / (1 + ratio);
}

}  // namespace rankwright::pipeline
