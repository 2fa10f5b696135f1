// `rankwright lab --quiz` from its command line to its progress file.
#include "cli/lab/quiz.h"

#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/golden.h"
#include "tests/support/run_command.h"
#include "tests/support/transcript.h"

namespace rankwright::cli {
namespace lab_quiz_test {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

/// Answers a quiz from text, as --answers does.
CommandResult answer(std::vector<std::string> flags, const std::string& lines,
                     std::size_t width = 120) {
  std::vector<std::string> args{"lab", "--quiz", "--answers", "-"};
  args.insert(args.end(), flags.begin(), flags.end());
  return run_command(args, lines, false, width);
}

TEST(LabQuiz, Cases_ShowWhatEveryChoiceCosts) {
  const CommandResult said = answer({"--cases", "--count", "4", "--seed", "3"}, "1\n2\ntp\nx\n");
  EXPECT_EQ(said.code, 0) << said.err;
  golden::expect("lab/quiz-cases.txt", said.out);
}

TEST(LabQuiz, Cards_AreShownAfterTheAnswer) {
  const CommandResult said =
      answer({"--cards", "--count", "3", "--seed", "12"}, "16 bytes\ny\nx\nn\n\n\n");
  EXPECT_EQ(said.code, 0) << said.err;
  golden::expect("lab/quiz-cards.txt", said.out);
}

TEST(LabQuiz, Seed_DrawsTheSameQuestions) {
  const std::vector<std::string> flags{"--count", "6", "--seed", "7"};
  EXPECT_EQ(answer(flags, "a\nb\n1\n").out, answer(flags, "a\nb\n1\n").out);
  EXPECT_NE(answer(flags, "").out, answer({"--count", "6", "--seed", "8"}, "").out);
}

TEST(LabQuiz, EndOfInput_EndsWithTheScore) {
  const CommandResult said = answer({"--seed", "1"}, "");
  EXPECT_EQ(said.code, 0);
  EXPECT_THAT(said.out, HasSubstr("Score: 0 of 0 right. 10 not asked."));
}

TEST(LabQuiz, FitsNarrowTerminals) {
  for (const std::size_t width : {std::size_t{60}, std::size_t{80}}) {
    const CommandResult said = answer({"--count", "9", "--seed", "2"}, "a\ny\n1\nb\ny\n2\n", width);
    for (const std::string& line : golden::lines(said.out))
      EXPECT_LE(line.size(), width + 8) << line;  // "·" has two bytes
  }
}

TEST(LabQuiz, Progress_RemembersWhatIsKnown) {
  const Scratch file("quiz.json");
  const std::vector<std::string> flags{"--cards", "--count",    "1",         "--seed",
                                       "1",       "--progress", file.path(), "--date"};
  const auto on = [&](const std::string& day) {
    std::vector<std::string> all = flags;
    all.push_back(day);
    return all;
  };
  const CommandResult first = answer(on("2026-11-17"), "\ny\n\ny\n");
  EXPECT_EQ(first.code, 0) << first.err;
  const json saved = json::parse(golden::read(file.path()));
  EXPECT_EQ(saved["schema"], "rankwright.quiz/1");
  ASSERT_EQ(saved["cards"].size(), 1u);
  const std::string id = saved["cards"].begin().key();
  EXPECT_EQ(saved["cards"][id]["due"], "2026-11-18");  // box 1 is due after one day
  // On the next day, the card is due and is asked first.
  EXPECT_EQ(answer(on("2026-11-18"), "\ny\n\ny\n").code, 0);
  EXPECT_EQ(json::parse(golden::read(file.path()))["cards"].size(), 1u);
  // On the same day again, a new card is asked.
  EXPECT_EQ(answer(on("2026-11-18"), "\ny\n\ny\n").code, 0);
  EXPECT_EQ(json::parse(golden::read(file.path()))["cards"].size(), 2u);
}

TEST(LabQuiz, UnreadableProgress_IsNotOverwritten) {
  const Scratch file("quiz-broken.json");
  std::ofstream(file.path()) << "not a progress file";
  const CommandResult said = answer({"--progress", file.path(), "--count", "1"}, "\ny\n");
  EXPECT_EQ(said.code, 1);
  EXPECT_THAT(said.err, HasSubstr("not the progress of a quiz"));
  EXPECT_EQ(golden::read(file.path()), "not a progress file");
}

TEST(LabQuiz, NoAnswers_WriteNoProgress) {
  const Scratch file("quiz-none.json");
  EXPECT_EQ(answer({"--progress", file.path()}, "").code, 0);
  EXPECT_FALSE(std::filesystem::exists(file.path()));
}

TEST(LabQuiz, Print_HasOneSidePerPage) {
  const CommandResult markdown =
      run_command({"lab", "--quiz", "--print", "markdown", "--count", "2"});
  EXPECT_EQ(markdown.code, 0);
  golden::expect("lab/quiz-print.md", markdown.out);
  const CommandResult html = run_command({"lab", "--quiz", "--print", "html"});
  EXPECT_THAT(html.out, HasSubstr("break-after: page"));
  EXPECT_THAT(html.out, Not(HasSubstr("<script")));
}

TEST(LabQuiz, InvalidArguments_AreUsageErrors) {
  Transcript transcript;
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"lab", "--quiz", "--count", "0"},
        {"lab", "--quiz", "--date", "tomorrow"},
        {"lab", "--quiz", "--print", "pdf"},
        {"lab", "--quiz", "--json"},
        {"lab", "--quiz", "--progress", "-"},
        {"lab", "--quiz", "-o", "x.html"}})
    EXPECT_EQ(transcript.run(args).code, 64) << args.back();
  transcript.expect("lab/quiz-usage.txt");
  EXPECT_EQ(run_command({"lab", "--quiz", "--answers", "no-such-file.txt"}).code, 1);
}

TEST(LabQuiz, Help_IsThatOfTheQuiz) {
  EXPECT_THAT(run_command({"help", "lab", "--quiz"}).out, HasSubstr("--answers"));
}

}  // namespace lab_quiz_test
}  // namespace rankwright::cli
