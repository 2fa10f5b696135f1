#include "rankwright/plan/job.h"

#include "rankwright/base/check.h"

namespace rankwright::plan {
namespace {

constexpr DtypeRow kDtypes[] = {
    {Dtype::fp32, "fp32", 4}, {Dtype::bf16, "bf16", 2}, {Dtype::fp16, "fp16", 2},
    {Dtype::fp8, "fp8", 1},   {Dtype::fp64, "fp64", 8},
};

constexpr OptimizerRow kOptimizers[] = {
    {Optimizer::adam, "adam", 2},
    {Optimizer::sgd, "sgd", 1},
    {Optimizer::lion, "lion", 1},
};

constexpr std::string_view kMatmuls[] = {"same", "fp8", "mxfp8", "fp4"};

constexpr i64 kMasterBytes = 4;

const DtypeRow& row(Dtype dtype) { return kDtypes[std::size_t(dtype)]; }

}  // namespace

std::span<const DtypeRow> dtypes() { return kDtypes; }
i64 size(Dtype dtype) { return row(dtype).bytes; }
std::string_view name(Dtype dtype) { return row(dtype).name; }

std::span<const std::string_view> matmul_names() { return kMatmuls; }
std::string_view name(Matmul matmul) { return kMatmuls[std::size_t(matmul)]; }

std::span<const OptimizerRow> optimizers() { return kOptimizers; }
std::string_view name(Optimizer optimizer) { return kOptimizers[std::size_t(optimizer)].name; }

i64 Job::optimizer_bytes() const {
  const i64 master = param_bytes() >= kMasterBytes ? 0 : kMasterBytes;
  const i64 moment = scalar_bytes() > kMasterBytes ? scalar_bytes() : size(moment_dtype);
  return kOptimizers[std::size_t(optimizer)].moments * moment + master;
}

}  // namespace rankwright::plan
