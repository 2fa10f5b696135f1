// What a probe lets ranks compute: matmuls and streams of libtorch, as closures over their tensors.
// Not here: how they are timed (probe.h).
#pragma once

#include <functional>

#include "rankwright/base/integer.h"
#include "rankwright/runtime/group.h"

namespace rankwright::runtime {

using Work = std::function<void()>;

/// [rows, inner] by a weight of [columns, inner], as every Linear does it.
Work matmul_work(Number number, i64 rows, i64 inner, i64 columns);

/// Over `count` fp32 elements: two are touched of each by a copy, three by a sum.
Work copy_work(i64 count);
Work add_work(i64 count);

/// An operation on a few elements: what it takes is what every operation takes besides its work.
Work tiny_work();

}  // namespace rankwright::runtime
