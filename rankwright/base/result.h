// Result<T>: the return type of functions that read from the outside world. An expected failure is
// a value, never an exception. Readers that can report several problems return Diagnostics instead.
#pragma once

#include <tl/expected.hpp>

#include "rankwright/base/diagnostic.h"

namespace rankwright {

template <class T>
using Result = tl::expected<T, Diagnostic>;

/// Returns the failure of a Result.
inline tl::unexpected<Diagnostic> fail(Diagnostic diagnostic) {
  return tl::unexpected<Diagnostic>(std::move(diagnostic));
}

}  // namespace rankwright
