#include "rankwright/import/syntax/yaml.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <ctime>
#include <limits>

#include "tests/support/finding_lines.h"
#include "tests/support/golden.h"
#include "tests/support/input_lines.h"

namespace rankwright::importer {
namespace yaml_test {

using Kind = YamlNode::Kind;

/// Returns the fault of `text` with its hint.
std::string limit_fault(std::string_view text, YamlLimits limits) {
  const Result<YamlNode> root = read_yaml(text, "a.yaml", limits);
  return root ? "it is read" : format_findings(Diagnostics{root.error()});
}

std::string fault(const std::string& text) { return limit_fault(text, {}); }

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
  golden::expect("import/yaml-invalid.txt",
                 transcribe({"a: [1, 2\n", "a: 1\n---\nb: 2\n", "? [a, b]\n: 1\n",
                             "a: 1\nbb: 2\na: 3\n", "parallelism:\n\ttp_size: 8\n"},
                            fault));
}

TEST(Yaml, TabIndentation_GetsAHint) {
  const auto hint = [](std::string_view text) { return read_yaml(text, "a.yaml").error().hint; };
  golden::expect("import/yaml-tab-hint.txt", transcribe({"a:\n  b: 1\n  \tc: 2\n"}, hint));
  EXPECT_EQ(hint("a: [\tb"), "");
}

TEST(Yaml, BoundsDepthValuesKeysAndBytes) {
  EXPECT_EQ(limit_fault("[[[x]]]", {.depth = 3}), "it is read");
  EXPECT_EQ(limit_fault("[a, b]", {.nodes = 3}), "it is read");
  EXPECT_EQ(limit_fault("{a: 1, b: 2}", {.keys = 2}), "it is read");
  EXPECT_EQ(limit_fault("[a]", {.bytes = 3}), "it is read");
  golden::expect("import/yaml-limits.txt",
                 format_case("3 of 2 levels", limit_fault("[[[x]]]", {.depth = 2})) +
                     format_case("3 of 2 values", limit_fault("[a, b]", {.nodes = 2})) +
                     format_case("2 of 1 keys", limit_fault("{a: 1, b: 2}", {.keys = 1})) +
                     format_case("3 of 2 bytes", limit_fault("[a]", {.bytes = 2})));
}

TEST(Yaml, AliasesDeepNestingAndHugeMapsAreRejected) {
  // Ten lines of nine aliases each would expand to more than a billion values.
  std::string bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n";
  for (char c = 'b'; c < 'k'; ++c) {
    const std::string from = std::string("*") + char(c - 1) + ", ";
    bomb += fmt::format("{0}: &{0} [{1}x]\n", c, repeat(from, 9));
  }
  std::string map;
  for (int i = 0; i < 300'000; ++i) map += fmt::format("k{}: 1\n", i);
  golden::expect("import/yaml-hostile.txt",
                 transcribe({bomb, "&a [*a]"}, fault) +
                     format_case("10,000 times '['", fault(repeat("[", 10'000))) +
                     format_case("10,000 times '- '", fault(repeat("- ", 10'000))) +
                     format_case("10,000 times '{a: '", fault(repeat("{a: ", 10'000))) +
                     format_case("10,000 times '? '", fault(repeat("? ", 10'000))) +
                     format_case("a map of 300,000 keys", fault(map)));
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
  Diagnostics maps;
  ASSERT_TRUE(read_python_yaml("a:\n  x: 1\na:\n  y: 2\n", "f.yaml", maps).has_value());
  EXPECT_THAT(maps.at(0).detail, ::testing::HasSubstr("already given on line 1"));
}

TEST(Yaml, PythonMode_ExpandsAliasesAndMerges) {
  Diagnostics findings;
  const Result<YamlNode> root = read_python_yaml(
      "n: &n 4\nbase: &base {a: 1, b: 2}\nmore: &more {b: 5, c: 6}\n"
      "both:\n  <<: [*base, *more]\n  a: *n\nlist: [*n, *n]\n",
      "f.yaml", findings);
  ASSERT_TRUE(root.has_value()) << root.error().detail;
  const YamlNode& both = *root->find("both");
  EXPECT_EQ(both.entries.size(), 3u);
  EXPECT_EQ(both.find("a")->scalar, "4");  // its own value before that of a base
  EXPECT_EQ(both.find("b")->scalar, "2");  // the first base before the second
  EXPECT_EQ(both.find("c")->scalar, "6");
  EXPECT_EQ(root->find("list")->items[1].scalar, "4");
  EXPECT_TRUE(findings.empty());
}

TEST(Yaml, PythonMode_AliasesCountTowardTheLimits) {
  std::string wide = "a: &a [x, x, x, x, x, x, x, x, x]\n", deep = "a: &a [x]\n";
  for (char c = 'b'; c < 'k'; ++c) {
    wide += fmt::format("{0}: &{0} [{1}x]\n", c, repeat(std::string("*") + char(c - 1) + ", ", 9));
    deep += fmt::format("{0}: &{0} [[[[*{1}]]]]\n", c, char(c - 1));
  }
  const std::string bytes =
      fmt::format("a: &a {}\nb: [{}]\n", repeat("x", 100'000), repeat("*a, ", 100));
  for (const std::string& text : {wide, deep, bytes, std::string("&a [*a]")}) {
    Diagnostics findings;
    const Result<YamlNode> root = read_python_yaml(text, "f.yaml", findings);
    ASSERT_FALSE(root.has_value()) << text.substr(0, 40);
    EXPECT_EQ(root.error().code, "RW0906");
  }
}

}  // namespace yaml_test
}  // namespace rankwright::importer
