#include "rankwright/planner/typo_costs.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rankwright/base/format.h"
#include "rankwright/planner/check.h"

namespace rankwright::planner {
namespace typo_costs_test {

/// A GPT of 5.1 B parameters on 8 GPUs, with one more flag.
std::string script(const std::string& flag) {
  return "torchrun --nproc-per-node 8 pretrain_gpt.py --num-layers 24 --hidden-size 4096 "
         "--num-attention-heads 32 --seq-length 2048 --max-position-embeddings 2048 "
         "--micro-batch-size 1 --global-batch-size 64 --vocab-size 50257 --bf16 "
         "--tensor-model-parallel-size 2 " +
         flag + "\n";
}

CheckAnswer check(const std::string& text, const std::string& name) {
  return *check_plan({.plan = {.plan = {name, text}}});
}

const Diagnostic* find_code(const CheckAnswer& answer, std::string_view code) {
  for (const Diagnostic& found : answer.findings)
    if (found.code == code) return &found;
  return nullptr;
}

// The note is what `check` says of the two files, side by side.
TEST(TypoCosts, MistypedFlag_StatesTheKeyTheMemoryAndTheStep) {
  const CheckAnswer typo = check(script("--use_distributed_optimiser"), "train.sh");
  const CheckAnswer right = check(script("--use-distributed-optimizer"), "train.sh");
  ASSERT_TRUE(typo.estimate && right.estimate);
  EXPECT_LT(right.estimate->memory.total(), typo.estimate->memory.total());
  const Diagnostic* const found = find_code(typo, "RW0617");
  ASSERT_NE(found, nullptr);
  ASSERT_EQ(found->notes.size(), 1u);
  EXPECT_EQ(found->notes[0],
            fmt::format("corrected: parallelism.zero_stage 1 instead of 0; memory {} instead of "
                        "{}, step {} instead of {}",
                        show_memory(right.estimate->memory.total()),
                        show_memory(typo.estimate->memory.total()), show(right.estimate->time()),
                        show(typo.estimate->time())));
  EXPECT_EQ(find_code(right, "RW0617"), nullptr);
}

TEST(TypoCosts, MistypedKeyOfAPlanFile_StatesThem) {
  const CheckAnswer typo = check(
      "model: llama-3.2-1b\ncluster: dgx-h100 x 1\n"
      "parallelism: {tp_size: 2, dp_size: 4, zero_stge: 2}\n",
      "plan.yaml");
  const Diagnostic* const found = find_code(typo, "RW0902");
  ASSERT_NE(found, nullptr);
  ASSERT_EQ(found->notes.size(), 1u);
  EXPECT_TRUE(found->notes[0].starts_with("corrected: parallelism.zero_stage 2 instead of 0"));
}

TEST(TypoCosts, QuotedKey_IsFound) {
  const CheckAnswer typo = check(
      "{\"train_batch_size\": 64, \"zero_optimization\": {\"stge\": 3}, \"bf16\": {\"enabled\": "
      "true}}",
      "ds.json");
  const Diagnostic* const found = find_code(typo, "RW0617");
  ASSERT_NE(found, nullptr);
  ASSERT_EQ(found->notes.size(), 1u);
  EXPECT_TRUE(found->notes[0].starts_with("corrected: parallelism.zero_stage 3 instead of 0"));
}

// The correct file asks for tp 3, which does not divide 32 heads.
TEST(TypoCosts, CorrectedPlanWithErrors_SaysSo) {
  const CheckAnswer typo =
      check("model: llama-3.2-1b\ncluster: dgx-h100 x 1\nparallelism: {tp_sze: 3, dp_size: 8}\n",
            "plan.yaml");
  const Diagnostic* const found = find_code(typo, "RW0902");
  ASSERT_NE(found, nullptr);
  ASSERT_EQ(found->notes.size(), 1u);
  EXPECT_TRUE(found->notes[0].ends_with("that plan has errors of its own"));
}

TEST(TypoCosts, ValueThatIsTheDefault_ChangesNothing) {
  const CheckAnswer typo =
      check("model: llama-3.2-1b\ncluster: dgx-h100 x 1\nparallelism: {dp_size: 8, pp_sze: 1}\n",
            "plan.yaml");
  const Diagnostic* const found = find_code(typo, "RW0902");
  ASSERT_NE(found, nullptr);
  ASSERT_EQ(found->notes.size(), 1u);
  EXPECT_EQ(found->notes[0], "corrected, the plan stays the same");
}

}  // namespace typo_costs_test
}  // namespace rankwright::planner
