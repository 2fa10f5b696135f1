#include "rankwright/runtime/probe/probe_compute.h"

#include <torch/torch.h>

namespace rankwright::runtime {
namespace {

torch::ScalarType type(Number number) {
  switch (number) {
    case Number::f64:
      return torch::kFloat64;
    case Number::bf16:
      return torch::kBFloat16;
    case Number::i64:
      return torch::kInt64;
    case Number::f32:
      break;
  }
  return torch::kFloat32;
}

/// Returns ones, not uninitialized memory: denormal numbers are slow.
torch::Tensor ones(std::vector<i64> shape, Number number) {
  return torch::ones(shape, torch::TensorOptions().dtype(type(number)));
}

/// Returns `run` without autograd, as inside the runtime's own functions.
template <class Run>
Work without_graph(Run run) {
  return [run] {
    const torch::NoGradGuard no_graph;
    run();
  };
}

}  // namespace

Work matmul_work(Number number, i64 rows, i64 inner, i64 columns) {
  const torch::Tensor x = ones({rows, inner}, number), weight = ones({columns, inner}, number);
  return without_graph([x, weight] { torch::mm(x, weight.t()); });
}

Work copy_work(i64 count) {
  const torch::Tensor from = ones({count}, Number::f32), to = ones({count}, Number::f32);
  return without_graph([from, to] { to.copy_(from); });
}

Work add_work(i64 count) {
  const torch::Tensor a = ones({count}, Number::f32), b = ones({count}, Number::f32);
  const torch::Tensor sum = ones({count}, Number::f32);
  return without_graph([a, b, sum] {
    torch::Tensor into = sum;  // the same memory
    torch::add_out(into, a, b);
  });
}

Work tiny_work() {
  const torch::Tensor a = ones({8}, Number::f32), b = ones({8}, Number::f32);
  return without_graph([a, b] { torch::mul(a, b); });
}

}  // namespace rankwright::runtime
