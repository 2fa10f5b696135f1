// `rankwright init`: its questions, its flags and the plan file that it writes.
#include <gmock/gmock.h>

#include "tests/support/golden.h"
#include "tests/support/run_command.h"
#include "tests/support/transcript.h"

namespace rankwright::cli {
namespace init_test {

using ::testing::HasSubstr;

TEST(Init, AnswersAreAskedForAndAPlanIsWritten) {
  const Scratch file("init-asked.yaml");
  const CommandResult said =
      run_command({"init", "-o", file.path()}, "llama-3.2-1b\ndgx-h100\n4k\n64\ntorchtitan\n");
  EXPECT_EQ(said.code, 0) << said.err;
  const std::string plan = golden::read(file.path());
  EXPECT_THAT(plan, HasSubstr("model: llama-3.2-1b\n"));
  EXPECT_THAT(plan, HasSubstr("  sequence: 4096\n"));
  EXPECT_THAT(plan, HasSubstr("  target: torchtitan\n"));
}

TEST(Init, WrongAnswersAreAskedAgain) {
  const Scratch file("init-again.yaml");
  Transcript transcript;
  EXPECT_EQ(run_command({"init", "-o", file.path()}, "llama-3.2-1c\nllama-3.2-1b\ndgx-h100\n").code,
            0);
  // Where the input ends, the defaults hold; a question without a default is an error.
  EXPECT_EQ(transcript.run({"init"}, "llama-3.2-1c\n").code, 64);
  transcript.expect("cli/init-asked-again.txt");
}

TEST(Init, FlagsReplaceQuestions) {
  const Scratch file("init-flags.yaml");
  const CommandResult said =
      run_command({"init", "--model", "llama-3.2-1b", "--cluster", "dgx-h100", "--seq", "4k",
                   "--global-batch", "64", "--for", "megatron", "-o", file.path(), "--quiet"});
  EXPECT_EQ(said.code, 0);
  EXPECT_EQ(said.err, "");
  EXPECT_THAT(golden::read(file.path()), HasSubstr("model: llama-3.2-1b\n"));
}

}  // namespace init_test
}  // namespace rankwright::cli
