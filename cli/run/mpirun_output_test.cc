#include "cli/run/mpirun_output.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

namespace rankwright::cli {
namespace mpirun_output_test {

const std::string kDashes(74, '-');

/// Messages as Open MPI 4.1.4 writes them.
const std::string kKilled = kDashes +
                            "\nmpirun noticed that process rank 3 with PID 0 on node n0 exited on "
                            "signal 9 (Killed).\n" +
                            kDashes + "\n";
const std::string kAborted =
    kDashes +
    "\nMPI_ABORT was invoked on rank 5 in communicator MPI_COMM_WORLD\n"
    "with errorcode 1.\n\nNOTE: invoking MPI_ABORT causes Open MPI to kill "
    "all MPI processes.\n" +
    kDashes + "\n";

TEST(MpirunOutput, RankOutput_IsPassedOn) {
  MpirunOutput output;
  EXPECT_EQ(output.feed("step 1/9 - loss --5\n"), "step 1/9 - loss --5\n");
  EXPECT_FALSE(output.inside_line());
  EXPECT_EQ(output.feed("\r\033[Kstep 2"),
            "\r\033[Kstep 2");  // at once, before the end of the line
  EXPECT_TRUE(output.inside_line());
  EXPECT_FALSE(output.dead().has_value());
}

TEST(MpirunOutput, MpirunMessage_IsKept) {
  MpirunOutput output;
  EXPECT_EQ(output.feed("step 2" + kKilled + "more\n"), "step 2more\n");
  EXPECT_EQ(output.dead(), (DeadRank{.rank = 3, .signal = 9}));
  EXPECT_THAT(output.said(), ::testing::HasSubstr("noticed"));
}

TEST(MpirunOutput, Abort_NamesTheRank) {
  MpirunOutput output;
  output.feed(kAborted);
  EXPECT_EQ(output.dead(), (DeadRank{.rank = 5, .code = 1}));
}

TEST(MpirunOutput, ExitWithCode_IsNotADeadRank) {
  MpirunOutput output;
  output.feed(kDashes +
              "\nmpirun detected that one or more processes exited with non-zero status, thus "
              "causing\nthe job to be terminated. The first process to do so was:\n\n"
              "  Process name: [[1,1],3]\n  Exit code:    2\n" +
              kDashes + "\n");
  EXPECT_FALSE(output.dead().has_value());
}

TEST(MpirunOutput, ReadyLine_IsNotPassedOn) {
  MpirunOutput output;
  EXPECT_FALSE(output.ready());
  EXPECT_EQ(output.feed("a\n" + std::string(kReady) + "b\n"), "a\nb\n");
  EXPECT_TRUE(output.ready());
}

/// Any split of the bytes gives the same result.
RC_GTEST_PROP(MpirunOutput, AnySplitOfTheInput_GivesTheSameResult, ()) {
  const std::string text = "x-\n--" + std::string(kReady) + kKilled + "\ry\n-z" + kAborted + "end";
  MpirunOutput whole;
  const std::string passed = whole.feed(text);
  MpirunOutput output;
  std::string pieces;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = *rc::gen::inRange<std::size_t>(1, 30);
    pieces += output.feed(std::string_view(text).substr(at, length));
    at += length;
  }
  RC_ASSERT(pieces == passed);
  RC_ASSERT(output.said() == whole.said());
  RC_ASSERT(output.dead() == whole.dead());
  RC_ASSERT(output.ready());
}

}  // namespace mpirun_output_test
}  // namespace rankwright::cli
