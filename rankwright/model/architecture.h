// The architectures that are understood, one row each, and how a Model is built from a row and
// shapes. Shapes are what config files state; a row says what the family adds without stating it
// (biases, norms, gated or not). To add a family, add a row.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "rankwright/base/result.h"
#include "rankwright/model/model.h"

namespace rankwright::model {

/// The numbers of one model. 0 = not stated.
struct Shapes {
  std::string name{};
  std::string architecture{};
  i64 hidden = 0, layers = 0, heads = 0, kv_heads = 0, head_dim = 0, ffn = 0, vocab = 0;
  i64 positions = 0;  // learned ones (gpt2, gpt); not stated: none
  i64 max_sequence = 0;
  i64 experts = 0, active_experts = 0, expert_ffn = 0;
  i64 shared_ffn = 0;    // of all shared experts together
  i64 first_dense = 0;   // first_k_dense_replace: layers before the first with experts
  i64 sparse_every = 1;  // decoder_sparse_step: layers n-1, 2n-1, ... have experts
  i64 q_rank = 0, kv_rank = 0, nope_dim = 0, rope_dim = 0, value_dim = 0;
  i64 mtp_layers = 0;
  // Where a config overrides its family:
  std::optional<bool> tied{};
  std::optional<bool> qkv_bias{};
  std::optional<bool> out_bias{};
  std::optional<bool> ffn_bias{};
};

/// One number of Shapes under the name that files and diagnostics use for it.
struct ShapeField {
  std::string_view name;  // "hidden"
  i64 Shapes::*member;
};

std::span<const ShapeField> shape_fields();

struct Architecture {
  std::string_view name;     // Hugging Face's model_type
  std::string_view summary;  // one line for `catalog`
  i64 matrices = 3;          // of a feed-forward: 3 gated, 2 plain
  i64 norms = 2;             // in a layer
  i64 ffn_multiple = 0;      // feed-forward width / hidden where a config does not say; 0: it must
  bool norm_bias = false;
  bool qkv_bias = false;
  bool out_bias = false;
  bool ffn_bias = false;
  bool head_bias = false;
  bool qk_norm = false;
  bool tied = false;               // where a config does not say
  bool learned_positions = false;  // positions are parameters
  bool latent = false;             // MLA
  bool sparse = false;             // has experts
  bool shared_gate = false;
  bool router_bias = false;
};

std::span<const Architecture> architectures();
const Architecture* find_architecture(std::string_view name);

inline constexpr i64 kMaxLayers = 8192;

/// A Model of these shapes, or what is missing or contradicts itself (RW0914), or is too large
/// (RW0904: more than kMaxLayers layers or about kMaxCount parameters, so that counting never
/// overflows). The Diagnostic's key names the shape, such as "hidden".
Result<Model> build(const Shapes&);

}  // namespace rankwright::model
