#include "rankwright/export/quote.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rankwright/import/syntax/shell_words.h"
#include "rankwright/import/syntax/toml_tree.h"

namespace rankwright::exporter {
namespace quote_test {

TEST(QuotePython, NonAsciiText_IsEscaped) {
  EXPECT_EQ(quote_python("1F1B"), "\"1F1B\"");
  EXPECT_EQ(quote_python("a\"b\\c\n"), R"("a\"b\\c\u000a")");
  EXPECT_EQ(quote_python("\xE2\x80\xA8\xF0\x9F\x98\x80\xFF"), R"("\u2028\U0001f600\ufffd")");
}

TEST(ShellWord, SpecialCharacters_AreQuoted) {
  EXPECT_EQ(quote_script_word("plan.yaml"), "plan.yaml");
  EXPECT_EQ(quote_script_word(""), "''");
  EXPECT_EQ(quote_script_word("it's $(x)"), R"('it'\''s $(x)')");
}

RC_GTEST_PROP(ShellWord, RandomText_ReadsBack, ()) {
  const std::string text = *rc::gen::container<std::string>(rc::gen::inRange(' ', '\x7F'));
  // The reader expands a quoted text that looks like a command for another shell.
  RC_PRE(text.find(" --") == std::string::npos || text.find('$') == std::string::npos);
  const importer::ShellScript script =
      importer::read_shell("A=" + quote_script_word(text) + "\nB=1\n");
  RC_ASSERT(script.variables.at("A").text == text);
  RC_ASSERT(script.variables.at("B").text == "1");
}

TEST(QuoteToml, SpecialText_ReadsBack) {
  for (const std::string text : {"", "a", "\"", "\\", "'''", "\"\"\"", "a\nb\x01", "\xE2\x80\xA8",
                                 "\xF0\x9F\x98\x80", "]\n[x]\ny = 1"}) {
    const Result<importer::YamlNode> root =
        importer::read_toml_tree("a = " + quote_toml(text) + "\n", "a.toml");
    ASSERT_TRUE(root.has_value()) << text;
    EXPECT_EQ(root->find("a")->scalar, text);
    EXPECT_EQ(root->entries.size(), 1u);
  }
}

}  // namespace quote_test
}  // namespace rankwright::exporter
