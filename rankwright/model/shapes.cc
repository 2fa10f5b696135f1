#include "rankwright/model/shapes.h"

#include <algorithm>
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
    if (!run.layer.ffn.present()) continue;
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
  s.index_heads = a.index_heads;
  s.index_dim = a.index_dim;
  s.index_topk = a.index_topk;
}

void set_linear(const Attention& a, Shapes& s) {
  s.linear_heads = a.heads;
  s.linear_dim = a.head_dim;
  s.linear_key_heads = a.kv_heads;
  s.linear_key_dim = a.state;
  s.linear_conv = a.conv;
}

/// Returns the first layer whose attention satisfies `test`, or null.
template <class Test>
const Layer* find_attention(const Model& model, Test test) {
  for (const LayerRun& run : model.runs)
    if (test(run.layer.attention)) return &run.layer;
  return nullptr;
}

char find_letter(const Layer& layer, bool single_blocks) {
  const Attention& a = layer.attention;
  if (!a.present()) return layer.ffn.sparse() ? 'E' : '-';
  if (a.recurrent()) return single_blocks ? 'M' : 'L';
  if (single_blocks) return '*';
  return a.window > 0 ? 'W' : 'F';
}

/// Returns the shortest pattern that repeats to the letters of all layers.
std::string find_pattern(const Model& model, bool single_blocks) {
  std::string letters;
  for (const LayerRun& run : model.runs)
    letters.append(std::size_t(run.count), find_letter(run.layer, single_blocks));
  for (std::size_t period = 1; period < letters.size(); ++period)
    if (std::equal(letters.begin() + std::ptrdiff_t(period), letters.end(), letters.begin()))
      return letters.substr(0, period);
  return letters;
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

namespace {

void set_attention_overrides(const Model& model, const Architecture& family, Shapes& s) {
  const Layer* const softmax =
      find_attention(model, [](const Attention& a) { return a.present() && !a.recurrent(); });
  const Layer* const windowed =
      find_attention(model, [](const Attention& a) { return a.window > 0; });
  const Layer* const linear =
      find_attention(model, [](const Attention& a) { return a.recurrent(); });
  if (softmax != nullptr) set_attention(softmax->attention, s);
  if (softmax != nullptr && softmax->attention.kind == Attention::Kind::grouped) {
    s.qkv_bias = override_if_differs(softmax->attention.qkv_bias, family.qkv_bias);
    s.out_bias = override_if_differs(softmax->attention.out_bias, family.out_bias);
    s.qk_norm = override_if_differs(softmax->attention.qk_norm, family.qk_norm);
  }
  if (windowed != nullptr) s.window = windowed->attention.window;
  if (linear == nullptr) return;
  set_linear(linear->attention, s);
  s.linear_bias = override_if_differs(linear->attention.out_bias, false);
  s.conv_bias =
      override_if_differs(linear->attention.conv_bias, family.conv_bias && s.linear_conv > 0);
}

void set_feed_forward_overrides(const Model& model, const Architecture& family, Shapes& s) {
  const Kinds kinds = find_kinds(model);
  const Layer* const any = kinds.dense != nullptr ? kinds.dense : kinds.sparse;
  if (any != nullptr) {
    s.ffn_bias = override_if_differs(any->ffn.bias, family.ffn_bias);
    s.gated = override_if_differs(any->ffn.matrices == 3, family.matrices == 3);
  }
  if (kinds.dense != nullptr) s.ffn = kinds.dense->ffn.width;
  if (kinds.sparse != nullptr) {
    set_experts(kinds.sparse->ffn, s);
    const bool gate = family.shared_gate && s.shared_ffn > 0;
    s.shared_gate = override_if_differs(kinds.sparse->ffn.shared_gate, gate);
    s.router_bias = override_if_differs(kinds.sparse->ffn.router_bias, family.router_bias);
  }
  if (family.sparse && !family.single_blocks) spread_experts(model, s);
}

}  // namespace

std::optional<Shapes> derive_shapes(const Model& model) {
  if (model.frozen.any()) {
    Model whole = model;
    freeze(whole, {});
    return derive_shapes(whole);
  }
  const Architecture* family = find_architecture(model.architecture);
  if (family == nullptr || model.runs.empty()) return std::nullopt;
  const i64 norms = model.runs.front().layer.norms;
  Shapes s{.name = model.name,
           .architecture = model.architecture,
           .hidden = model.hidden,
           .layers = model.layers(),
           .vocab = model.vocab,
           .positions = model.positions,
           .max_sequence = model.max_sequence == model.positions ? 0 : model.max_sequence,
           .mtp_layers = model.mtp_layers,
           .norms = norms == family->norms ? 0 : norms,
           .encoder_parameters = model.encoder_parameters,
           .encoder_layers = model.encoder_layers,
           .encoder_hidden = model.encoder.hidden,
           .encoder_ffn = model.encoder.ffn,
           .encoder_heads = model.encoder.heads,
           .encoder_matrices = model.encoder.matrices,
           .encoder_merge = model.encoder.merge,
           .encoder_projector = model.encoder.projector,
           .encoder_image_tokens = model.encoder.image_tokens,
           .encoder_stem = model.encoder.stem,
           .encoder_window = model.encoder.window,
           .encoder_global_layers = model.encoder.global_layers,
           .tied = override_if_differs(model.tied, family->tied),
           .norm_bias = override_if_differs(model.norm_bias, family->norm_bias),
           .head_bias = override_if_differs(model.head_bias, family->head_bias),
           .encoder_scales = override_if_differs(model.encoder.scales, false),
           .encoder_audio = override_if_differs(model.encoder.audio, false)};
  set_attention_overrides(model, *family, s);
  set_feed_forward_overrides(model, *family, s);
  for (const std::string& pattern : {std::string(), find_pattern(model, family->single_blocks)}) {
    s.pattern = pattern;
    const Result<Model> built = build(s);
    if (built && *built == model) return s;
  }
  return std::nullopt;
}

}  // namespace rankwright::model
