// Quantities: bytes, floating-point operations and seconds as types, in base units, and their
// ratios. Counts (ranks, layers) are i64 instead. format.h turns quantities into text.
#pragma once

#include <compare>
#include <concepts>

namespace rankwright {

template <class T>
concept Number = std::integral<T> || std::floating_point<T>;

/// A value whose unit is B^Byte FLOP^Flop s^Second.
template <int Byte, int Flop, int Second>
struct Quantity {
  double value = 0;

  friend constexpr auto operator<=>(Quantity, Quantity) = default;
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return {a.value + b.value}; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return {a.value - b.value}; }
  friend constexpr Quantity operator*(Number auto k, Quantity q) { return {double(k) * q.value}; }
  friend constexpr Quantity operator*(Quantity q, Number auto k) { return {double(k) * q.value}; }
  friend constexpr Quantity operator/(Quantity q, Number auto k) { return {q.value / double(k)}; }
  constexpr Quantity& operator+=(Quantity q) {
    value += q.value;
    return *this;
  }
};

template <int B1, int F1, int S1, int B2, int F2, int S2>
constexpr auto operator/(Quantity<B1, F1, S1> a, Quantity<B2, F2, S2> b) {
  if constexpr (B1 == B2 && F1 == F2 && S1 == S2)
    return a.value / b.value;  // a plain ratio
  else
    return Quantity<B1 - B2, F1 - F2, S1 - S2>{a.value / b.value};
}

template <int B1, int F1, int S1, int B2, int F2, int S2>
requires(B1 + B2 != 0 || F1 + F2 != 0 || S1 + S2 != 0) constexpr Quantity<B1 + B2, F1 + F2, S1 + S2>
operator*(Quantity<B1, F1, S1> a, Quantity<B2, F2, S2> b) {
  return {a.value * b.value};
}

using Bytes = Quantity<1, 0, 0>;
using Flops = Quantity<0, 1, 0>;
using Seconds = Quantity<0, 0, 1>;
using BytesPerSecond = Quantity<1, 0, -1>;
using FlopsPerSecond = Quantity<0, 1, -1>;

/// Returns the size of `count` elements of `each` bytes.
constexpr Bytes bytes(Number auto count, Number auto each) {
  return {double(count) * double(each)};
}

inline namespace literals {
constexpr Bytes operator""_B(long double v) { return {double(v)}; }
constexpr Bytes operator""_MB(long double v) { return {double(v) * 1e6}; }
constexpr Bytes operator""_GB(long double v) { return {double(v) * 1e9}; }
constexpr Bytes operator""_GiB(long double v) { return {double(v) * 1073741824.0}; }
constexpr Seconds operator""_us(long double v) { return {double(v) * 1e-6}; }
constexpr Seconds operator""_ms(long double v) { return {double(v) * 1e-3}; }
constexpr Seconds operator""_s(long double v) { return {double(v)}; }
constexpr BytesPerSecond operator""_GBps(long double v) { return {double(v) * 1e9}; }
constexpr FlopsPerSecond operator""_TFLOPS(long double v) { return {double(v) * 1e12}; }
}  // namespace literals

}  // namespace rankwright
