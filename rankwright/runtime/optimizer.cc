#include "rankwright/runtime/optimizer.h"

#include <algorithm>

namespace rankwright::runtime {

void Optimizer::add(const torch::Tensor& weights, const torch::Tensor& gradients, bool decays) {
  const i64 n = weights.numel();
  for (i64 first = 0; first < n; first += kSegment) {
    const i64 count = std::min(kSegment, n - first);
    torch::Tensor segment = weights.narrow(0, first, count).detach().requires_grad_(true);
    segment.mutable_grad() = gradients.narrow(0, first, count);
    (decays ? decaying_ : plain_).push_back(segment);
  }
}

void Optimizer::step(double scale) {
  if (!adam_) {
    torch::optim::AdamWOptions with(options_.learning_rate);
    with.betas({options_.beta1, options_.beta2})
        .eps(options_.epsilon)
        .weight_decay(options_.weight_decay);
    torch::optim::AdamWOptions without = with;
    without.weight_decay(0);
    std::vector<torch::optim::OptimizerParamGroup> groups;
    groups.emplace_back(decaying_, std::make_unique<torch::optim::AdamWOptions>(with));
    groups.emplace_back(plain_, std::make_unique<torch::optim::AdamWOptions>(without));
    adam_ = std::make_unique<torch::optim::AdamW>(groups, with);
  }
  if (scale != 1) {
    const torch::NoGradGuard no_graph;
    for (const std::vector<torch::Tensor>* list : {&decaying_, &plain_})
      for (const torch::Tensor& segment : *list) segment.grad().mul_(scale);
  }
  adam_->step();
}

}  // namespace rankwright::runtime
