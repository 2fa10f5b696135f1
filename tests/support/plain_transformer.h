// A reference for tests and benchmarks: the runtime's models written directly in libtorch for one
// process, with libtorch's layers and autograd and none of our code.
#pragma once

#include <torch/torch.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "rankwright/model/model.h"

namespace rankwright {

class PlainTransformer {
 public:
  /// Copies the weights, which have the runtime's names.
  PlainTransformer(const model::Model& model, const std::map<std::string, torch::Tensor>& weights)
      : model_(model) {
    for (const auto& [name, weight] : weights)
      weights_[name] = weight.detach().clone().requires_grad_(true);
  }

  /// Returns the mean loss over tokens; tokens and targets are [batch, sequence].
  torch::Tensor loss(const torch::Tensor& tokens, const torch::Tensor& targets) const {
    const i64 sequence = tokens.size(1);
    torch::Tensor x = torch::embedding(w("embedding.words"), tokens);
    if (model_.positions > 0) x = x + w("embedding.positions").narrow(0, 0, sequence);
    for (i64 i = 0; i < model_.layers(); ++i)
      x = layer(x, "layers." + std::to_string(i), model_.layer(i));
    x = norm(x, "head_norm");
    const torch::Tensor logits = torch::linear(x, w(model_.tied ? "embedding.words" : "head"));
    return torch::cross_entropy_loss(logits.view({-1, logits.size(-1)}), targets.reshape({-1}));
  }

  std::map<std::string, torch::Tensor>& weights() { return weights_; }
  std::vector<torch::Tensor> count_parameters() const {
    std::vector<torch::Tensor> all;
    for (const auto& [name, weight] : weights_) all.push_back(weight);
    return all;
  }

 private:
  const torch::Tensor& w(const std::string& name) const { return weights_.at(name); }
  torch::Tensor bias(const std::string& name) const {
    const auto found = weights_.find(name);
    return found == weights_.end() ? torch::Tensor() : found->second;
  }

  torch::Tensor norm(const torch::Tensor& x, const std::string& name) const {
    constexpr double kEpsilon = 1e-5;
    if (model_.norm_bias)
      return torch::layer_norm(x, {x.size(-1)}, w(name + ".weight"), w(name + ".bias"), kEpsilon);
    return x * torch::rsqrt(x.square().mean(-1, true) + kEpsilon) * w(name + ".weight");
  }

  /// Makes the causal mask and the rotary tables once per sequence length.
  void make_tables(const torch::Tensor& x, i64 width) const {
    const i64 sequence = x.size(1);
    if (future_.defined() && future_.size(0) == sequence) return;
    future_ = torch::ones({sequence, sequence}, torch::kBool).triu(1);
    const torch::Tensor i = torch::arange(0, width, 2, torch::kFloat64);
    const torch::Tensor angle = torch::outer(torch::arange(sequence, torch::kFloat64),
                                             torch::pow(10000.0, -i / double(width)));
    cosine_ = angle.cos().to(x.scalar_type());
    sine_ = angle.sin().to(x.scalar_type());
  }

  torch::Tensor rotated(const torch::Tensor& x) const {
    const i64 half = x.size(3) / 2;
    const torch::Tensor a = x.narrow(-1, 0, half), b = x.narrow(-1, half, half);
    return torch::cat({a * cosine_ - b * sine_, b * cosine_ + a * sine_}, -1);
  }

  torch::Tensor attention(const torch::Tensor& x, const std::string& name,
                          const model::Attention& shape) const {
    const i64 batch = x.size(0), sequence = x.size(1), width = shape.head_dim;
    make_tables(x, width);
    const torch::Tensor qkv = torch::linear(x, w(name + ".qkv"), bias(name + ".qkv_bias"));
    const auto heads = [&](i64 first, i64 count) {
      return qkv.narrow(-1, first * width, count * width)
          .view({batch, sequence, count, width})
          .transpose(1, 2);
    };
    torch::Tensor q = heads(0, shape.heads), k = heads(shape.heads, shape.kv_heads);
    torch::Tensor v = heads(shape.heads + shape.kv_heads, shape.kv_heads);
    if (model_.positions == 0) {
      q = rotated(q);
      k = rotated(k);
    }
    if (shape.kv_heads < shape.heads) {
      k = k.repeat_interleave(shape.heads / shape.kv_heads, 1);
      v = v.repeat_interleave(shape.heads / shape.kv_heads, 1);
    }
    const torch::Tensor scores =
        (torch::matmul(q, k.transpose(2, 3)) / std::sqrt(double(width)))
            .masked_fill(future_, -std::numeric_limits<double>::infinity());
    const torch::Tensor out = torch::matmul(torch::softmax(scores, -1), v);
    return torch::linear(out.transpose(1, 2).reshape({batch, sequence, -1}), w(name + ".out"),
                         bias(name + ".out_bias"));
  }

  torch::Tensor layer(const torch::Tensor& x, const std::string& name,
                      const model::Layer& shape) const {
    const torch::Tensor middle =
        x + attention(norm(x, name + ".attention_norm"), name, shape.attention);
    const torch::Tensor up =
        torch::linear(norm(middle, name + ".mlp_norm"), w(name + ".up"), bias(name + ".up_bias"));
    torch::Tensor inside;
    if (shape.ffn.matrices == 3) {
      const i64 width = up.size(-1) / 2;
      inside = torch::silu(up.narrow(-1, 0, width)) * up.narrow(-1, width, width);
    } else {
      inside = torch::gelu(up);
    }
    return middle + torch::linear(inside, w(name + ".down"), bias(name + ".down_bias"));
  }

  const model::Model& model_;
  std::map<std::string, torch::Tensor> weights_{};
  mutable torch::Tensor cosine_{}, sine_{}, future_{};
};

}  // namespace rankwright
