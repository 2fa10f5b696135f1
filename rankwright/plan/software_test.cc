#include "rankwright/plan/software.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace rankwright::plan {
namespace software_test {

const Software& find(std::string_view name) {
  for (const Software& row : frameworks())
    if (row.name == name) return row;
  ADD_FAILURE() << "there is no row " << name;
  return frameworks().front();
}

TEST(Frameworks, HaveUniqueNamesAndAYear) {
  std::set<std::string_view> names;
  for (const Software& row : frameworks()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_GE(row.year, 2020) << row.name;
    EXPECT_LE(row.year, 2026) << row.name;
  }
  EXPECT_GT(names.size(), 10u);
}

// "deepspeed-2021" is DeepSpeed of 2021; the row without a year is today's.
TEST(Frameworks, RowWithAYearInItsName_DescribesThatYear) {
  int dated = 0;
  for (const Software& row : frameworks()) {
    const std::size_t at = row.name.rfind("-20");
    if (at == std::string_view::npos) continue;
    ++dated;
    EXPECT_EQ(std::to_string(row.year), row.name.substr(at + 1)) << row.name;
  }
  EXPECT_EQ(dated, 5);  // Megatron-LM, DeepSpeed, torchtitan, transformers and litgpt
  EXPECT_EQ(find("deepspeed").year, 2026);
  EXPECT_EQ(frameworks().front().year, 2026);
}

TEST(Releases, ListTheNewestFirst) {
  const Release* before = nullptr;
  for (const Release& one : releases()) {
    EXPECT_TRUE(find_release(find(one.framework), one.name)) << one.name;
    if (before != nullptr && before->framework == one.framework) {
      EXPECT_GT(before->year * 12 + before->month, one.year * 12 + one.month) << one.name;
    }
    before = &one;
  }
}

TEST(Releases, OlderOnes_LackWhatCameLater) {
  const auto features = [](std::string_view release) {
    return find_release(find("megatron-core"), release).value().expert_features;
  };
  const ExpertFeatures all{.deepep = true, .hybridep = true, .overlap = true, .fused = true};
  EXPECT_EQ(features("0.19"), all);
  EXPECT_EQ(features("0.18"), all);
  EXPECT_EQ(features("0.17"), (ExpertFeatures{.deepep = true, .hybridep = true, .overlap = true}));
  EXPECT_EQ(features("0.15"), (ExpertFeatures{.deepep = true, .overlap = true}));
  EXPECT_EQ(features("0.13"), ExpertFeatures{.deepep = true});
  EXPECT_EQ(features("0.11"), ExpertFeatures{});
}

TEST(Releases, KeepTheirNameDateAndOtherSettings) {
  Software tuned = find("megatron-core");
  tuned.tuned = true;
  const Software old = find_release(tuned, "0.10").value();
  EXPECT_EQ(old.release, "0.10");
  EXPECT_EQ(old.year, 2025);
  EXPECT_FALSE(old.fused_permute);
  EXPECT_TRUE(old.tuned);
  EXPECT_TRUE(find_release(tuned, "0.11").value().fused_permute);
}

TEST(Releases, AYear_IsTheDatedRow) {
  EXPECT_EQ(find_release(find("deepspeed"), "2021"), find("deepspeed-2021"));
  EXPECT_EQ(find_release(find("torchtitan"), "2024"), find("torchtitan-2024"));
  EXPECT_FALSE(find_release(find("megatron-core"), "2024"));
  EXPECT_FALSE(find_release(find("maxtext"), "0.14"));
}

TEST(Frameworks, DeepspeedOfToday_FusesAttentionAndUsesEveryNic) {
  EXPECT_EQ(find("deepspeed").attention, AttentionKernel::flash2);
  EXPECT_FALSE(find("deepspeed").single_rail);
  EXPECT_EQ(find("deepspeed-2021").attention, AttentionKernel::unfused);
  EXPECT_TRUE(find("deepspeed-2021").single_rail);
}

// TRL 1.16 computes log-probabilities with the output head; TRL of 2024 made all logits, 16 bytes
// each, as others do. The loss of next-token prediction is the framework's own.
TEST(Frameworks, LossOfAMethod) {
  EXPECT_EQ(default_loss(find("transformers"), Method::dpo), Loss::fused_linear);
  for (const char* const name : {"transformers-2024", "deepspeed", "megatron-core", "fsdp"})
    for (const Method method : {Method::dpo, Method::grpo})
      EXPECT_EQ(default_loss(find(name), method), Loss::log_probs) << name;
  EXPECT_EQ(bytes_per_logit(Loss::log_probs, Job{}), 16);
  EXPECT_EQ(default_loss(find("transformers-2024"), Method::lm), Loss::eager);
  EXPECT_EQ(default_loss(find("rankwright"), Method::lm), Loss::in_place);
}

// Megatron-LM: arguments.py turns accumulate_allreduce_grads_in_fp32 on with --bf16. torchtitan:
// mixed_precision_reduce is float32. DeepSpeed: grad_accum_dtype and communication_data_type are
// the model's. FSDP: reduce_dtype is param_dtype.
TEST(Frameworks, GradientsDefaultToTheFrameworksFormat) {
  for (const char* const name : {"megatron-core", "nemo", "megatron-deepspeed"}) {
    EXPECT_EQ(default_grad_dtype(find(name), Dtype::bf16), Dtype::fp32) << name;
    EXPECT_EQ(default_grad_dtype(find(name), Dtype::fp16), Dtype::fp16) << name;
    EXPECT_EQ(default_grad_dtype(find(name), Dtype::fp8), Dtype::fp32) << name;
  }
  EXPECT_EQ(default_grad_dtype(find("torchtitan"), Dtype::bf16), Dtype::fp32);
  for (const char* const name : {"deepspeed", "fsdp", "maxtext"}) {
    EXPECT_EQ(default_grad_dtype(find(name), Dtype::bf16), Dtype::bf16) << name;
    EXPECT_EQ(default_grad_dtype(find(name), Dtype::fp32), Dtype::fp32) << name;
  }
  EXPECT_EQ(default_grad_dtype(find("rankwright"), Dtype::fp64), Dtype::fp64);
  for (const Software& row : frameworks())  // no framework sums in 8 bits
    EXPECT_GE(size(default_grad_dtype(row, Dtype::fp8)), 2) << row.name;
}

}  // namespace software_test
}  // namespace rankwright::plan
