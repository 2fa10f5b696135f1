// The computations that a probe measures: libtorch matmuls and memory streams, as closures over
// their tensors. probe.h times them.
#pragma once

#include <functional>

#include "rankwright/base/integer.h"
#include "rankwright/runtime/group.h"

namespace rankwright::runtime {

using Work = std::function<void()>;

/// Multiplies [rows, inner] by a weight of [columns, inner], as Linear does.
Work matmul_work(Number number, i64 rows, i64 inner, i64 columns);

/// Stream over `count` fp32 elements. A copy accesses two elements per element, an addition three.
Work copy_work(i64 count);
Work add_work(i64 count);

/// Operates on a few elements, which measures the launch overhead of every operation.
Work tiny_work();

}  // namespace rankwright::runtime
