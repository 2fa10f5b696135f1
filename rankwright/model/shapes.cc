#include "rankwright/model/shapes.h"

#include <vector>

namespace rankwright::model {
namespace {

/// The first layer of each kind, or null if there is none.
struct Kinds {
  const Layer* dense = nullptr;
  const Layer* sparse = nullptr;
};

Kinds find_kinds(const Model& model) {
  Kinds kinds;
  for (const LayerRun& run : model.runs) {
    const Layer*& kind = run.layer.ffn.sparse() ? kinds.sparse : kinds.dense;
    if (kind == nullptr) kind = &run.layer;
  }
  return kinds;
}

/// Returns the indices of the first layers with experts, at most two: enough to see how they are
/// spread.
std::vector<i64> first_sparse_layers(const Model& model) {
  std::vector<i64> at;
  i64 begin = 0;
  for (const LayerRun& run : model.runs) {
    for (i64 i = 0; run.layer.ffn.sparse() && i < run.count && at.size() < 2; ++i)
      at.push_back(begin + i);
    begin += run.count;
  }
  return at;
}

/// Sets first_dense and sparse_every: layers n-1, 2n-1, ... have experts, from first_dense on.
void spread_experts(const Model& model, Shapes& s) {
  const std::vector<i64> at = first_sparse_layers(model);
  if (at.empty()) {
    s.first_dense = model.layers();
    s.experts = s.active_experts = s.expert_ffn = 1;
    return;
  }
  const bool last = at.front() + 1 == model.layers();
  const i64 alone = last ? 1 : at.front() + 1;  // the next one would be after the last layer
  s.sparse_every = at.size() == 2 ? at[1] - at[0] : alone;
  s.first_dense = at.front() + 1 == s.sparse_every ? 0 : at.front();
}

void set_attention(const Attention& a, Shapes& s) {
  s.heads = a.heads;
  s.kv_heads = a.kv_heads;
  s.head_dim = a.head_dim;
  s.q_rank = a.q_rank;
  s.kv_rank = a.kv_rank;
  s.nope_dim = a.nope_dim;
  s.rope_dim = a.rope_dim;
  s.value_dim = a.value_dim;
}

void set_experts(const FeedForward& ffn, Shapes& s) {
  s.experts = ffn.experts;
  s.active_experts = ffn.active;
  s.expert_groups = ffn.groups;
  s.active_groups = ffn.active_groups;
  s.expert_ffn = ffn.expert_width;
  s.shared_ffn = ffn.shared_width;
}

/// Returns a value only if it differs from the family's default.
std::optional<bool> override_if_differs(bool has, bool family) {
  return has == family ? std::nullopt : std::optional(has);
}

}  // namespace

std::optional<Shapes> derive_shapes(const Model& model) {
  const Architecture* family = find_architecture(model.architecture);
  if (family == nullptr || model.runs.empty()) return std::nullopt;
  const Layer& first = model.runs.front().layer;
  Shapes s{.name = model.name,
           .architecture = model.architecture,
           .hidden = model.hidden,
           .layers = model.layers(),
           .vocab = model.vocab,
           .positions = model.positions,
           .max_sequence = model.max_sequence == model.positions ? 0 : model.max_sequence,
           .window = model.window,
           .mtp_layers = model.mtp_layers,
           .tied = override_if_differs(model.tied, family->tied),
           .ffn_bias = override_if_differs(first.ffn.bias, family->ffn_bias),
           .gated = override_if_differs(first.ffn.matrices == 3, family->matrices == 3)};
  if (first.attention.kind == Attention::Kind::grouped) {
    s.qkv_bias = override_if_differs(first.attention.qkv_bias, family->qkv_bias);
    s.out_bias = override_if_differs(first.attention.out_bias, family->out_bias);
  }
  set_attention(first.attention, s);
  const Kinds kinds = find_kinds(model);
  if (kinds.dense != nullptr) s.ffn = kinds.dense->ffn.width;
  if (kinds.sparse != nullptr) set_experts(kinds.sparse->ffn, s);
  if (family->sparse) spread_experts(model, s);
  const Result<Model> built = build(s);
  if (!built || *built != model) return std::nullopt;
  return s;
}

}  // namespace rankwright::model
