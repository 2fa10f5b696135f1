#include "rankwright/plan/job.h"

#include <gtest/gtest.h>

#include <set>

namespace rankwright::plan {
namespace job_test {

TEST(Job, Default_Is16BytesPerParameter) {
  // bf16 weight 2 + bf16 gradient 2 + fp32 master 4 + two Adam moments of 4 each = 16.
  const Job job;
  EXPECT_EQ(job.param_bytes(), 2);
  EXPECT_EQ(job.grad_bytes(), 2);
  EXPECT_EQ(job.optimizer_bytes(), 12);
  EXPECT_EQ(job.param_bytes() + job.grad_bytes() + job.optimizer_bytes(), 16);
}

TEST(Job, Fp32Gradients_Are18BytesPerParameterAsInMegatron) {
  const Job job{.grad_dtype = Dtype::fp32};
  EXPECT_EQ(job.param_bytes() + job.grad_bytes() + job.optimizer_bytes(), 18);
}

TEST(Job, Fp32Parameters_HaveNoMasterCopy) {
  EXPECT_EQ((Job{.param_dtype = Dtype::fp32}.optimizer_bytes()), 8);
  EXPECT_EQ((Job{.param_dtype = Dtype::fp16}.optimizer_bytes()), 12);
  EXPECT_EQ((Job{.param_dtype = Dtype::fp8}.optimizer_bytes()), 12);
}

TEST(Job, Fp64Parameters_HaveFp64MomentsAndNoMasterCopy) {
  // weight 8 + gradient 8 + two moments of 8 = 32; sums and norms are 8 bytes too.
  const Job job{.param_dtype = Dtype::fp64, .grad_dtype = Dtype::fp64};
  EXPECT_EQ(job.optimizer_bytes(), 16);
  EXPECT_EQ(job.param_bytes() + job.grad_bytes() + job.optimizer_bytes(), 32);
  EXPECT_EQ(job.activation_bytes(), 8);
  EXPECT_EQ(job.scalar_bytes(), 8);
  EXPECT_EQ((Job{.param_dtype = Dtype::fp64, .optimizer = Optimizer::sgd}.optimizer_bytes()), 8);
}

TEST(Job, NarrowParameters_AreSummedInFp32) {
  for (const Dtype dtype : {Dtype::fp32, Dtype::bf16, Dtype::fp16, Dtype::fp8})
    EXPECT_EQ((Job{.param_dtype = dtype}.scalar_bytes()), 4) << name(dtype);
}

TEST(Job, SgdAndLion_KeepOneMoment) {
  EXPECT_EQ((Job{.optimizer = Optimizer::sgd}.optimizer_bytes()), 4 + 4);
  EXPECT_EQ((Job{.optimizer = Optimizer::lion}.optimizer_bytes()), 4 + 4);
  EXPECT_EQ((Job{.param_dtype = Dtype::fp32, .optimizer = Optimizer::sgd}.optimizer_bytes()), 4);
}

TEST(Job, Activations_HaveAtLeast16Bits) {
  EXPECT_EQ((Job{.param_dtype = Dtype::fp8}.activation_bytes()), 2);
  EXPECT_EQ((Job{.param_dtype = Dtype::fp16}.activation_bytes()), 2);
  EXPECT_EQ((Job{.param_dtype = Dtype::bf16}.activation_bytes()), 2);
  EXPECT_EQ((Job{.param_dtype = Dtype::fp32}.activation_bytes()), 4);
}

TEST(Dtypes, AreInTheOrderOfTheEnumWithUniqueNames) {
  std::set<std::string_view> names;
  for (const DtypeRow& row : dtypes()) {
    EXPECT_EQ(&row, &dtypes()[std::size_t(row.dtype)]);
    EXPECT_EQ(name(row.dtype), row.name);
    EXPECT_EQ(size(row.dtype), row.bytes);
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
  }
  EXPECT_FALSE(names.empty());
}

TEST(Optimizers, AreInTheOrderOfTheEnumWithUniqueNames) {
  std::set<std::string_view> names;
  for (const OptimizerRow& row : optimizers()) {
    EXPECT_EQ(&row, &optimizers()[std::size_t(row.optimizer)]);
    EXPECT_EQ(name(row.optimizer), row.name);
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
  }
  EXPECT_FALSE(names.empty());
}

}  // namespace job_test
}  // namespace rankwright::plan
