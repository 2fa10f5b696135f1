#include "rankwright/import/syntax/yaml.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <ctime>
#include <limits>

#include "tests/support/finding_lines.h"

namespace rankwright::importer {
namespace yaml_test {

using Kind = YamlNode::Kind;

std::string fault(std::string_view text, YamlLimits limits = {}) {
  const Result<YamlNode> root = read_yaml(text, "a.yaml", limits);
  return root ? "it is read" : format_findings(root.error());
}

std::string repeat(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

/// Returns the processor time to read or reject `text`, in seconds: the least of three tries.
double cpu_seconds_to_read(const std::string& text) {
  double min = std::numeric_limits<double>::infinity();
  for (int tries = 0; tries < 3; ++tries) {
    const std::clock_t start = std::clock();
    (void)read_yaml(text, "a.yaml");
    min = std::min(min, double(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return min;
}

TEST(Yaml, EveryKeyAndValueHasItsLocation) {
  const Result<YamlNode> root = read_yaml("a: 1\nb:\n  long: [x, yz]\nc:\n", "a.yaml");
  ASSERT_TRUE(root);
  ASSERT_EQ(root->kind, Kind::map);
  EXPECT_EQ(root->entries[0].key.scalar, "a");
  const YamlNode* list = root->find("b")->find("long");
  ASSERT_EQ(list->kind, Kind::sequence);
  EXPECT_EQ(location(list->items[1], "a.yaml"),
            (Location{.file = "a.yaml", .line = 3, .column = 13, .width = 2}));
  EXPECT_EQ(location(root->entries[1].value.entries[0].key, "a.yaml"),
            (Location{.file = "a.yaml", .line = 3, .column = 3, .width = 4}));
  EXPECT_EQ(root->find("c")->kind, Kind::null);
  EXPECT_EQ(root->find("d"), nullptr);
}

TEST(Yaml, EmptyFile_IsNull) {
  for (const std::string_view text : {"", "\n", "# only a remark\n", "---\n"}) {
    const Result<YamlNode> root = read_yaml(text, "a.yaml");
    ASSERT_TRUE(root) << text;
    EXPECT_EQ(root->kind, Kind::null) << text;
  }
}

TEST(Yaml, QuotesAndBlocksAreScalars) {
  const Result<YamlNode> root = read_yaml("a: '8'\nb: |\n  one\n  two\n", "a.yaml");
  ASSERT_TRUE(root);
  EXPECT_EQ(root->find("a")->scalar, "8");
  EXPECT_EQ(root->find("b")->scalar, "one\ntwo\n");
  EXPECT_EQ(root->find("b")->width, 3);  // of the first line
}

TEST(Yaml, InvalidYaml_HasItsLocation) {
  EXPECT_EQ(fault("a: [1, 2\n"), "RW0901 2:1 a [ is never closed");
  EXPECT_EQ(fault("parallelism:\n\ttp_size: 8\n"), "RW0901 2:9 a value stands where none can");
  EXPECT_EQ(fault("a: 1\n---\nb: 2\n"), "RW0901 2:1 a second document begins here");
  EXPECT_EQ(fault("? [a, b]\n: 1\n"), "RW0901 1:3 a key is not a plain word");
  EXPECT_EQ(fault("a: 1\nbb: 2\na: 3\n"), "RW0905 3:1 'a' is already given on line 1");
}

TEST(Yaml, TabIndentation_GetsAHint) {
  const auto hint = [](std::string_view text) { return read_yaml(text, "a.yaml").error().hint; };
  EXPECT_EQ(hint("a:\n  b: 1\n  \tc: 2\n"), "indent with spaces: line 3 begins with a tab");
  EXPECT_EQ(hint("a: [\tb"), "");
}

TEST(Yaml, AliasesAreRejected) {
  // Ten lines of nine aliases each would expand to more than a billion values.
  std::string bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n";
  for (char c = 'b'; c < 'k'; ++c) {
    const std::string from = std::string("*") + char(c - 1) + ", ";
    bomb += fmt::format("{0}: &{0} [{1}x]\n", c, repeat(from, 9));
  }
  EXPECT_EQ(fault(bomb), "RW0906 2:8 YAML aliases (*name) are not read here: write the value out");
  EXPECT_EQ(fault("&a [*a]"),
            "RW0906 1:5 YAML aliases (*name) are not read here: write the value out");
}

TEST(Yaml, BoundsDepthValuesKeysAndBytes) {
  EXPECT_EQ(fault("[[[x]]]", {.depth = 3}), "it is read");
  EXPECT_EQ(fault("[[[x]]]", {.depth = 2}), "RW0906 1:3 it is nested more than 2 deep");
  EXPECT_EQ(fault("[a, b]", {.nodes = 3}), "it is read");
  EXPECT_EQ(fault("[a, b]", {.nodes = 2}), "RW0906 1:1 it has more than 2 values");
  EXPECT_EQ(fault("{a: 1, b: 2}", {.keys = 2}), "it is read");
  EXPECT_EQ(fault("{a: 1, b: 2}", {.keys = 1}), "RW0906 1:11 a map has more than 1 keys");
  EXPECT_EQ(fault("[a]", {.bytes = 3}), "it is read");
  EXPECT_EQ(fault("[a]", {.bytes = 2}), "RW0906 0:0 it has 3 bytes, and at most 2 are read");
}

TEST(Yaml, DeepNestingIsRejected) {
  EXPECT_EQ(fault(repeat("[", 10'000)), "RW0906 1:17 it is nested more than 32 deep");
  EXPECT_EQ(fault(repeat("- ", 10'000)), "RW0906 1:65 it is nested more than 32 deep");
  EXPECT_EQ(fault(repeat("{a: ", 10'000)), "RW0906 1:125 it is nested more than 32 deep");
  EXPECT_EQ(fault(repeat("? ", 10'000)), "RW0906 1:65 it is nested more than 32 deep");
}

TEST(Yaml, HugeMapIsRejected) {
  std::string map;
  for (int i = 0; i < 300'000; ++i) map += fmt::format("k{}: 1\n", i);
  EXPECT_EQ(fault(map), "RW0906 1001:8 a map has more than 1000 keys");
}

TEST(Yaml, ReadingTimeIsNotQuadratic) {
  // Eight times the text takes 8 times as long where the time is linear, 64 times where it is
  // quadratic. Below a hundredth of a second the clock decides, not the reader.
  constexpr int kBytes = 128 << 10;
  for (const std::string_view piece :
       {"[",   "{",     "- ",  "? ",  "a: ",  "a\n",   "'",      "\"\n", "[a,",
        "{a,", "- -\n", "&a ", "!a ", "%\n",  "---\n", "#\n",    "|\n ", "\t",
        " ",   ",",     ":",   "\\",  "\xff", "\r",    "a: b\n", "-\n"}) {
    const int times = kBytes / int(piece.size());
    const double part = cpu_seconds_to_read(repeat(piece, times / 8));
    EXPECT_LT(cpu_seconds_to_read(repeat(piece, times)), 32 * std::max(part, 0.01)) << piece;
  }
}

RC_GTEST_PROP(Yaml, AnyBytes_AreReadOrRejectedWithALocation, (const std::string& text)) {
  const Result<YamlNode> root = read_yaml(text, "a.yaml");
  if (!root) {
    RC_ASSERT(root.error().code.starts_with("RW090"));
    RC_ASSERT(root.error().where.file == "a.yaml");
  }
}

TEST(Yaml, PythonMode_TakesTheLastDuplicateWithAWarning) {
  Diagnostics findings;
  const Result<YamlNode> root = read_python_yaml("a: 1\nb: 2\na: 3\n", "f.yaml", findings);
  ASSERT_TRUE(root.has_value());
  EXPECT_EQ(root->find("a")->scalar, "3");
  EXPECT_EQ(root->entries.size(), 2u);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].code, "RW0905");
  EXPECT_EQ(findings[0].severity, Severity::warning);
  EXPECT_EQ(findings[0].where.line, 3);
}

}  // namespace yaml_test
}  // namespace rankwright::importer
