#include "rankwright/planner/plan/savings.h"

#include <gmock/gmock.h>

#include "rankwright/planner/plan.h"

namespace rankwright::planner {
namespace savings_test {

using ::testing::Contains;
using ::testing::Not;

PlanRequest ask(std::string model, std::string cluster, rules::Target target) {
  PlanRequest request{.target = target, .model = std::move(model), .cluster = std::move(cluster)};
  request.overrides = {{"seq", "2048"}, {"global-batch", "16"}};
  request.trade_offs = false;
  request.threads = 1;
  return request;
}

std::vector<std::string> names(const PlanAnswer& answer) {
  std::vector<std::string> all;
  for (const Saving& one : answer.savings) all.emplace_back(one.row->name);
  return all;
}

// 8 billion parameters x 18 bytes do not fit two cards of 24 GB, and 8 x 2 bytes of frozen weights
// do.
TEST(Savings, EightBillionOnTwoCards) {
  const Outcome<PlanAnswer> answer =
      find_plan(ask("llama-3.1-8b", "rtx-4090 x 2", rules::Target::any));
  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer->answer.best);
  EXPECT_THAT(names(*answer), Contains("LoRA of rank 16"));
  EXPECT_THAT(names(*answer), Contains("QLoRA of rank 16"));
  EXPECT_THAT(names(*answer), Contains("optimizer and parameter offload"));
  for (const Saving& one : answer->savings) EXPECT_TRUE(one.plan.estimate.fits()) << one.row->name;
  // Adapters train another model, so they come last, each group from fast to slow.
  for (std::size_t k = 1; k < answer->savings.size(); ++k) {
    const Saving &before = answer->savings[k - 1], &here = answer->savings[k];
    EXPECT_LE(before.row->adapters, here.row->adapters);
    if (before.row->adapters == here.row->adapters) {
      EXPECT_LE(before.plan.time(), here.plan.time());
    }
  }
}

// Megatron-LM is only assumed here, so settings of other frameworks count, with what to type.
TEST(Savings, FrameworkIsOpen_NamesAnotherThatHasThem) {
  PlanRequest request = ask("llama-3.1-8b", "rtx-4090 x 2", rules::Target::any);
  request.target.reset();
  const Outcome<PlanAnswer> answer = find_plan(request);
  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer->answer.best);
  std::vector<std::string> flags;
  for (const Saving& one : answer->savings) {
    flags.push_back(one.flags());
    EXPECT_TRUE(one.plan.estimate.fits()) << flags.back();
  }
  EXPECT_THAT(flags, Contains("--for accelerate --lora 16 --base-dtype nf4"));
  EXPECT_THAT(flags,
              Contains("--for accelerate --offload-optimizer true --offload-parameters true"));
}

TEST(Savings, MegatronHasNoAdapters) {
  const Outcome<PlanAnswer> answer =
      find_plan(ask("llama-3.1-8b", "rtx-4090 x 2", rules::Target::megatron));
  ASSERT_TRUE(answer);
  EXPECT_THAT(names(*answer), Not(Contains("LoRA of rank 16")));
}

TEST(Savings, PlanThatFits_HasNone) {
  const Outcome<PlanAnswer> answer = find_plan(ask("llama-3.2-1b", "dgx-h100", rules::Target::any));
  ASSERT_TRUE(answer && answer->answer.best);
  EXPECT_TRUE(answer->savings.empty());
}

// FSDP cannot offload the optimizer alone.
TEST(AllowOffload, UsesWhatTheFrameworkHas) {
  PlanRequest request = ask("llama-3.1-8b", "rtx-4090 x 2", rules::Target::accelerate);
  request.allow_offload = true;
  const Outcome<PlanAnswer> answer = find_plan(request);
  ASSERT_TRUE(answer && answer->answer.best);
  EXPECT_TRUE(answer->best().config.plan.offload.states());
}

TEST(AllowOffload, IsUsedOnlyIfNothingFits) {
  PlanRequest request = ask("llama-3.1-70b", "dgx-a100", rules::Target::deepspeed);
  request.allow_offload = true;
  const Outcome<PlanAnswer> answer = find_plan(request);
  ASSERT_TRUE(answer && answer->answer.best);
  ASSERT_NE(answer->offloaded, nullptr);
  EXPECT_EQ(answer->best().config.plan.offload.optimizer, 1);
  EXPECT_GT(answer->best().estimate.memory.host, Bytes{});
  request.model = "llama-3.2-1b";
  const Outcome<PlanAnswer> small = find_plan(request);
  ASSERT_TRUE(small && small->answer.best);
  EXPECT_EQ(small->offloaded, nullptr);
  EXPECT_FALSE(small->best().config.plan.offload.any());
}

