#include "rankwright/base/units.h"

#include <gtest/gtest.h>

#include <type_traits>

namespace rankwright {
namespace units_test {

template <class A, class B>
concept Addable = requires(A a, B b) {
  a + b;
};

// Incompatible units do not compile.
static_assert(Addable<Bytes, Bytes>);
static_assert(!Addable<Bytes, Seconds>);
static_assert(!Addable<Bytes, double>);
static_assert(!std::is_convertible_v<double, Bytes>);

// Division and multiplication derive the unit.
static_assert(std::is_same_v<decltype(Bytes{} / Seconds{1}), BytesPerSecond>);
static_assert(std::is_same_v<decltype(Bytes{} / BytesPerSecond{1}), Seconds>);
static_assert(std::is_same_v<decltype(Flops{} / FlopsPerSecond{1}), Seconds>);
static_assert(std::is_same_v<decltype(Bytes{} / Bytes{1}), double>);
static_assert(std::is_same_v<decltype(Seconds{} * BytesPerSecond{}), Bytes>);

TEST(Units, MatchTheWorkedExample) {
  // 100 GB at 50 GB/s take 2 s, and in 3 s there is room for 150 GB.
  EXPECT_EQ(100.0_GB / 50.0_GBps, 2.0_s);
  EXPECT_EQ(50.0_GBps * 3.0_s, 150.0_GB);
  EXPECT_EQ(100.0_GB / 50.0_GB, 2.0);
  EXPECT_EQ(100.0_GB / 2.0_s, 50.0_GBps);
}

TEST(Units, ScaleAddAndCompare) {
  EXPECT_EQ(3 * 2.0_ms, 6.0_ms);
  EXPECT_EQ(2.0_ms * 3, 6.0_ms);
  EXPECT_EQ(6.0_s / 4, 1.5_s);
  EXPECT_EQ(1.0_GB + 24.0_MB, 1024.0_MB);
  EXPECT_EQ(1.0_GB - 24.0_MB, 976.0_MB);
  EXPECT_LT(1.0_GB, 1.0_GiB);
  Bytes sum{};
  sum += 2.0_MB;
  sum += 3.0_MB;
  EXPECT_EQ(sum, 5.0_MB);
}

TEST(Units, LiteralsAreInBaseUnits) {
  EXPECT_EQ((7.0_B).value, 7);
  EXPECT_EQ((1.0_MB).value, 1e6);
  EXPECT_EQ((1.0_GB).value, 1e9);
  EXPECT_EQ((1.0_GiB).value, 1024.0 * 1024 * 1024);
  EXPECT_EQ((1.0_us).value, 1e-6);
  EXPECT_EQ((1.0_ms).value, 1e-3);
  EXPECT_EQ((1.0_s).value, 1);
  EXPECT_EQ((1.0_GBps).value, 1e9);
  EXPECT_EQ((1.0_TFLOPS).value, 1e12);
}

TEST(Units, SixteenBytesPerParameter_Is112GBFor7B) {
  EXPECT_EQ(bytes(7'000'000'000, 16), 112.0_GB);
}

}  // namespace units_test
}  // namespace rankwright
