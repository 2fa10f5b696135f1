// Integer counts: ranks, layers, heads. They must divide exactly, so they are never doubles. They
// come from files, so a product that exceeds 64 bits is an empty optional instead of an overflow.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

namespace rankwright {

using i64 = std::int64_t;

/// The largest count that any input may state: 2^50. Products with a few more factors stay exact in
/// a double, and `product` detects a product that exceeds 64 bits.
inline constexpr i64 kMaxCount = i64{1} << 50;

/// Returns the product of non-negative factors, or nothing if it exceeds 64 bits.
std::optional<i64> product(std::initializer_list<i64> factors);

constexpr bool divides(i64 divisor, i64 n) { return divisor > 0 && n % divisor == 0; }
constexpr i64 ceil_div(i64 a, i64 b) { return a / b + (a % b > 0 ? 1 : 0); }
constexpr i64 round_up(i64 n, i64 multiple) { return ceil_div(n, multiple) * multiple; }

/// Returns all divisors of n in ascending order. Requires: n >= 1.
std::vector<i64> list_divisors(i64 n);

/// Returns the divisor of n nearest to `wanted`; on a tie, the smaller one. Requires: n >= 1.
i64 nearest_divisor(i64 n, i64 wanted);

}  // namespace rankwright