/// Asks for 8 billion parameters on two cards in a host with 64 GB of memory and `nvme_capacity`.
/// Their fp32 weights, moments and gradients have 128 GB.
Outcome<PlanAnswer> plan_small_host(const std::string& nvme_capacity) {
  PlanRequest request = ask("llama-3.1-8b", "small_host.yaml", rules::Target::deepspeed);
  request.files = [&](const std::string&) -> Result<std::string> {
    return "device: rtx-4090\nhost_memory: 64 GB\nnvme_capacity: " + nvme_capacity +
           "\nlevels: [{name: pcie, arity: 2, bandwidth: 25 GB/s, latency: 5 us}]\n";
  };
  request.allow_offload = true;
  return find_plan(request);
}

TEST(AllowOffload, UsesDrivesIfTheHostHasTooLittleMemory) {
  const Outcome<PlanAnswer> answer = plan_small_host("1 TB");
  ASSERT_TRUE(answer && answer->answer.best);
  EXPECT_EQ(answer->offloaded->name, "offload to NVMe");
  EXPECT_GT(answer->best().estimate.memory.nvme, 64.0_GB);
  EXPECT_LT(2 * answer->best().estimate.memory.host, 64.0_GB);
}

TEST(AllowOffload, KeepsToTheMemoryAndTheDrivesOfTheHost) {
  const Outcome<PlanAnswer> answer = plan_small_host("100 GB");
  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer->answer.best);
  EXPECT_THAT(names(*answer), Not(Contains("optimizer and parameter offload")));
}

// The longest sequence fits with margin, and 1,024 tokens more do not.
TEST(Objective, LongestSequence) {
  PlanRequest request = ask("llama-3.2-1b", "rtx-4090", rules::Target::accelerate);
  request.overrides = {{"global-batch", "4"}, {"lora", "16"}};
  request.objective = Objective::max_seq;
  const Outcome<PlanAnswer> answer = find_plan(request);
  ASSERT_TRUE(answer && answer->answer.best && answer->largest);
  EXPECT_EQ(answer->best().config.job.sequence, *answer->largest);
  EXPECT_EQ(answer->best().estimate.verdict(), cost::MemoryVerdict::fits_with_margin);
  request.objective = Objective::time;
  request.overrides["seq"] = std::to_string(*answer->largest + *answer->largest / 64 + 1024);
  const Outcome<PlanAnswer> longer = find_plan(request);
  ASSERT_TRUE(longer);
  EXPECT_TRUE(!longer->answer.best ||
              longer->best().estimate.verdict() != cost::MemoryVerdict::fits_with_margin);
}

// 16 GB of frozen weights leave no margin on 24 GB, whatever the sequence: the longest that is
// tight is the answer.
TEST(Objective, NoLengthWithMargin_TheLongestThatIsTight) {
  PlanRequest request = ask("llama-3.1-8b", "rtx-4090", rules::Target::accelerate);
  request.overrides = {{"global-batch", "4"}, {"lora", "16"}};
  request.objective = Objective::max_seq;
  const Outcome<PlanAnswer> answer = find_plan(request);
  ASSERT_TRUE(answer && answer->answer.best && answer->largest);
  EXPECT_EQ(answer->best().config.job.sequence, *answer->largest);
  EXPECT_EQ(answer->best().estimate.verdict(), cost::MemoryVerdict::tight);
}

TEST(Objective, LargestMicroBatch) {
  PlanRequest request = ask("llama-3.2-1b", "rtx-4090", rules::Target::accelerate);
  request.overrides = {{"seq", "2048"}, {"lora", "16"}};
  request.objective = Objective::max_batch;
  const Outcome<PlanAnswer> answer = find_plan(request);
  ASSERT_TRUE(answer && answer->answer.best && answer->largest);
  EXPECT_EQ(answer->best().config.plan.micro_batch, *answer->largest);
  EXPECT_GT(*answer->largest, 1);
}

}  // namespace savings_test
}  // namespace rankwright::planner
