#include "rankwright/base/integer.h"

#include <algorithm>
#include <cstdlib>

#include "rankwright/base/check.h"

namespace rankwright {

std::optional<i64> product(std::initializer_list<i64> factors) {
  // A zero factor makes the product zero, even if the other factors overflow.
  if (std::find(factors.begin(), factors.end(), 0) != factors.end()) return 0;
  i64 result = 1;
  for (const i64 factor : factors)
    if (__builtin_mul_overflow(result, factor, &result)) return std::nullopt;
  return result;
}

std::vector<i64> list_divisors(i64 n) {
  RW_CHECK(n >= 1);
  std::vector<i64> small;
  std::vector<i64> large;
  for (i64 d = 1; d <= n / d; ++d) {
    if (n % d != 0) continue;
    small.push_back(d);
    if (d != n / d) large.push_back(n / d);
  }
  small.insert(small.end(), large.rbegin(), large.rend());
  return small;
}

i64 nearest_divisor(i64 n, i64 wanted) {
  i64 best = 1;
  for (const i64 d : list_divisors(n))
    if (std::abs(d - wanted) < std::abs(best - wanted)) best = d;
  return best;
}

}  // namespace rankwright
