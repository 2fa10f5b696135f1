// AdamW over the elements that this rank updates, with libtorch's optimizer. Parameters are split
// into short segments because libtorch's step makes two temporary copies of each.
#pragma once

#include <torch/torch.h>

#include <vector>

#include "rankwright/base/integer.h"

namespace rankwright::runtime {

/// Hyperparameters of AdamW.
struct AdamOptions {
  double learning_rate = 3e-4;
  double beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8;
  double weight_decay = 0.1;
};

class Optimizer {
 public:
  static constexpr i64 kSegment = 65536;  // elements

  explicit Optimizer(const AdamOptions& options) : options_(options) {}

  /// Adds contiguous elements of one parameter. `gradients` is read when step() is called.
  void add(const torch::Tensor& weights, const torch::Tensor& gradients, bool decays);
  /// Multiplies the gradients by `scale`, then updates the weights.
  void step(double scale);

 private:
  AdamOptions options_;
  std::vector<torch::Tensor> decaying_{}, plain_{};
  std::unique_ptr<torch::optim::AdamW> adam_{};
};

}  // namespace rankwright::runtime
