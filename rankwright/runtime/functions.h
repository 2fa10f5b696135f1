// The differentiable functions of a transformer, each with its own backward. Between forward and
// backward they keep exactly what the memory estimate counts; weights may be resharded in between
// (ZeRO-3), and weight gradients may be deferred to a cell of their own. Tensors are [sequence,
// batch, width]; under sequence parallelism a rank holds its part of the sequence between blocks.
#pragma once

#include <torch/torch.h>

#include <vector>

#include "rankwright/runtime/parameter.h"
#include "rankwright/runtime/rank.h"

namespace rankwright::runtime {

/// A pair of low-rank matrices that LoRA adds to some outputs of a linear layer whose weight is
/// frozen: y += B A x. LoRA's factor alpha / rank is 1, that is, alpha equals the rank. In a
/// column-parallel layer tp splits B along its outputs and every tp rank holds A; in a row-parallel
/// layer tp splits A along its inputs and every tp rank holds B. The gradient of the half that
/// every rank holds is partial.
struct Adapter {
  Parameter* a = nullptr;      // [lora rank, in]
  Parameter* b = nullptr;      // [outputs, lora rank]
  i64 first = 0, outputs = 0;  // of the layer's outputs on this rank
};

/// A matrix multiplication by a weight of [out, in].
struct Linear {
  const Rank* rank = nullptr;
  Parameter* weight = nullptr;
  Parameter* bias = nullptr;  // optional
  std::vector<Adapter> adapters{};
  bool frozen = false;     // weight and bias have no gradients
  bool immediate = false;  // never defers its weight gradient to a W cell
  // The traffic kinds of its collectives. Column-parallel: gathers the input and reduces its
  // gradient. Row-parallel: reduces the output and gathers its gradient.
  plan::TrafficKind gathers = plan::TrafficKind::tp_all_gather;
  plan::TrafficKind scatters = plan::TrafficKind::tp_reduce_scatter;  // under sequence parallelism
  plan::TrafficKind reduces = plan::TrafficKind::tp_all_reduce;       // without
};

/// Applies a column-parallel linear layer: the weight is split along `out`. Takes the whole input
/// and returns this rank's columns of the output.
Tensor column_linear(const Tensor& x, const Linear& linear);

/// Applies a row-parallel linear layer: the weight is split along `in`. Takes this rank's columns
/// of the input and returns the sum over tp ranks. The bias is added after the sum.
Tensor row_linear(const Tensor& x, const Linear& linear);

/// A normalization layer.
struct Norm {
  const Rank* rank = nullptr;
  Parameter* weight = nullptr;
  Parameter* bias = nullptr;  // LayerNorm if set, else RMSNorm
  bool frozen = false;        // they have no gradients
};
Tensor normalize(const Tensor& x, const Norm& norm);

/// The attention heads of this tp rank.
struct Heads {
  const Rank* rank = nullptr;
  i64 heads = 0, kv_heads = 0, width = 0;
  Tensor cosine{}, sine{};  // rotary embedding [sequence, width / 2]; optional
  Tensor future{};          // [sequence, sequence]: causal mask, true where masked
  bool recompute = false;   // recompute scores in backward (selective recompute)
};

/// Computes causal attention of concatenated queries, keys and values. Returns the heads' output.
Tensor attention(const Tensor& qkv, const Heads& heads);

/// Computes silu(gate) * up of [gate | up].
Tensor swiglu(const Tensor& x);

/// Parameters of the vocabulary-parallel cross-entropy.
struct Loss {
  const Rank* rank = nullptr;
  i64 vocabulary = 0;  // entries beyond it on the last tp rank are padding
  double scale = 1;
};
/// Computes the sum of the cross-entropy over tokens, times `loss.scale`. Overwrites the logits.
Tensor cross_entropy(const Tensor& logits, const Tensor& targets, const Loss& loss);

}  // namespace rankwright::runtime
