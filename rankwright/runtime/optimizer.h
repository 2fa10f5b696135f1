// AdamW over the elements that this rank updates, by libtorch's own optimizer. Segments are short,
// because its step makes two copies of each.
#pragma once

#include <torch/torch.h>

#include <vector>

#include "rankwright/base/integer.h"

namespace rankwright::runtime {

struct AdamOptions {
  double learning_rate = 3e-4;
  double beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8;
  double weight_decay = 0.1;
};

class Optimizer {
 public:
  static constexpr i64 kSegment = 65536;

  explicit Optimizer(const AdamOptions& options) : options_(options) {}

  /// Elements in a row of one parameter: their weights, and their gradients when step() is called.
  void add(const torch::Tensor& weights, const torch::Tensor& gradients, bool decays);
  /// Times `scale`, then the step.
  void step(double scale);

 private:
  AdamOptions options_;
  std::vector<torch::Tensor> decaying_{}, plain_{};
  std::unique_ptr<torch::optim::AdamW> adam_{};
};

}  // namespace rankwright::runtime
