#include "rankwright/planner/plan/plan_amounts.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace rankwright::planner {
namespace plan_amounts_test {

TEST(ParseGpus, NumberOrRange_IsParsed) {
  EXPECT_EQ(parse_gpus("64").value(), (search::Range{64, 64}));
  EXPECT_EQ(parse_gpus("8..1,024").value(), (search::Range{8, 1024}));
  for (const char* wrong : {"", "x", "0", "8..", "..8", "9..8", "5000000", "8-16"})
    EXPECT_FALSE(parse_gpus(wrong)) << wrong;
}

TEST(ParseExcluded, HostsOrTheirNumber_AreParsed) {
  // A number alone names a host; it does not count hosts.
  EXPECT_EQ(parse_excluded("4").value().count, 1);
  EXPECT_EQ(parse_excluded("4").value().hosts, (std::vector<i64>{4}));
  EXPECT_EQ(parse_excluded_count("4").value().count, 4);
  EXPECT_TRUE(parse_excluded_count("4").value().hosts.empty());
  EXPECT_FALSE(parse_excluded_count("3,4"));
  EXPECT_EQ(parse_excluded("17, 3,120-122").value().hosts,
            (std::vector<i64>{3, 17, 120, 121, 122}));
  EXPECT_EQ(parse_excluded("3,3").value().count, 1);
  EXPECT_EQ(parse_excluded("0,").value().hosts, (std::vector<i64>{0}));
  for (const char* wrong : {"", ",", "3-1,", "-3", "a,b", "1-99999999999"})
    EXPECT_FALSE(parse_excluded(wrong)) << wrong;
}

TEST(ParseSlowdown, Percentages_AreParsed) {
  EXPECT_DOUBLE_EQ(parse_slowdown("5%").value(), 0.05);
  EXPECT_DOUBLE_EQ(parse_slowdown(" 2.5 % ").value(), 0.025);
  EXPECT_DOUBLE_EQ(parse_slowdown("0").value(), 0);
  for (const char* wrong : {"", "%", "-1%", "1001%", "nan", "5%%", "x"})
    EXPECT_FALSE(parse_slowdown(wrong)) << wrong;
}

TEST(ParseTokens, Suffixes_AreParsed) {
  EXPECT_DOUBLE_EQ(parse_tokens("15T").value(), 15e12);
  EXPECT_DOUBLE_EQ(parse_tokens("300 b").value(), 300e9);
  EXPECT_DOUBLE_EQ(parse_tokens("2.5m").value(), 2.5e6);
  EXPECT_DOUBLE_EQ(parse_tokens("1,000").value(), 1000);
  for (const char* wrong : {"", "T", "-1T", "0", "1Q", "2000000T", "nan"})
    EXPECT_FALSE(parse_tokens(wrong)) << wrong;
}

TEST(ParsePrice, Currency_IsKept) {
  const Price plain = parse_price("2.10").value(), before = parse_price("$2.10").value(),
              after = parse_price("1,200.5 EUR").value();
  EXPECT_DOUBLE_EQ(plain.amount, 2.1);
  EXPECT_EQ(plain.before + plain.after, "");
  EXPECT_EQ(before.before, "$");
  EXPECT_EQ(after.after, "EUR");
  EXPECT_DOUBLE_EQ(after.amount, 1200.5);
  for (const char* wrong : {"", "free", "0", "2.1.0", "2 or 3", "a very long word 2", "-2", "+2",
                            "$-2", "2-", "- 2", "a b 2", " "})
    EXPECT_FALSE(parse_price(wrong)) << wrong;
}

TEST(ParseBudget, ScalesAndCurrencies_AreRead) {
  const auto amount = [](const char* text) { return parse_budget(text).value().amount; };
  EXPECT_DOUBLE_EQ(amount("$2M"), 2e6);
  EXPECT_DOUBLE_EQ(amount("500k"), 5e5);
  EXPECT_DOUBLE_EQ(amount("1.5M EUR"), 1.5e6);
  EXPECT_EQ(parse_budget("1.5M EUR")->after, "EUR");
  EXPECT_DOUBLE_EQ(amount("3000 EUR"), 3000);
  EXPECT_EQ(parse_budget("3000 EUR")->after, "EUR");
  for (const char* wrong : {"", "cheap", "-2M", "2M or 3", "9999T", "0"})
    EXPECT_FALSE(parse_budget(wrong)) << wrong;
}

TEST(ParseMemoryLimit, SizesAndShares_AreRead) {
  EXPECT_DOUBLE_EQ(parse_memory_limit("72GiB")->of(Bytes{1}).value, 72 * 0x1p30);
  EXPECT_DOUBLE_EQ(parse_memory_limit("90%")->of(Bytes{100}).value, 90);
  for (const char* wrong : {"", "%", "0%", "101%", "-5%", "72"})
    EXPECT_FALSE(parse_memory_limit(wrong)) << wrong;
}

TEST(ParseDays, Days_AreSeconds) {
  EXPECT_DOUBLE_EQ(parse_days("1.5").value().value, 129600);  // 1.5 x 86,400
  EXPECT_FALSE(parse_days("0"));
  EXPECT_FALSE(parse_days("soon"));
}

RC_GTEST_PROP(ParseAmounts, RandomText_IsParsedWithinLimitsOrRefused, ()) {
  const std::string text = *rc::gen::container<std::string>(
      rc::gen::elementOf(std::string("0123456789.,-_ TBx$\xe2\n")));
  (void)parse_threads(text);
  const Result<search::Range> gpus = parse_gpus(text);
  if (gpus)
    RC_ASSERT(gpus->min >= 1 && gpus->min <= gpus->max && gpus->max <= cluster::kMaxDevices);
  const Result<ExcludedHosts> out = parse_excluded(text);
  if (out) RC_ASSERT(out->count >= 1 && out->count <= cluster::kMaxDevices + 1);
  const Result<double> tokens = parse_tokens(text);
  if (tokens) RC_ASSERT(*tokens > 0 && *tokens <= 1e18);
  const Result<Price> price = parse_price(text);
  if (price) RC_ASSERT(price->amount > 0 && price->before.size() <= 8);
}

}  // namespace plan_amounts_test
}  // namespace rankwright::planner
