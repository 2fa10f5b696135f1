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

// A fork has flags of its own, and one of them may resemble one of Megatron-LM's.
TEST(TypoCosts, MistypedFlagOfAFork_IsAWarning) {
  const std::string typo = "--use_distributed_optimiser";
  const CheckAnswer plain = check(script(typo), "train.sh");
  const CheckAnswer fork =
      check(script(typo + " --frobnicate 1 --quux-level 2 --zorble-mode"), "train.sh");
  ASSERT_TRUE(find_code(plain, "RW0617") && find_code(fork, "RW0617"));
  EXPECT_EQ(find_code(plain, "RW0617")->severity, Severity::error);
  EXPECT_EQ(find_code(fork, "RW0617")->severity, Severity::warning);
}

TEST(TypoCosts, PlanThatDoesNotFitForATypo_StatesTheMemoryWithoutIt) {
  // Twice the layers of `script`: without ZeRO-1, the optimizer does not fit.
  const auto deep = [](const std::string& flag) {
    std::string text = script(flag);
    return text.replace(text.find("--num-layers 24"), 15, "--num-layers 64");
  };
  const CheckAnswer typo = check(deep("--use_distributed_optimiser"), "train.sh");
  const CheckAnswer right = check(deep("--use-distributed-optimizer"), "train.sh");
  ASSERT_TRUE(right.estimate);
  const Diagnostic* const found = find_code(typo, "RW0201");
  ASSERT_NE(found, nullptr);
  ASSERT_FALSE(found->notes.empty());
  EXPECT_EQ(found->notes.back(), fmt::format("with the 1 misspelled setting corrected: {}, {}",
                                             show_memory(right.estimate->memory.total()),
                                             name(right.estimate->verdict())));
}

TEST(CheckModel, ModelFlag_LeavesNoNoteOnTheVocabulary) {
  std::string text = script("--tokenizer-type HuggingFaceTokenizer");
  text.erase(text.find("--vocab-size 50257 "), 19);
  EXPECT_NE(find_code(check(text, "train.sh"), "RW0615"), nullptr);
  const CheckAnswer named =
      *check_plan({.plan = {.plan = {"train.sh", text}, .model = "llama-3.1-8b"}});
  EXPECT_EQ(find_code(named, "RW0615"), nullptr);
}

TEST(CheckModel, TokenizerOfAKnownModel_GivesItsVocabulary) {
  std::string text = script("--tokenizer-model meta-llama/Llama-3.1-8B");
  text.erase(text.find("--vocab-size 50257 "), 19);
  const CheckAnswer answer = check(text, "train.sh");
  ASSERT_TRUE(answer.config);
  EXPECT_EQ(answer.config->model.vocab, 128'256);
}

TEST(CheckModel, ScriptThatOnlySourcesAnother_NamesThatFile) {
  const CheckAnswer answer = check("source \"train.sh\"\npython main.py\n", "wrapper.sh");
  ASSERT_EQ(answer.findings.size(), 1u);
  EXPECT_EQ(answer.findings[0].code, "RW0603");
  EXPECT_EQ(answer.findings[0].hint, "rankwright check train.sh");
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
  EXPECT_TRUE(found->notes[0].ends_with("that plan has other errors"));
}

TEST(TypoCosts, ValueThatIsTheDefault_ChangesNothing) {
  const CheckAnswer typo =
      check("model: llama-3.2-1b\ncluster: dgx-h100 x 1\nparallelism: {dp_size: 8, pp_sze: 1}\n",
            "plan.yaml");
  const Diagnostic* const found = find_code(typo, "RW0902");
  ASSERT_NE(found, nullptr);
  ASSERT_EQ(found->notes.size(), 1u);
  EXPECT_EQ(found->notes[0], "corrected, the plan does not change");
}

}  // namespace typo_costs_test
}  // namespace rankwright::planner
