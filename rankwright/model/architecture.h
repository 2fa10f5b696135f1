// The supported architectures, one row each, and how a Model is built from a row and Shapes. Shapes
// are the numbers that config files state; a row holds what the family implies without stating it
// (biases, norms, gated MLP). To add a family, add a row.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "rankwright/base/result.h"
#include "rankwright/model/model.h"

namespace rankwright::model {

/// The numbers of one model, as a config file states them. 0 means not stated.
struct Shapes {
  std::string name{};
  std::string architecture{};
  i64 hidden = 0, layers = 0, heads = 0, kv_heads = 0, head_dim = 0, ffn = 0, vocab = 0;
  i64 positions = 0;  // learned position embeddings (gpt2, gpt); 0 if none
  i64 max_sequence = 0;
  i64 window = 0;  // tokens that a token attends to in the layers with a sliding window; 0 if none
  i64 experts = 0, active_experts = 0, expert_ffn = 0;
  // Group-limited routing: a token's experts come from `active_groups` of `expert_groups` equal
  // groups; 0 or 1 groups if a token may visit any expert.
  i64 expert_groups = 0, active_groups = 0;
  i64 shared_ffn = 0;    // width of all shared experts together
  i64 first_dense = 0;   // first_k_dense_replace: layers before the first with experts
  i64 sparse_every = 1;  // decoder_sparse_step: layers n-1, 2n-1, ... have experts
  i64 q_rank = 0, kv_rank = 0, nope_dim = 0, rope_dim = 0, value_dim = 0;
  i64 mtp_layers = 0;
  // Overrides of the family's defaults:
  std::optional<bool> tied{};
  std::optional<bool> qkv_bias{};
  std::optional<bool> out_bias{};
  std::optional<bool> ffn_bias{};
  std::optional<bool> gated{};  // the feed-forward has 3 matrices (SwiGLU, GeGLU), not 2
};

/// One number of Shapes and the name that files and diagnostics use for it.
struct ShapeField {
  std::string_view name;  // "hidden"
  i64 Shapes::*member;
};

std::span<const ShapeField> list_shape_fields();

/// The defaults of a model family, which its configs do not state.
struct Architecture {
  std::string_view name;     // Hugging Face's model_type
  std::string_view summary;  // one line for `catalog`
  i64 matrices = 3;          // per feed-forward: 3 gated, 2 plain
  i64 norms = 2;             // per layer
  // Default feed-forward width / hidden; 0 if the config must state the width.
  i64 ffn_multiple = 0;
  bool norm_bias = false;
  bool qkv_bias = false;
  bool out_bias = false;
  bool ffn_bias = false;
  bool head_bias = false;
  bool qk_norm = false;
  bool tied = false;               // unless the config overrides it
  bool learned_positions = false;  // positions are parameters
  bool latent = false;             // MLA
  bool sparse = false;             // has experts
  bool shared_gate = false;
  bool router_bias = false;
};

std::span<const Architecture> architectures();
const Architecture* find_architecture(std::string_view name);

inline constexpr i64 kMaxLayers = 8192;

/// Builds a Model from its shapes. Fails with RW0914 if a shape is missing or contradicts another,
/// and with RW0904 if the model is too large (more than kMaxLayers layers or about kMaxCount
/// parameters), so that later counting cannot overflow. The Diagnostic's key names the shape, such
/// as "hidden".
Result<Model> build(const Shapes&);

}  // namespace rankwright::model
