#include "rankwright/planner/plan/target_verdict.h"

#include "tests/support/typed_configs.h"

namespace rankwright::planner {
namespace target_verdict_test {

TEST(CheckTargets, RingContextParallelism_BreaksDeepSpeedsRulesOnly) {
  // DeepSpeed's only context parallelism is Ulysses; Megatron-LM also has a ring.
  const rankwright::plan::TrainingConfig ring = config_of(
      "model: llama-3.1-8b\ncluster: dgx-h100 x 2\njob: {global_batch: 64}\n"
      "parallelism: {cp_size: 2, dp_size: 8}");
  int checked = 0;
  for (const TargetVerdict& verdict : check_targets(ring)) {
    const rules::Target target = verdict.target->target;
    if (target != rules::Target::megatron && target != rules::Target::deepspeed) continue;
    EXPECT_EQ(verdict.broken.empty(), target == rules::Target::megatron);
    ++checked;
  }
  EXPECT_EQ(checked, 2);
}

}  // namespace target_verdict_test
}  // namespace rankwright::planner
