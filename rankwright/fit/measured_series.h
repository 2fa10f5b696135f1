// What a program measured of one collective on one group of ranks: the time of a call by its size.
// Data only: nccl_tests.h reads it from the program's output, link_fit.h finds links that give it.
#pragma once

#include <string>
#include <vector>

#include "rankwright/base/integer.h"
#include "rankwright/base/units.h"
#include "rankwright/plan/traffic.h"

namespace rankwright::fit {

struct MeasuredCall {
  Bytes size{};    // as nccl-tests counts it
  Seconds time{};  // of one call

  friend bool operator==(const MeasuredCall&, const MeasuredCall&) = default;
};

struct MeasuredSeries {
  std::string file{};
  plan::Op op{};
  i64 ranks = 0;  // all are one group
  i64 hosts = 1;  // that they stand on
  std::vector<MeasuredCall> calls{};
};

}  // namespace rankwright::fit
