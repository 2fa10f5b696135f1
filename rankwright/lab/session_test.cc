// The dialog of a lab: what is printed for each kind of line, and the score.
#include "rankwright/lab/session.h"

#include <gmock/gmock.h>

#include "tests/support/golden.h"

namespace rankwright::lab {
namespace session_test {

using ::testing::HasSubstr;
using ::testing::Not;

/// Types the lines and returns everything that is printed.
std::string type(Session& session, const std::vector<std::string>& lines) {
  std::string out = session.begin();
  for (const std::string& line : lines) {
    EXPECT_FALSE(session.done()) << line;
    out += session.reply(line);
  }
  return out + session.end();
}

Session start(i64 lab) { return Session(*find_lab(lab), {.width = 80}, importer::refuse_file); }

TEST(Session, Dialog_MatchesGolden) {
  Session session = start(3);
  // A mistake, all hints, right; then right at once; then skip, show, and quit.
  const std::string text = type(session, {"37.5 %", "hint", "hint", "hint", "hint", "27.3 %", "4",
                                          "skip", " SHOW ", "many", "quit"});
  golden::expect("lab/03-session.txt", text);
  EXPECT_TRUE(session.done());
  EXPECT_FALSE(session.all_right());
}

TEST(Session, Reveal_ComesAfterTheLastQuestionOfItsStep) {
  Session session = start(3);
  session.begin();
  EXPECT_THAT(session.reply("27.3 %"), Not(HasSubstr("idle time is the bubble")));
  EXPECT_THAT(session.reply("4"), HasSubstr("idle time is the bubble"));
}

TEST(Session, AllRight_EndsAfterTheLastQuestion) {
  Session session = start(6);
  const std::string text =
      type(session, {"2", "8", "infiniband", "2.73", "812",
                     "{parallelism: {tp_size: 8, pp_size: 4, dp_size: 2, order: dp-pp-tp}, "
                     "placement: cyclic}"});
  EXPECT_TRUE(session.done());
  EXPECT_TRUE(session.all_right()) << text;
  EXPECT_THAT(text, HasSubstr("lab 6: 6 of 6 right\n"));
}

TEST(Session, EndOfInput_GivesTheScore) {
  Session session = start(3);
  EXPECT_THAT(type(session, {"27.3 %"}), HasSubstr("lab 3: 1 of 7 right, 6 open\n"));
  EXPECT_FALSE(session.all_right());
}

TEST(Session, HostileLines_AreRefusedAndTheQuestionStays) {
  Session session = start(3);
  session.begin();
  const std::vector<std::string> lines = {"",
                                          "# 27.3 %",
                                          "[27.3 %",
                                          "{a: {b: [c",
                                          "27.3 %: 4",
                                          "&a 4",
                                          "*a",
                                          "!!binary x",
                                          "27.3 %\\nheld: 4",
                                          "\x1b[2J\xff",
                                          "- 1",
                                          std::string(100'000, '9')};
  for (const std::string& line : lines) {
    const std::string reply = session.reply(line);
    EXPECT_THAT(reply, HasSubstr("hint, show, skip or quit")) << line.substr(0, 40);
    EXPECT_LT(reply.size(), 1000u) << line.substr(0, 40);
  }
  EXPECT_THAT(session.reply("27.3 %"), HasSubstr("right"));
}

}  // namespace session_test
}  // namespace rankwright::lab
