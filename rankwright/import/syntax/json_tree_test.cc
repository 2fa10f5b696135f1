#include "rankwright/import/syntax/json_tree.h"

#include <gtest/gtest.h>

namespace rankwright::importer {
namespace json_tree_test {

TEST(JsonTree, EveryValueHasItsLocation) {
  const Result<YamlNode> root = read_json_tree("{\n  \"zero\": {\"stage\": 3}\n}\n", "a.json");
  ASSERT_TRUE(root.has_value());
  const YamlNode* const stage = root->find("zero")->find("stage");
  ASSERT_NE(stage, nullptr);
  EXPECT_EQ(stage->scalar, "3");
  EXPECT_EQ(stage->line, 2);
  EXPECT_EQ(stage->column, 21);  // two blanks, "zero": {"stage":
}

TEST(JsonTree, TabsCountAsBlanks) {
  const Result<YamlNode> root =
      read_json_tree("{\n\t\"a\":\t1,\n\t\"b\": [true, null]\n}", "a.json");
  ASSERT_TRUE(root.has_value());
  EXPECT_EQ(root->find("a")->scalar, "1");
  EXPECT_EQ(root->find("a")->column, 7);
  EXPECT_EQ(root->find("b")->items[0].scalar, "true");
}

TEST(JsonTree, InvalidJson_HasItsLocation) {
  const Result<YamlNode> root = read_json_tree("{\n  \"a\": 1,\n}\n", "a.json");
  ASSERT_FALSE(root.has_value());
  EXPECT_EQ(root.error().code, "RW0901");
  EXPECT_EQ(root.error().where.line, 3);
  EXPECT_EQ(root.error().where.column, 1);
}

TEST(JsonTree, YamlThatIsNotJson_IsRejected) {
  for (const char* const text : {"a: 1\n", "{a: 1}", "{'a': 1}", "{\"a\": &x 1, \"b\": *x}", ""})
    EXPECT_FALSE(read_json_tree(text, "a.json").has_value()) << text;
}

TEST(JsonTree, NestingIsBounded) {
  const std::string deep = std::string(5000, '[') + std::string(5000, ']');
  const Result<YamlNode> root = read_json_tree(deep, "a.json");
  ASSERT_FALSE(root.has_value());
  EXPECT_EQ(root.error().code, "RW0906");
  EXPECT_EQ(root.error().detail, read_yaml(deep, "a.yaml").error().detail);
}

TEST(JsonTree, DuplicateKey_IsRejected) {
  const Result<YamlNode> root = read_json_tree("{\"a\": 1,\n \"a\": 2}", "a.json");
  ASSERT_FALSE(root.has_value());
  EXPECT_EQ(root.error().code, "RW0905");
  EXPECT_EQ(root.error().where.line, 2);
}

TEST(JsonTree, CommentedJson_AllowsCommentsAndTrailingCommas) {
  const std::string text =
      "{\n  // one\n  \"a\": \"x // y, }\",  # two\n  \"b\": [1, 2, /* three\n */ ],\n  \"c\": "
      "3,\n}\n";
  EXPECT_FALSE(read_json_tree(text, "a.json").has_value());
  const Result<YamlNode> root = read_commented_json_tree(text, "a.json");
  ASSERT_TRUE(root.has_value());
  EXPECT_EQ(root->find("a")->scalar, "x // y, }");
  EXPECT_EQ(root->find("b")->items.size(), 2u);
  EXPECT_EQ(root->find("c")->line, 6);
  EXPECT_EQ(root->find("c")->column, 8);
}

TEST(JsonTree, CommentedJson_RejectsOtherErrors) {
  for (const char* const text : {"{\"a\": 1,, }", "{,}", "{\"a\": /", "{\"a\" 1}", "/* {} "})
    EXPECT_FALSE(read_commented_json_tree(text, "a.json").has_value()) << text;
}

}  // namespace json_tree_test
}  // namespace rankwright::importer
