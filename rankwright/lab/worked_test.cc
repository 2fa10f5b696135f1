// Checks the library's answers against values worked out by hand.
#include <gtest/gtest.h>

#include "rankwright/lab/lab.h"

namespace rankwright::lab {
namespace worked_test {

double answer(i64 lab, std::string_view key) {
  for (const Question& q : find_lab(lab)->questions)
    if (q.key == key) return q.work(load_example_config(q.file)).value;
  ADD_FAILURE() << key;
  return 0;
}

// llama-3.2-1b: tied embedding 128,256 x 2,048; 16 layers, each with queries and output 2 x
// 2,048^2, keys and values 2 x 2,048 x 512, three matrices of 2,048 x 8,192 and two norms; a final
// norm.
constexpr double kOneB =
    128256.0 * 2048 + 16 * (2 * 2048.0 * 2048 + 2 * 2048.0 * 512 + 3 * 2048.0 * 8192 + 2 * 2048) +
    2048;

TEST(WorkedAnswer, DataParallelism_SixteenBytesPerParameter) {
  EXPECT_DOUBLE_EQ(answer(1, "states"), 16 * kOneB);
  EXPECT_DOUBLE_EQ(answer(1, "reduced"), 2 * kOneB);
  EXPECT_EQ(answer(1, "sequences"), 256 / 8);
}

TEST(WorkedAnswer, TensorParallelism_TwentyLayersPerStage) {
  // 80 layers over 4 stages, 64 / 2 microbatches, 6 + 4 collectives per layer in both passes.
  EXPECT_EQ(answer(2, "calls"), 20 * 32 * 10);
  EXPECT_EQ(answer(2, "size"), 4096.0 * 8192 * 2);
  EXPECT_EQ(answer(2, "widest"), 8);
}

TEST(WorkedAnswer, Pipeline_FourStages) {
  EXPECT_DOUBLE_EQ(answer(3, "bubble"), 3.0 / 11);
  EXPECT_EQ(answer(3, "microbatches"), 57);  // 3 / 60 = 5 %
  EXPECT_DOUBLE_EQ(answer(3, "interleaved"), 3.0 / 19);
  EXPECT_DOUBLE_EQ(answer(3, "zero_bubble"), 3.0 / 27);
  EXPECT_EQ(answer(3, "held"), 4);
}

TEST(WorkedAnswer, Zero_SixteenRanks) {
  const double whole = answer(4, "stage_0"), each = whole / 16;  // 16 bytes per parameter
  const double tolerance = 1e-6 * whole;                         // shards are whole elements
  EXPECT_NEAR(answer(4, "stage_1"), each * (2 + 2 + 12.0 / 16), tolerance);
  EXPECT_NEAR(answer(4, "stage_2"), each * (2 + 14.0 / 16), tolerance);
  EXPECT_NEAR(answer(4, "stage_3"), each * 16 / 16, tolerance);
}

TEST(WorkedAnswer, Placement_SixtyFourRanks) {
  EXPECT_EQ(answer(6, "dp"), 64 / (8 * 4));
  EXPECT_EQ(answer(6, "peer"), 2 * 4);  // dp-pp-tp: the next tp rank is 8 ranks away
  // The last of 4 stages: 6,400 calls inside its layers, 32 microbatches with 3 calls of the head
  // and 3 of the loss, and one for the norms' gradients. The embedding's 64 calls are on the first
  // stage.
  EXPECT_EQ(answer(7, "tp_calls"), 20 * 32 * 10 + 32 * (3 + 3) + 1);
  EXPECT_EQ(answer(7, "stage_of_19"), 1);  // 16 ranks per stage: 16 to 31
}

TEST(WorkedAnswer, ExpertsAndSequences_MatchHandArithmetic) {
  EXPECT_EQ(answer(8, "calls"), 8 * 32 * 4);  // layers x microbatches x 2 directions x 2 passes
  EXPECT_EQ(answer(8, "size"), 4096.0 * 2 * 4096 * 2);
  EXPECT_EQ(answer(8, "copies"), 32 / (8 * 4));
  EXPECT_EQ(answer(9, "tokens"), 131072 / 8);
  EXPECT_EQ(answer(9, "ulysses"), 8 / 4);  // key-value heads per tp rank
  EXPECT_EQ(answer(9, "all_reduces"), 32 * 64 * 4);
  EXPECT_EQ(answer(10, "stopped"), 64);
}

TEST(WorkedAnswer, Collectives_EightRanks) {
  // Each of 8 ranks sends 7 of 8 parts of 2 bytes per parameter, twice in an all-reduce.
  EXPECT_DOUBLE_EQ(answer(11, "reduce_scatter"), 2 * kOneB * 7 / 8);
  EXPECT_DOUBLE_EQ(answer(11, "all_gather"), answer(11, "reduce_scatter"));
  EXPECT_DOUBLE_EQ(answer(11, "all_reduce"), 2 * answer(11, "reduce_scatter"));
  EXPECT_EQ(answer(11, "steps"), 2 * 7);
  EXPECT_EQ(answer(11, "bound"), 2);
  EXPECT_EQ(answer(11, "zero_1"), 1);  // equal
  EXPECT_EQ(answer(11, "all_to_all"), 4096.0 * 2 * 4096 * 2 * 7 / 8);
}

TEST(WorkedAnswer, EdgeStages_EmbeddingAndLogits) {
  EXPECT_DOUBLE_EQ(answer(12, "embedding"), 128256.0 * 4096 * 16 / 4);
  EXPECT_EQ(answer(12, "in_flight"), 4 - 1);
  EXPECT_DOUBLE_EQ(answer(12, "logits"), 4 * 4096.0 * 128256 * 4);
  EXPECT_EQ(answer(12, "fullest"), 0);      // first
  EXPECT_EQ(answer(12, "fullest_now"), 2);  // last
}

TEST(WorkedAnswer, EqualLosses_TinyModel) {
  EXPECT_EQ(answer(13, "sequences"), 32 / 4);
  EXPECT_EQ(answer(13, "message"), 2 * 64.0 * 128 * 4 / 2);
  EXPECT_NEAR(answer(13, "first_loss"), 5.545, 0.001);  // ln 256 = 8 x 0.6931
  EXPECT_EQ(answer(13, "digits"), 6);                   // 23 bits x 0.30103 = 6.9
  EXPECT_EQ(answer(13, "agreement"), 1);                // up to rounding
}

TEST(WorkedAnswer, Failures_SixteenThousandRanks) {
  EXPECT_EQ(answer(14, "stopped"), 127 * 8 * 16);
  EXPECT_EQ(answer(14, "copies"), 127);
  EXPECT_EQ(answer(14, "optimizer_copies"), 0);  // ZeRO-1 leaves one copy
  // 1,000 / 3.79 node-days / 2,048 nodes = 0.1288 days.
  EXPECT_NEAR(answer(14, "between"), 1000 / 3.79 / 2048 * 86400, 1);
  // Young: the square root of 2 x 2.31 s x 11,131 s is 227 s; Daly's optimum is close.
  EXPECT_NEAR(answer(14, "interval"), 227, 4);
}

}  // namespace worked_test
}  // namespace rankwright::lab
