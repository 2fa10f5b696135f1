#include "rankwright/runtime/rank.h"

#include "rankwright/base/check.h"

namespace rankwright::runtime {

Formats choose_formats(const plan::Job& job) {
  switch (job.param_dtype) {
    case plan::Dtype::fp64:
      return {torch::kFloat64, torch::kFloat64};
    case plan::Dtype::bf16:
      return {torch::kBFloat16, torch::kFloat32};
    default:
      return {torch::kFloat32, torch::kFloat32};
  }
}

Slab slab(const Tensor& tensor) {
  RW_CHECK(tensor.is_contiguous());
  Number number = Number::f32;
  if (tensor.scalar_type() == torch::kFloat64) number = Number::f64;
  if (tensor.scalar_type() == torch::kBFloat16) number = Number::bf16;
  if (tensor.scalar_type() == torch::kInt64) number = Number::i64;
  return {tensor.data_ptr(), tensor.numel(), number};
}

Tensor gather(const Rank& rank, const Tensor& part, plan::TrafficKind kind) {
  std::vector<i64> shape = part.sizes().vec();
  const i64 own = shape[0];
  shape[0] *= rank.groups.tp.size();
  const Tensor whole = torch::empty(shape, part.options());
  whole.narrow(0, own * rank.groups.tp.rank(), own).copy_(part);
  rank.groups.tp.all_gather(kind, slab(whole));
  return whole;
}

Tensor scatter(const Rank& rank, const Tensor& whole, plan::TrafficKind kind) {
  std::vector<i64> shape = whole.sizes().vec();
  shape[0] /= rank.groups.tp.size();
  const Tensor part = torch::empty(shape, whole.options());
  rank.groups.tp.reduce_scatter(kind, slab(whole), slab(part));
  return part;
}

void reduce(const Rank& rank, const Tensor& whole, plan::TrafficKind kind) {
  rank.groups.tp.all_reduce(kind, slab(whole));
}

}  // namespace rankwright::runtime
