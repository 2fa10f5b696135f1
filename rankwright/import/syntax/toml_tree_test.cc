#include "rankwright/import/syntax/toml_tree.h"

#include <gmock/gmock.h>

namespace rankwright::importer {
namespace toml_tree_test {

TEST(TomlTree, EveryValueHasItsLocation) {
  const Result<YamlNode> root = read_toml_tree(
      "# a comment\n[parallelism]\ntensor_parallel_degree = 8\nname = \"x\"  # y\n", "a.toml");
  ASSERT_TRUE(root.has_value());
  const YamlNode* const degree = root->find("parallelism")->find("tensor_parallel_degree");
  ASSERT_NE(degree, nullptr);
  EXPECT_EQ(degree->scalar, "8");
  EXPECT_EQ(degree->line, 3);
  EXPECT_EQ(degree->column, 26);  // 22 letters, " = "
  EXPECT_EQ(degree->width, 1);
  EXPECT_EQ(root->find("parallelism")->find("name")->scalar, "x");
}

TEST(TomlTree, ReadsEveryKindOfValue) {
  const Result<YamlNode> root = read_toml_tree(
      "on = true\nshare = 0.5\nwhen = 1979-05-27\nlist = [1, 2]\nminus = -1\na.b = 'c'\n",
      "a.toml");
  ASSERT_TRUE(root.has_value());
  EXPECT_EQ(root->find("on")->scalar, "true");
  EXPECT_EQ(root->find("share")->scalar, "0.5");
  EXPECT_EQ(root->find("when")->scalar, "1979-05-27");
  EXPECT_EQ(root->find("list")->items[1].scalar, "2");
  EXPECT_EQ(root->find("minus")->scalar, "-1");
  EXPECT_EQ(root->find("a")->find("b")->scalar, "c");
}

TEST(TomlTree, InvalidToml_HasItsLocation) {
  const Result<YamlNode> root = read_toml_tree("a = 1\nb = \n", "a.toml");
  ASSERT_FALSE(root.has_value());
  EXPECT_EQ(root.error().code, "RW0901");
  EXPECT_EQ(root.error().where.line, 2);
  EXPECT_FALSE(root.error().detail.empty());
}

std::string dotted_key(std::size_t parts) {
  std::string key = "a";
  for (std::size_t i = 1; i < parts; ++i) key += ".a";
  return key;
}

TEST(TomlTree, DottedKey_SixtyFourParts_AreRead) {
  EXPECT_TRUE(read_toml_tree(dotted_key(64) + " = 1\n", "a.toml").has_value());
  EXPECT_TRUE(read_toml_tree("[" + dotted_key(64) + "]\n", "a.toml").has_value());
}

TEST(TomlTree, DottedKey_MoreParts_AreRefused) {
  // A key of this kind with 40 kB overflows the stack in toml++ 3.3.
  for (const std::size_t parts : {65, 20'000})
    for (const std::string& text :
         {dotted_key(parts) + " = 1\n", "[" + dotted_key(parts) + "]\n",
          "[[" + dotted_key(parts) + "]]\n", "a = {" + dotted_key(parts) + " = 1}\n"}) {
      const Result<YamlNode> root = read_toml_tree(text, "a.toml");
      ASSERT_FALSE(root.has_value());
      EXPECT_EQ(root.error().code, "RW0901");
      EXPECT_EQ(root.error().where.line, 1);
    }
}

TEST(TomlTree, DottedKey_InNestedTables_CountsTheirPartsToo) {
  // 4 tables of 20 parts each have 76 dots together; each alone has 19.
  const std::string part = dotted_key(20) + " = {";
  EXPECT_FALSE(read_toml_tree(part + part + part + part + "}}}}\n", "a.toml").has_value());
}

TEST(TomlTree, Fractions_InALongList_AreNotKeys) {
  std::string list = "a = [0.5";
  for (int i = 0; i < 200; ++i) list += ", 0.5";
  EXPECT_TRUE(read_toml_tree(list + "]\n", "a.toml").has_value());
}

TEST(TomlTree, NestingIsBounded) {
  const std::string deep = "a = " + std::string(5000, '[') + std::string(5000, ']');
  EXPECT_FALSE(read_toml_tree(deep, "a.toml").has_value());
}

}  // namespace toml_tree_test
}  // namespace rankwright::importer
