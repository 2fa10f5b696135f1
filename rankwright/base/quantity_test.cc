#include "rankwright/base/quantity.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rankwright/base/format.h"

namespace rankwright {
namespace quantity_test {

TEST(ParseBytes, AcceptsDecimalAndBinaryPrefixes) {
  EXPECT_EQ(parse_bytes("80 GB").value(), 80.0_GB);
  EXPECT_EQ(parse_bytes("1.5 GiB").value(), Bytes{1.5 * 1024 * 1024 * 1024});
  EXPECT_EQ(parse_bytes("  64KiB ").value(), Bytes{65536});
  EXPECT_EQ(parse_bytes("1e3 kB").value(), 1.0_MB);
  EXPECT_EQ(parse_bytes("5EB").value(), Bytes{5e18});
  EXPECT_EQ(parse_bytes("0 B").value(), Bytes{0});
}

TEST(ParseBandwidth, DistinguishesBitsFromBytes) {
  EXPECT_EQ(parse_bandwidth("450 GB/s").value(), 450.0_GBps);
  for (const char* text : {"400 Gb/s", "400 Gbit/s", "400Gbps", "0.4 Tb/s", "50 GBps"})
    EXPECT_DOUBLE_EQ(parse_bandwidth(text).value().value, 50e9) << text;  // 400 / 8
}

TEST(ParseDuration, AcceptsAllSpellingsOfMicroseconds) {
  for (const char* text : {"2 us", "2 \u00b5s", "2 \u03bcs", "0.002 ms", "2000 ns"})
    EXPECT_DOUBLE_EQ(parse_duration(text).value().value, 2e-6) << text;
  EXPECT_EQ(parse_duration("3 s").value(), Seconds{3});
  EXPECT_EQ(parse_duration("2 min").value(), Seconds{120});
  EXPECT_EQ(parse_duration("1.5 h").value(), Seconds{5400});
  EXPECT_EQ(parse_duration("1 day").value(), Seconds{86400});
}

TEST(ParseFlops, AcceptsBothSpellings) {
  EXPECT_EQ(parse_flops("989 TFLOP/s").value(), 989.0_TFLOPS);
  EXPECT_EQ(parse_flops("989 TFLOPS").value(), 989.0_TFLOPS);
  EXPECT_EQ(parse_flops("0.5 PFLOP/s").value(), 500.0_TFLOPS);
}

TEST(ParseQuantity, AcceptsThousandsSeparatorsAndAPlusSign) {
  EXPECT_EQ(parse_bandwidth("1,340.5 GB/s").value(), 1340.5_GBps);
  EXPECT_EQ(parse_bandwidth("1_340 GB/s").value(), 1340.0_GBps);
  EXPECT_EQ(parse_bandwidth("+5 GB/s").value(), 5.0_GBps);
  EXPECT_EQ(parse_bytes(".5 GB").value(), 500.0_MB);
}

TEST(ParseQuantity, NumberWithoutUnit_IsRejectedWithAnExample) {
  const Result<BytesPerSecond> bare = parse_bandwidth("450");
  ASSERT_FALSE(bare);
  EXPECT_EQ(bare.error().code, "RW0909");
  EXPECT_EQ(bare.error().message, "not a number with a unit");
  EXPECT_EQ(bare.error().detail, "'450' has no unit");
  EXPECT_EQ(bare.error().hint, "for example 450 GB/s");
}

TEST(ParseQuantity, UnknownUnit_IsNamedInTheError) {
  const Result<Seconds> wrong = parse_duration("2 weeks");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().detail, "'2 weeks' has the unit 'weeks'");
  EXPECT_EQ(wrong.error().hint.substr(0, 24), "known units: ns, us, µs");
}

std::string detail(std::string_view text) {
  const Result<BytesPerSecond> parsed = parse_bandwidth(text);
  return parsed ? "read as " + show(*parsed) : parsed.error().detail;
}

TEST(ParseQuantity, InvalidNumber_IsRejectedWithAReason) {
  EXPECT_EQ(detail(""), "'' does not begin with a number");
  EXPECT_EQ(detail("GB/s"), "'GB/s' does not begin with a number");
  EXPECT_EQ(detail("inf GB/s"), "'inf GB/s' does not begin with a number");
  EXPECT_EQ(detail("nan GB/s"), "'nan GB/s' does not begin with a number");
  EXPECT_EQ(detail("+-5 GB/s"), "'+-5 GB/s' does not begin with a number");
  EXPECT_EQ(detail("+ 5 GB/s"), "'+ 5 GB/s' does not begin with a number");
  EXPECT_EQ(detail("1,,2 GB/s"), "'1,,2 GB/s' does not begin with a number");
  EXPECT_EQ(detail("1,5 GB/s"), "'1,5 GB/s' does not begin with a number");
  EXPECT_EQ(detail("-5 GB/s"), "'-5 GB/s' is negative");
  EXPECT_EQ(detail("-0 GB/s"), "'-0 GB/s' is negative");
  EXPECT_EQ(detail("1e400 GB/s"), "'1e400 GB/s' is out of range");
  EXPECT_EQ(detail("1e300 TB/s"), "'1e300 TB/s' is out of range");
  EXPECT_EQ(detail("0x10 GB/s"), "'0x10 GB/s' has the unit 'x10 GB/s'");
  EXPECT_EQ(detail("5 gb/s"), "'5 gb/s' has the unit 'gb/s'");
}

TEST(ParseQuantity, LongText_IsQuotedInPartWithoutSplittingACharacter) {
  EXPECT_EQ(detail(std::string(60, 'x')),
            "'" + std::string(40, 'x') + "' does not begin with a number");
  EXPECT_EQ(detail(std::string(39, 'x') + "\u00b5"),
            "'" + std::string(39, 'x') + "' does not begin with a number");
}

TEST(ParseCount, K_IsTimes1024) {
  EXPECT_EQ(parse_count("8k").value(), 8192);
  EXPECT_EQ(parse_count("128K").value(), 131072);
  EXPECT_EQ(parse_count("1,024k").value(), 1048576);
  for (const char* const wrong : {"k", "8kk", "8 k", "0k", "-1k", "8.5k", "1099511627777k"})
    EXPECT_FALSE(parse_count(wrong)) << wrong;
}

TEST(ParseCount, AcceptsCommasAndUnderscores) {
  EXPECT_EQ(parse_count("8").value(), 8);
  EXPECT_EQ(parse_count(" 8\r\n").value(), 8);
  EXPECT_EQ(parse_count("+8").value(), 8);
  EXPECT_EQ(parse_count("1,024").value(), 1024);
  EXPECT_EQ(parse_count("1,048,576").value(), 1048576);
  EXPECT_EQ(parse_count("1_024").value(), 1024);
  EXPECT_EQ(parse_count("10_0").value(), 100);
  EXPECT_EQ(parse_count("1,125,899,906,842,624").value(), kMaxCount);
  EXPECT_EQ(parse_count("0", 0).value(), 0);
  EXPECT_EQ(parse_count("-1", -1).value(), -1);
}

TEST(ParseCount, NonIntegers_AreRejected) {
  for (const char* text :
       {"",     " ",      "_",   ",",   "1,,2", "1,2",    "1,0240",    "1024,000", "1,02",
        ",024", "1,",     "_1",  "1_",  "1__0", "1,_024", "1_024,000", "8.0",      "1e3",
        "0x10", "8 GPUs", "--8", "+-8", "+",    "-",      "eight"}) {
    const Result<i64> n = parse_count(text);
    ASSERT_FALSE(n) << text << " was read as " << *n;
    EXPECT_EQ(n.error().code, "RW0903") << text;
  }
  EXPECT_EQ(parse_count("8.5").error().detail, "'8.5' is not a whole number");
}

TEST(ParseCount, OutOfRange_NamesTheBound) {
  const auto why = [](std::string_view text, i64 min) {
    const Diagnostic error = parse_count(text, min).error();
    EXPECT_EQ(error.code, "RW0904") << text;
    return error.detail;
  };
  EXPECT_EQ(why("0", 1), "0 is less than 1");
  EXPECT_EQ(why("-3", 0), "-3 is less than 0");
  EXPECT_EQ(why("-99999999999999999999", 1), "-99999999999999999999 is less than 1");
  EXPECT_EQ(why("1125899906842625", 1),
            "1125899906842625 is more than 1,125,899,906,842,624 (2^50)");
  EXPECT_EQ(why("99999999999999999999", 1),
            "99999999999999999999 is more than 1,125,899,906,842,624 (2^50)");
}

RC_GTEST_PROP(ParseCount, RoundTripsWithCount, ()) {
  const i64 n = *rc::gen::inRange<i64>(0, kMaxCount + 1);
  RC_ASSERT(parse_count(count(n), 0).value() == n);
  RC_ASSERT(parse_count(std::to_string(n), 0).value() == n);
}

RC_GTEST_PROP(ParseQuantity, AnyText_GivesAValueOrAnError, (const std::string& text)) {
  const Result<Bytes> bytes = parse_bytes(text);
  if (!bytes) RC_ASSERT(!bytes.error().detail.empty());
  const Result<i64> n = parse_count(text);
  if (n)
    RC_ASSERT(*n >= 1 && *n <= kMaxCount);
  else
    RC_ASSERT(!n.error().detail.empty());
}

}  // namespace quantity_test
}  // namespace rankwright
