// RW_CHECK: an internal invariant. It is never reachable from input: a user's mistake is a
// Diagnostic, an infeasible candidate of a search is a ConstraintViolation.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace rankwright {

/// Prints the violated condition with its location and aborts.
[[noreturn]] inline void abort_broken_invariant(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "rankwright: internal error: %s does not hold at %s:%d\n", condition, file,
               line);
  std::abort();
}

}  // namespace rankwright

#define RW_CHECK(condition) \
  ((condition) ? void(0) : ::rankwright::abort_broken_invariant(#condition, __FILE__, __LINE__))
