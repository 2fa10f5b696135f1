// Result<T>: what a function returns that deals with the outside world. An expected failure is a
// value, never an exception; readers that find several faults return a list of Diagnostics instead.
#pragma once

#include <tl/expected.hpp>

#include "rankwright/base/diagnostic.h"

namespace rankwright {

template <class T>
using Result = tl::expected<T, Diagnostic>;

inline tl::unexpected<Diagnostic> fail(Diagnostic diagnostic) {
  return tl::unexpected<Diagnostic>(std::move(diagnostic));
}

}  // namespace rankwright
