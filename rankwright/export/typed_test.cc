#include "rankwright/export/typed.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>

#include "rankwright/base/quantity.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/import/syntax/yaml.h"

namespace rankwright::exporter {
namespace typed_test {

/// Returns what a YAML reader reads `text` as; checks that it is equal as a value, in a list and in
/// a map.
std::string read_back(const std::string& text) {
  const Result<importer::YamlNode> root = importer::read_yaml(
      "a: " + text + "  # b\nc: {d: " + text + ", e: [" + text + "]}\n", "t.yaml");
  EXPECT_TRUE(root) << text;
  if (!root) return "";
  const importer::YamlNode& map = *root->find("c");
  EXPECT_EQ(root->find("a")->kind, importer::YamlNode::Kind::scalar) << text;
  EXPECT_EQ(map.find("d")->scalar, root->find("a")->scalar) << text;
  EXPECT_EQ(map.find("e")->items[0].scalar, root->find("a")->scalar) << text;
  return root->find("a")->scalar;
}

TEST(TypedText, SafeText_IsNotQuoted) {
  for (const std::string_view plain :
       {"llama-3.1-8b", "meta-llama/Llama-3.1-8B", "dgx-h100 x 8", "E|(t|)*126L", "data sheet"})
    EXPECT_EQ(write_yaml_text(plain), plain);
}

TEST(TypedText, UnsafeText_IsQuoted) {
  EXPECT_EQ(write_yaml_text(""), R"("")");
  EXPECT_EQ(write_yaml_text("a: b"), R"("a: b")");
  EXPECT_EQ(write_yaml_text("a #b"), R"("a #b")");
  EXPECT_EQ(write_yaml_text(R"(say "hi" \o/)"), R"("say \"hi\" \\o/")");
  EXPECT_EQ(write_yaml_text("a\nb\tc"), R"("a\nb\tc")");
  EXPECT_EQ(write_yaml_text(std::string_view("\0\x1b", 2)), R"("\x00\x1b")");
  EXPECT_EQ(write_yaml_text("caf\xC3\xA9"), "\"caf\xC3\xA9\"");
  EXPECT_EQ(write_yaml_text("\xE2\x80\xA8"), R"("\u2028")");          // a line break in YAML 1.1
  EXPECT_EQ(write_yaml_text("\xF3\xBF\xBF\xBF"), R"("\U000fffff")");  // a noncharacter
  EXPECT_EQ(write_yaml_text("a\xFF"), "\"a\xEF\xBF\xBD\"");           // invalid UTF-8
  for (const std::string_view other :
       {"null", "~", "Yes", "OFF", "n", "8", "1e3", "-a", " a", "a "})
    EXPECT_EQ(write_yaml_text(other), "\"" + std::string(other) + "\"");
}

/// Returns text of random bytes, many of which have a meaning in YAML.
std::string random_text() {
  const std::string_view kYamlSpecial = "\"'\\#:,[]{}&*!|>%@` \n\r\t\x04-?~";
  std::string text;
  for (int i = *rc::gen::inRange(0, 12); i > 0; --i) {
    const int kind = *rc::gen::inRange(0, 4);
    if (kind == 0) text += kYamlSpecial[*rc::gen::inRange<std::size_t>(0, kYamlSpecial.size())];
    if (kind == 1) text += char(*rc::gen::inRange(0, 128));
    if (kind == 2)
      text += *rc::gen::elementOf(std::vector<std::string>{
          "\xC2\x85", "\xC2\xA0", "\xE2\x80\xA9", "\xE2\x80\xAE", "\xEF\xBB\xBF", "\xEF\xBF\xBF",
          "\xF0\x9F\x98\x80", "\xE4\xB8\xAD", "\xF4\x8F\xBF\xBF"});
    if (kind == 3) text += *rc::gen::elementOf(std::vector<std::string>{"null", "no", "0x1", "a"});
  }
  return text;
}

RC_GTEST_PROP(TypedText, RandomText_ReadsBack, ()) {
  const std::string text = random_text();
  const std::string yaml = write_yaml_text(text);
  RC_ASSERT(yaml.find('\n') == std::string::npos);
  RC_ASSERT(read_back(yaml) == text);
}

TEST(TypedQuantity, CommonFigures_HaveTheUsualUnit) {
  EXPECT_EQ(write_yaml_value(80.0_GB), "80 GB");
  EXPECT_EQ(write_yaml_value(79.6_GiB), "79.6 GiB");
  EXPECT_EQ(write_yaml_value(*parse_bytes("81559 MiB")), "81559 MiB");
  EXPECT_EQ(write_yaml_value(450.0_GBps), "450 GB/s");
  EXPECT_EQ(write_yaml_value(*parse_bandwidth("400 Gb/s")), "50 GB/s");  // 400 / 8
  EXPECT_EQ(write_yaml_value(*parse_duration("1.2 us")), "1.2 us");
  EXPECT_EQ(write_yaml_value(Seconds{0.25}), "250 ms");
  EXPECT_EQ(write_yaml_value(989.4_TFLOPS), "989.4 TFLOP/s");
  EXPECT_EQ(write_yaml_value(2.5), "2.5");
}

TEST(TypedQuantity, CatalogFigures_AreShort) {
  // No figure of the catalog has more than 7 digits.
  ASSERT_FALSE(catalog::devices().empty());
  ASSERT_FALSE(catalog::systems().empty());
  for (const cluster::Device& d : catalog::devices())
    for (const std::string& text : {write_yaml_value(d.memory),
                                    write_yaml_value(d.memory_bandwidth), write_yaml_value(d.bf16)})
      EXPECT_LE(text.find(' '), 8u) << d.name << ": " << text;
  for (const catalog::System& system : catalog::systems())
    for (const cluster::Level& l : system.unit.levels)
      for (const std::string& text : {write_yaml_value(l.bandwidth), write_yaml_value(l.latency)})
        EXPECT_LE(text.find(' '), 8u) << system.name << ": " << text;
}

/// Returns a positive double with random bits.
double random_double() {
  const std::uint64_t bits = *rc::gen::inRange<std::uint64_t>(1, 0x7FF0000000000000u);
  return std::bit_cast<double>(bits);
}

RC_GTEST_PROP(TypedQuantity, RandomValue_ReadsBackExactly, ()) {
  const double value = random_double();
  RC_ASSERT(parse_bytes(write_yaml_value(Bytes{value}))->value == value);
  RC_ASSERT(parse_bandwidth(write_yaml_value(BytesPerSecond{value}))->value == value);
  RC_ASSERT(parse_duration(write_yaml_value(Seconds{value}))->value == value);
  RC_ASSERT(parse_flops(write_yaml_value(FlopsPerSecond{value}))->value == value);
  RC_ASSERT(*parse_real(write_yaml_value(value)) == value);
}

RC_GTEST_PROP(TypedQuantity, FigureOfFourDigits_StaysAsShort, ()) {
  const std::string typed_by_hand = std::to_string(*rc::gen::inRange(1, 10000)) + " us";
  const std::string text = write_yaml_value(*parse_duration(typed_by_hand));
  RC_ASSERT(text.size() <= typed_by_hand.size());
}

TEST(TypedList, LongLists_BreakUnderTheFirstNumber) {
  const std::vector<i64> few{1, 2, 3};
  EXPECT_EQ(write_yaml_value(few, 5), "[1, 2, 3]");
  EXPECT_EQ(write_yaml_value(std::vector<i64>{}, 5), "[]");
  const std::vector<i64> long_ones(12, 1'000'000'000'000);  // 15 columns each with ", "
  // From column 11 on, 5 numbers end at 11 + 5 * 15 = 86. A sixth needs 13 + 2 columns, more than
  // 100 allows.
  const std::string line = "1000000000000, 1000000000000, 1000000000000, 1000000000000, ";
  EXPECT_EQ(write_yaml_value(long_ones, 10),
            "[" + line + "1000000000000,\n           " + line +
                "1000000000000,\n           1000000000000, 1000000000000]");
}

}  // namespace typed_test
}  // namespace rankwright::exporter
