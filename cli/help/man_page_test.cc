// Manual pages match help. tests/man_pages_test.py checks that man and mandoc read them without a
// warning.
#include "cli/help/man_page.h"

#include <gmock/gmock.h>

#include "cli/option_rows.h"
#include "tests/support/run_command.h"

namespace rankwright::cli {
namespace man_page_test {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Roff, SpecialCharacters_AreEscaped) {
  EXPECT_EQ(escape_roff("plain"), "plain");
  EXPECT_EQ(escape_roff(".json for Chrome's viewer"), "\\&.json for Chrome\\(aqs viewer");
  EXPECT_EQ(escape_roff("--for"), "\\-\\-for");
  EXPECT_EQ(escape_roff("a\\b"), "a\\eb");
}

TEST(ManPage, Verb_HasEveryFlagWithItsHelp) {
  ASSERT_FALSE(verbs().empty());
  for (const Verb& verb : verbs()) {
    const std::string page = make_man_page(verb);
    ASSERT_FALSE(list_option_rows(verb).empty()) << verb.name;
    for (const OptionRow& row : list_option_rows(verb)) {
      for (const std::string& flag : row.flags)
        EXPECT_THAT(page, HasSubstr("\\fB" + escape_roff(flag) + "\\fR")) << verb.name;
      EXPECT_THAT(page, HasSubstr(escape_roff(row.help).substr(1))) << verb.name;
    }
    EXPECT_THAT(page, HasSubstr("\n" + escape_roff(verb.example) + "\n"));
  }
}

TEST(ManPage, Program_NamesEveryVerb) {
  ASSERT_FALSE(verbs().empty());
  for (const Verb& verb : verbs())
    EXPECT_THAT(make_man_page(), HasSubstr(".TP\n\\fB" + std::string(verb.name) + "\\fR\n"));
}

TEST(ManPage, HelpMan_PrintsThePage) {
  EXPECT_EQ(run_command({"help", "--man"}).out, make_man_page());
  EXPECT_EQ(run_command({"help", "--man", "check"}).out, make_man_page(verb("check")));
  EXPECT_THAT(make_man_page(verb("check")), StartsWith(".TH RANKWRIGHT\\-CHECK 1 "));
  EXPECT_EQ(run_command({"help", "--man", "chek"}).code, 64);
}

TEST(OptionRows, EveryVerb_MatchesHelp) {
  ASSERT_FALSE(verbs().empty());
  for (const Verb& verb : verbs()) {
    const std::string help = run_command({"help", std::string(verb.name)}, "", false, 400).out;
    ASSERT_FALSE(list_option_rows(verb).empty()) << verb.name;
    for (const OptionRow& row : list_option_rows(verb)) {
      std::string line = "\n  " + row.name;
      for (const std::string& flag : row.flags) line += (&flag == &row.flags[0] ? "" : ",") + flag;
      EXPECT_THAT(help, HasSubstr(line + (row.value.empty() ? "" : " " + row.value)));
    }
  }
}

TEST(OptionRows, RequiredArgumentMissing_DoesNotRunTheVerb) {
  const std::vector<OptionRow> rows = list_option_rows(verb("run"));  // its plan is required
  EXPECT_EQ(rows.front().flags, (std::vector<std::string>{"-h", "--help"}));
  EXPECT_EQ(rows[5].name, "plan");
  EXPECT_TRUE(rows[5].required);
  EXPECT_EQ(rows[2].flags, (std::vector<std::string>{"-o", "--output"}));
  EXPECT_EQ(rows[2].type, "FILE");
}

}  // namespace man_page_test
}  // namespace rankwright::cli
