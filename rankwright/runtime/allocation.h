// Counts the bytes allocated by CPU tensors, by replacing libtorch's CPU allocator. The result is
// compared with the memory estimate. Memory that malloc and MPI use beyond that is not counted.
#pragma once

#include "rankwright/base/units.h"

namespace rankwright::runtime {

/// Starts counting all CPU tensors. Requires: called before the first tensor is allocated.
void count_allocations();

/// Returns the bytes that tensors hold now.
Bytes allocated();

/// Returns the maximum of allocated() since the last call of reset_peak().
Bytes peak_allocated();
void reset_peak();

}  // namespace rankwright::runtime
