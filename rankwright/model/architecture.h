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
  i64 window = 0;  // tokens that a token attends to in the layers with a window; 0 if none
  // One letter per layer, repeated to the number of layers; empty for the family's own pattern:
  // F full attention, W attention with a window, L linear attention or Mamba-2. Families whose
  // layers are single blocks: * attention, M Mamba-2, - feed-forward, E experts.
  std::string pattern{};
  i64 experts = 0, active_experts = 0, expert_ffn = 0;
  // Group-limited routing: a token's experts come from `active_groups` of `expert_groups` equal
  // groups; 0 or 1 groups if a token may visit any expert.
  i64 expert_groups = 0, active_groups = 0;
  i64 shared_ffn = 0;    // width of all shared experts together
  i64 first_dense = 0;   // first_k_dense_replace: layers before the first with experts
  i64 sparse_every = 1;  // decoder_sparse_step: layers n-1, 2n-1, ... have experts
  i64 q_rank = 0, kv_rank = 0, nope_dim = 0, rope_dim = 0, value_dim = 0;
  i64 mtp_layers = 0;
  i64 index_heads = 0, index_dim = 0, index_topk = 0;  // indexer of sparse attention
  // Linear attention and Mamba-2: heads and width of values, heads (groups) and width of keys
  // (state), and taps of the convolution.
  i64 linear_heads = 0, linear_dim = 0, linear_key_heads = 0, linear_key_dim = 0, linear_conv = 0;
  i64 norms = 0;                                   // per layer; 0 for the family's number
  i64 encoder_parameters = 0, encoder_layers = 0;  // of an encoder in front, with its projector
  i64 encoder_hidden = 0, encoder_ffn = 0, encoder_heads = 0, encoder_matrices = 0;
  i64 encoder_merge = 0, encoder_projector = 0, encoder_image_tokens = 0;  // as in Encoder
  i64 encoder_stem = 0, encoder_window = 0, encoder_global_layers = 0;
  // Overrides of the family's defaults:
  std::optional<bool> tied{};
  std::optional<bool> qkv_bias{};
  std::optional<bool> out_bias{};
  std::optional<bool> ffn_bias{};
  std::optional<bool> gated{};  // the feed-forward has 3 matrices (SwiGLU, GeGLU), not 2
  std::optional<bool> norm_bias{};
  std::optional<bool> qk_norm{};
  std::optional<bool> head_bias{};
  std::optional<bool> shared_gate{};
  std::optional<bool> router_bias{};
  std::optional<bool> conv_bias{};
  std::optional<bool> linear_bias{};  // biases on the projections of linear attention or Mamba-2
  std::optional<bool> encoder_scales{}, encoder_audio{};  // as in Encoder
};

/// One number of Shapes and the name that files and diagnostics use for it.
struct ShapeField {
  std::string_view name;  // "hidden"
  i64 Shapes::*member;
};

std::span<const ShapeField> list_shape_fields();

/// One override of Shapes and the name that files use for it.
struct ShapeFlag {
  std::string_view name;  // "tied"
  std::optional<bool> Shapes::*member;
};

std::span<const ShapeFlag> list_shape_flags();

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
  std::string_view pattern = "F";  // of layers, as in Shapes
  bool chunked = false;            // W layers attend within chunks, not to the last tokens
  bool wide_norm = false;          // the norms on Q and K cover all heads
  bool gated_attention = false;    // full attention has an output gate
  bool sinks = false;
  bool indexer = false;  // sparse attention
  bool embedding_norm = false;
  Attention::Kind linear = Attention::Kind::none;  // of L and M layers
  bool conv_bias = false;
  bool single_blocks = false;  // a layer is attention, Mamba-2 or a feed-forward, not two of them
};

std::span<const Architecture> architectures();
const Architecture* find_architecture(std::string_view name);

inline constexpr i64 kMaxLayers = 8192;
// Limits of an encoder's shapes, so that no product of them exceeds 64 bits.
inline constexpr i64 kMaxEncoderWidth = i64{1} << 23;
inline constexpr i64 kMaxEncoderMerge = i64{1} << 12;
inline constexpr i64 kMaxImageTokens = i64{1} << 24;

/// Builds a Model from its shapes. Fails with RW0914 if a shape is missing or contradicts another,
/// and with RW0904 if the model is too large (more than kMaxLayers layers or about kMaxCount
/// parameters), so that later counting cannot overflow. The Diagnostic's key names the shape, such
/// as "hidden".
Result<Model> build(const Shapes&);

}  // namespace rankwright::model
