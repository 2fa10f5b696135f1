// The differentiable functions that a transformer is made of, each with a backward of its own: so
// that what is kept between forward and backward is what the memory ledger counts, weights may be
// elsewhere in between (ZeRO-3), and weight gradients may wait for their cell. Tensors are
// [sequence, batch, width]; under sequence parallelism a rank holds its part of the sequence
// between blocks. What plain libtorch does (residual sums, GELU) is not here.
#pragma once

#include <torch/torch.h>

#include "rankwright/runtime/parameter.h"
#include "rankwright/runtime/rank.h"

namespace rankwright::runtime {

/// A matmul by a weight of [out, in].
struct Linear {
  const Rank* rank = nullptr;
  Parameter* weight = nullptr;
  Parameter* bias = nullptr;  // may be nothing
  bool at_once = false;       // its weight gradient does not wait for a cell of its own
  // What its collectives are counted as. Columns: the input is gathered, its gradient reduced;
  // rows: the output is reduced, its gradient gathered.
  plan::TrafficKind gathers = plan::TrafficKind::tp_all_gather;
  plan::TrafficKind scatters = plan::TrafficKind::tp_reduce_scatter;  // under sequence parallelism
  plan::TrafficKind reduces = plan::TrafficKind::tp_all_reduce;       // without
};

/// The weight is cut by rows of [out, in], that is by columns of what it makes: whole input, a part
/// of the output.
Tensor column_linear(const Tensor& x, const Linear& linear);

/// The weight is cut the other way: a part of the input, the sum of all parts as output. The bias
/// is added behind the sum.
Tensor row_linear(const Tensor& x, const Linear& linear);

struct Norm {
  const Rank* rank = nullptr;
  Parameter* weight = nullptr;
  Parameter* bias = nullptr;  // with one it is LayerNorm, without RMSNorm
};
Tensor normalise(const Tensor& x, const Norm& norm);

struct Heads {
  const Rank* rank = nullptr;
  i64 heads = 0, kv_heads = 0, width = 0;  // on this tp rank
  Tensor cosine{}, sine{};                 // rotary positions [sequence, width / 2]; or nothing
  Tensor future{};                         // [sequence, sequence]: what a token must not see
  bool again = false;  // scores are computed a second time (selective recompute)
};

/// Queries, keys and values side by side -> the heads' output, causal.
Tensor attention(const Tensor& qkv, const Heads& heads);

/// silu(gate) * up of [gate | up].
Tensor swiglu(const Tensor& x);

/// The sum over tokens of the cross-entropy, times `scale`; the vocabulary is cut over tp. The
/// logits are written over.
struct Loss {
  const Rank* rank = nullptr;
  i64 vocabulary = 0;  // what lies beyond it on the last tp rank is no word
  double scale = 1;
};
Tensor cross_entropy(const Tensor& logits, const Tensor& targets, const Loss& loss);

}  // namespace rankwright::runtime
