// Measured times of one collective on one group of ranks, by message size. Data only: nccl_tests.h
// reads it from the output of nccl-tests, link_fit.h fits links to it.
#pragma once

#include <string>
#include <vector>

#include "rankwright/base/integer.h"
#include "rankwright/base/units.h"
#include "rankwright/plan/traffic.h"

namespace rankwright::fit {

/// The measured time of one message size.
struct MeasuredCall {
  Bytes size{};    // as nccl-tests defines size
  Seconds time{};  // of one call

  friend bool operator==(const MeasuredCall&, const MeasuredCall&) = default;
};

/// Measured calls of one collective on one group.
struct MeasuredSeries {
  std::string file{};
  plan::Op op{};
  i64 ranks = 0;  // ranks of the group
  i64 hosts = 1;  // hosts of the group
  std::vector<MeasuredCall> calls{};
};

}  // namespace rankwright::fit
