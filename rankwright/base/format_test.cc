#include "rankwright/base/format.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

#include "rankwright/base/quantity.h"

namespace rankwright {
namespace format_test {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(Count, SeparatesThousands) {
  EXPECT_EQ(count(0), "0");
  EXPECT_EQ(count(999), "999");
  EXPECT_EQ(count(1000), "1,000");
  EXPECT_EQ(count(1'048'576), "1,048,576");
  EXPECT_EQ(count(-999), "-999");
  EXPECT_EQ(count(-15360), "-15,360");
  EXPECT_EQ(count(std::numeric_limits<i64>::min()), "-9,223,372,036,854,775,808");
}

TEST(Plural, UsesSingularOnlyForOne) {
  EXPECT_EQ(plural(0, "node", "nodes"), "0 nodes");
  EXPECT_EQ(plural(1, "node", "nodes"), "1 node");
  EXPECT_EQ(plural(1024, "node", "nodes"), "1,024 nodes");
}

TEST(Show, KeepsThreeDigitsAndDropsZeros) {
  EXPECT_EQ(show(Bytes{134'217'728}), "134 MB");
  EXPECT_EQ(show(1.5_GB), "1.5 GB");
  EXPECT_EQ(show(Bytes{41'230}), "41.2 kB");
  EXPECT_EQ(show(Bytes{1'239}), "1.24 kB");
  EXPECT_EQ(show(50.0_GBps), "50 GB/s");
  EXPECT_EQ(show(Flops{4.1e15}), "4.1 PFLOP");
  EXPECT_EQ(show(989.4_TFLOPS), "989 TFLOP/s");
  EXPECT_EQ(show(FlopsPerSecond{50e9}), "50 GFLOP/s");
  EXPECT_EQ(show_memory(79.6_GiB), "79.6 GiB");
}

TEST(Show, RoundsIntoTheNextUnit) {
  EXPECT_EQ(show(Bytes{999.4e3}), "999 kB");
  EXPECT_EQ(show(Bytes{999.6e3}), "1 MB");
  EXPECT_EQ(show(Bytes{9.996e3}), "10 kB");
  EXPECT_EQ(show_memory(Bytes{1000.0 * 1048576}), "1,000 MiB");
  EXPECT_EQ(show_memory(Bytes{1023.4 * 1048576}), "1,023 MiB");
  EXPECT_EQ(show_memory(Bytes{1023.9 * 1048576}), "1 GiB");
  EXPECT_EQ(format_short_count(999.6), "1 k");
  EXPECT_EQ(format_short_count(999'999), "1 M");
  EXPECT_EQ(show(Seconds{999.6e-6}), "1 ms");
  EXPECT_EQ(show(Seconds{0.9996}), "1 s");
}

TEST(Show, Zero_HasAUnit) {
  EXPECT_EQ(show(Bytes{0}), "0 B");
  EXPECT_EQ(show(Seconds{0}), "0 s");
  EXPECT_EQ(show(Seconds{-0.0}), "0 s");
  EXPECT_EQ(show(BytesPerSecond{0}), "0 B/s");
  EXPECT_EQ(show_memory(Bytes{0}), "0 B");
  EXPECT_EQ(format_short_count(0), "0");
  EXPECT_EQ(percent(0), "0 %");
}

TEST(Show, NegativeValue_IsThePositiveOneWithASign) {
  EXPECT_EQ(show(Bytes{-999.6e3}), "-1 MB");
  EXPECT_EQ(show(Seconds{-0.0015}), "-1.5 ms");
  EXPECT_EQ(show(Seconds{-10800}), "-3 h");
  EXPECT_EQ(show(BytesPerSecond{-5e9}), "-5 GB/s");
  EXPECT_EQ(format_short_count(-70.6e9), "-70.6 B");
  EXPECT_EQ(percent(-0.041), "-4.1 %");
}

TEST(Show, InfinityAndNan_AreWords) {
  EXPECT_EQ(show(Bytes{kInfinity}), "unbounded");
  EXPECT_EQ(show(BytesPerSecond{kInfinity}), "unbounded");
  EXPECT_EQ(show(Seconds{kInfinity}), "unbounded");
  EXPECT_EQ(show(Seconds{-kInfinity}), "-unbounded");
  EXPECT_EQ(show(FlopsPerSecond{kNan}), "undefined");
  EXPECT_EQ(show(Seconds{kNan}), "undefined");
  EXPECT_EQ(format_short_count(kNan), "undefined");
  EXPECT_EQ(percent(kInfinity), "unbounded");
}

TEST(Show, BeyondTheLastPrefix_UsesThousandsThenAnExponent) {
  EXPECT_EQ(show(Bytes{1.5e22}), "15,000 EB");
  EXPECT_EQ(show(Bytes{1e40}), "1e+22 EB");
  EXPECT_EQ(show(Seconds{86400e30}), "1e+30 days");
}

TEST(Show, TinyValue_IsZero) {
  EXPECT_EQ(percent(1e-300), "0 %");
  EXPECT_EQ(percent(-1e-300), "0 %");
  EXPECT_EQ(show(Seconds{1e-12}), "0.001 ns");
}

TEST(ShowSeconds, PicksACommonUnit) {
  EXPECT_EQ(show(Seconds{2e-9}), "2 ns");
  EXPECT_EQ(show(2.0_us), "2 us");
  EXPECT_EQ(show(1.32_ms), "1.32 ms");
  EXPECT_EQ(show(61.0_s), "61 s");
  EXPECT_EQ(show(Seconds{7199}), "7,199 s");
  EXPECT_EQ(show(Seconds{7199.6}), "2 h");
  EXPECT_EQ(show(Seconds{5.5 * 3600}), "5.5 h");
  EXPECT_EQ(show(Seconds{86400}), "1 day");
  EXPECT_EQ(show(Seconds{2.5 * 86400}), "2.5 days");
}

TEST(ShortCount, UsesBForBillions) {
  EXPECT_EQ(format_short_count(8'030'261'248), "8.03 B");
  EXPECT_EQ(format_short_count(4.19e6), "4.19 M");
  EXPECT_EQ(format_short_count(512), "512");
  EXPECT_EQ(format_short_count(15e12), "15 T");
}

TEST(Percent, MultipliesByAHundred) {
  EXPECT_EQ(percent(0.41), "41 %");
  EXPECT_EQ(percent(1), "100 %");
  EXPECT_EQ(percent(0.0625), "6.25 %");
  EXPECT_EQ(percent(12.5), "1,250 %");
}

/// Returns a random number, evenly distributed by magnitude.
double random_magnitude(int min, int max) {
  const double mantissa = *rc::gen::inRange<i64>(100'000, 999'999) / 1e5;
  return mantissa * std::pow(10.0, *rc::gen::inRange(min, max));
}

bool near(double a, double b) { return std::abs(a - b) <= 0.005 * b; }

RC_GTEST_PROP(Show, RoundTripsWithinHalfAPercent, ()) {
  const double x = random_magnitude(0, 30);
  RC_ASSERT(near(parse_bytes(show(Bytes{x})).value().value, x));
  RC_ASSERT(near(parse_bytes(show_memory(Bytes{x})).value().value, x));
  RC_ASSERT(near(parse_bandwidth(show(BytesPerSecond{x})).value().value, x));
  RC_ASSERT(near(parse_flops(show(FlopsPerSecond{x})).value().value, x));
  const double t = random_magnitude(-12, 12);
  RC_ASSERT(near(parse_duration(show(Seconds{t})).value().value, t));
}

TEST(Excerpt, ControlCharacters_BecomeQuestionMarks) {
  EXPECT_EQ(make_excerpt("tp_size"), "tp_size");
  EXPECT_EQ(make_excerpt("\033[31mred\n\x7f"), "?[31mred??");
  EXPECT_EQ(make_excerpt("a\xC2\x9B"
                         "2Jb"),
            "a?2Jb");  // U+009B is the 8-bit form of ESC [
  EXPECT_EQ(make_excerpt("caf\xC3\xA9"), "caf\xC3\xA9");
}

TEST(Excerpt, InvalidUtf8_BecomesQuestionMarks) {
  EXPECT_EQ(make_excerpt("caf\xE9s"), "caf?s");  // Latin-1
  EXPECT_EQ(make_excerpt("\xED\xA0\x80"), "???");
  EXPECT_EQ(make_excerpt("\xF0\x9F\x98\x80"), "\xF0\x9F\x98\x80");
}

RC_GTEST_PROP(Excerpt, IsIdempotent, (const std::string& text)) {
  const std::string once = make_excerpt(text);
  RC_ASSERT(make_excerpt(once) == once);
}

TEST(Excerpt, NeverCutsInsideACharacter) {
  EXPECT_EQ(make_excerpt("caf\xC3\xA9s", 4), "caf");
  EXPECT_EQ(make_excerpt("caf\xC3\xA9s", 5), "caf\xC3\xA9");
  EXPECT_EQ(make_excerpt("abc", 0), "");
}

TEST(Excerpt, OfAPath_KeepsItsEnd) {
  EXPECT_EQ(make_path_excerpt("a/b.sh"), "a/b.sh");
  EXPECT_EQ(make_path_excerpt("/home/me/profile.d/conda.sh", 20), ".../conda.sh");
  EXPECT_EQ(make_path_excerpt("/home/me/profile.d/conda.sh", 24), ".../profile.d/conda.sh");
  EXPECT_EQ(make_path_excerpt(std::string(30, 'x'), 20), std::string(20, 'x'));
}

TEST(Lower, ChangesOnlyAsciiLetters) {
  EXPECT_EQ(lower("SwitchName=\xC3\x84_9"), "switchname=\xC3\x84_9");
  EXPECT_EQ(lower(""), "");
}

}  // namespace format_test
}  // namespace rankwright
