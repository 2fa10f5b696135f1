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
  EXPECT_EQ(roff("plain"), "plain");
  EXPECT_EQ(roff(".json for Chrome's viewer"), "\\&.json for Chrome\\(aqs viewer");
  EXPECT_EQ(roff("--for"), "\\-\\-for");
  EXPECT_EQ(roff("a\\b"), "a\\eb");
}

TEST(ManPage, Verb_HasEveryFlagWithItsHelp) {
  for (const Verb& verb : verbs()) {
    const std::string page = man_page(verb);
    for (const OptionRow& row : option_rows(verb)) {
      for (const std::string& flag : row.flags)
        EXPECT_THAT(page, HasSubstr("\\fB" + roff(flag) + "\\fR")) << verb.name;
      EXPECT_THAT(page, HasSubstr(roff(row.help).substr(1))) << verb.name;
    }
    EXPECT_THAT(page, HasSubstr("\n" + roff(verb.example) + "\n"));
  }
}

TEST(ManPage, Program_NamesEveryVerb) {
  for (const Verb& verb : verbs())
    EXPECT_THAT(man_page(), HasSubstr(".TP\n\\fB" + std::string(verb.name) + "\\fR\n"));
}

TEST(ManPage, HelpMan_PrintsThePage) {
  EXPECT_EQ(say({"help", "--man"}).out, man_page());
  EXPECT_EQ(say({"help", "--man", "check"}).out, man_page(verb("check")));
  EXPECT_THAT(man_page(verb("check")), StartsWith(".TH RANKWRIGHT\\-CHECK 1 "));
  EXPECT_EQ(say({"help", "--man", "chek"}).code, 64);
}

TEST(OptionRows, EveryVerb_MatchesHelp) {
  for (const Verb& verb : verbs()) {
    const std::string help = say({"help", std::string(verb.name)}).out;
    for (const OptionRow& row : option_rows(verb)) {
      std::string line = "\n  " + row.name;
      for (const std::string& flag : row.flags) line += (&flag == &row.flags[0] ? "" : ",") + flag;
      EXPECT_THAT(help, HasSubstr(line + (row.value.empty() ? "" : " " + row.value)));
    }
  }
}

TEST(OptionRows, RequiredArgumentMissing_DoesNotRunTheVerb) {
  const std::vector<OptionRow> rows = option_rows(verb("run"));  // its plan is required
  EXPECT_EQ(rows.front().flags, (std::vector<std::string>{"-h", "--help"}));
  EXPECT_EQ(rows[5].name, "plan");
  EXPECT_TRUE(rows[5].required);
  EXPECT_EQ(rows[2].flags, (std::vector<std::string>{"-o", "--output"}));
  EXPECT_EQ(rows[2].type, "FILE");
}

}  // namespace man_page_test
}  // namespace rankwright::cli
