#include "rankwright/report/faults/failure_text.h"

#include <gtest/gtest.h>

#include "rankwright/catalog/catalog.h"
#include "tests/support/golden.h"
#include "tests/support/typed_configs.h"

namespace rankwright::report {
namespace failure_text_test {

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
  // All 32 ranks halt: the 8 - 1 tp peers, the 8 ranks of the other pp rank, and the 16 of the
  // other replica, in the gradient reduction. Without ZeRO, that replica has the lost states.
  golden::expect("faults/failure-replicated.txt", describe("{pp_size: 2, tp_size: 8, dp_size: 2}"));
}

TEST(FailureText, ShardedOptimizer_IsOnlyInTheCheckpoint) {
  golden::expect("faults/failure-zero-1.txt",
                 describe("{pp_size: 2, tp_size: 8, dp_size: 2, zero_stage: 1}"));
}

TEST(FailureText, Zero3_HaltsWithinALayer) {
  // The other 31 ranks halt at the next gather of parameters.
  golden::expect("faults/failure-zero-3.txt", describe("{dp_size: 32, zero_stage: 3}"));
}

}  // namespace failure_text_test
}  // namespace rankwright::report
