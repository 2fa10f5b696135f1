#include "rankwright/import/syntax/python_text.h"

#include <gmock/gmock.h>

namespace rankwright::importer {
namespace python_text_test {

using ::testing::ElementsAre;
using ::testing::Optional;

TEST(PythonText, Statements_SpanTheLinesOfTheirBrackets) {
  const std::string text = blank_python_comments(
      "a = 1  # one\n\nif b:\n    call(x,  # first (\n         y)\n\"\"\"c = 3\n\"\"\"\nd = 4\n");
  const std::vector<PythonStatement> all = split_statements(text);
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].text, "a = 1");
  EXPECT_EQ(all[2].indent, 4U);
  EXPECT_EQ(all[2].line, 4);
  EXPECT_EQ(all[3].text, "d = 4");
  EXPECT_EQ(all[3].line, 8);
}

TEST(PythonText, ArgumentsAndParameters) {
  EXPECT_THAT(split_arguments("a, f(b, c), d=[1, 2])"), ElementsAre("a", "f(b, c)", "d=[1, 2]"));
  EXPECT_THAT(split_arguments("a: int = 4,\n)"), ElementsAre("a: int = 4"));
  const PythonArgument typed = parse_argument("tp: int = 4");
  EXPECT_EQ(typed.name, "tp");
  EXPECT_EQ(typed.value, "4");
  EXPECT_EQ(parse_argument("path: str").name, "path");
  EXPECT_EQ(parse_argument("path: str").value, "");
  EXPECT_EQ(parse_argument("a == b").name, "");
  EXPECT_EQ(parse_argument("4").value, "4");
}

TEST(PythonText, ValuesOfNamesAndExpressions) {
  PythonScope scope;
  const auto text = [&](std::string_view expression) -> std::optional<std::string> {
    const std::optional<PythonValue> value = scope.find(expression);
    return value ? std::optional(value->text) : std::nullopt;
  };
  scope.set("tp", PythonValue{"4", "tp"}, false);
  scope.set("name", PythonValue{"llama", ""}, true);
  EXPECT_THAT(text("tp * 2 + 1_000"), Optional(std::string("1008")));
  EXPECT_THAT(text("7 // 2"), Optional(std::string("3")));
  EXPECT_THAT(text("name"), Optional(std::string("llama")));
  EXPECT_THAT(text("'a b'"), Optional(std::string("a b")));
  EXPECT_THAT(text("torch.bfloat16"), Optional(std::string("bf16")));
  EXPECT_EQ(text("4 / 2"), std::nullopt);  // no whole number
  EXPECT_EQ(text("1e-4"), std::nullopt);
  EXPECT_EQ(text("count()"), std::nullopt);
  EXPECT_EQ(scope.find("tp * 2")->assumed, "tp");
  scope.leave_function();
  EXPECT_EQ(text("tp"), std::nullopt);
  scope.set("name", std::nullopt, true);
  EXPECT_EQ(text("name"), std::nullopt);
}

TEST(PythonText, Conditions) {
  PythonScope scope;
  scope.set("cp", PythonValue{"1", ""}, false);
  scope.set("length", PythonValue{"131072", ""}, false);
  scope.set("size", PythonValue{"8b", ""}, false);
  scope.set("path", PythonValue{"None", ""}, false);
  EXPECT_THAT(scope.test("cp > 1 or length <= 131072"), Optional(true));
  EXPECT_THAT(scope.test("cp > 1 and length <= 131072"), Optional(false));
  EXPECT_THAT(scope.test("not (cp == 1)"), Optional(false));
  EXPECT_THAT(scope.test("size == \"8b\""), Optional(true));
  EXPECT_THAT(scope.test("size != '8b'"), Optional(false));
  EXPECT_THAT(scope.test("path is None"), Optional(true));
  EXPECT_THAT(scope.test("path is not None"), Optional(false));
  EXPECT_THAT(scope.test("path"), Optional(false));
  EXPECT_EQ(scope.test("other > 1"), std::nullopt);
  EXPECT_EQ(scope.test("size in ('8b', '70b')"), std::nullopt);
}

}  // namespace python_text_test
}  // namespace rankwright::importer
