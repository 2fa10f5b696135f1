// Counts the bytes that tensors take, by standing in for libtorch's allocator: what an estimate of
// memory is held against. What malloc and MPI take besides is not in it.
#pragma once

#include "rankwright/base/units.h"

namespace rankwright::runtime {

/// From here on all tensors on the CPU are counted. Once, before the first tensor.
void count_allocations();

Bytes allocated();

/// The most since the last call of forget_peak().
Bytes peak_allocated();
void forget_peak();

}  // namespace rankwright::runtime
