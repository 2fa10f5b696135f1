// Whole numbers that count things: ranks, layers, heads. They divide, so they are never doubles,
// and they come from files, so a product that leaves 64 bits is an empty optional and not a wrap.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

namespace rankwright {

using i64 = std::int64_t;

/// The largest count that any input may state: 2^50, so that a few more factors still fit in a
/// double without losing a unit, and 8 of them in 64 bits are caught by `product`.
inline constexpr i64 kMaxCount = i64{1} << 50;

/// The product of non-negative factors, or nothing if it leaves 64 bits.
std::optional<i64> product(std::initializer_list<i64> factors);

constexpr bool divides(i64 divisor, i64 n) { return divisor > 0 && n % divisor == 0; }
constexpr i64 ceil_div(i64 a, i64 b) { return a / b + (a % b > 0 ? 1 : 0); }
constexpr i64 round_up(i64 n, i64 multiple) { return ceil_div(n, multiple) * multiple; }

/// All divisors of n >= 1, ascending.
std::vector<i64> divisors(i64 n);

/// The divisor of n >= 1 that is nearest to `wanted`; of two equally near, the smaller.
i64 nearest_divisor(i64 n, i64 wanted);

}  // namespace rankwright
