#include "rankwright/report/faults/failure_text.h"

#include <gmock/gmock.h>

#include "rankwright/catalog/catalog.h"
#include "tests/support/typed_configs.h"

namespace rankwright::report {
namespace failure_text_test {

using ::testing::HasSubstr;
using ::testing::Not;

std::string describe(const std::string& parallelism) {
  const rankwright::plan::TrainingConfig config = config_of(
      "model: llama-3.1-8b\ncluster: dgx-h100 x 4\njob: {global_batch: 64}\nparallelism: " +
      parallelism + "\n");
  const cost::FailureTask task{.model = {Seconds{1e5}, 200.0_s, 10.0_s}, .hang = 600.0_s};
  return render_failure_text(config, 9,
                             estimate_failure(config, catalog::get_calibration(), 9, task),
                             {.hang = "somebody's"}, {}, 100);
}

TEST(FailureText, ListsWhichRanksHaltAndWhere) {
  const std::string text = describe("{pp_size: 2, tp_size: 8, dp_size: 2}");
  EXPECT_THAT(text, HasSubstr("Rank 9 dies, and all 32 ranks halt"));
  EXPECT_THAT(text, HasSubstr("its tp peers                       7"));
  EXPECT_THAT(text, HasSubstr("other pp ranks of its replica      8"));
  EXPECT_THAT(text, HasSubstr("other replicas                    16  the gradient reduction"));
  EXPECT_THAT(text, HasSubstr("waited 600 s (somebody's)"));
}

TEST(FailureText, SaysWhetherOtherRanksHoldItsStates) {
  EXPECT_THAT(describe("{pp_size: 2, tp_size: 8, dp_size: 2}"),
              HasSubstr("A peer could hand them on"));
  const std::string sharded = describe("{pp_size: 2, tp_size: 8, dp_size: 2, zero_stage: 1}");
  EXPECT_THAT(sharded, HasSubstr("only in the last checkpoint"));
  EXPECT_THAT(sharded, Not(HasSubstr("A peer could hand them on")));
}

TEST(FailureText, Zero3_HaltsWithinALayer) {
  EXPECT_THAT(describe("{dp_size: 32, zero_stage: 3}"), HasSubstr("31  the next gather of ZeRO-3"));
}

}  // namespace failure_text_test
}  // namespace rankwright::report
