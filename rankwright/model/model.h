// A Model is one network: its layers and shapes. It says nothing about batch, precision or where
// anything runs. It is built from an architecture and shapes (architecture.h), read from a Hugging
// Face config.json (import/) or taken from the catalog.
#pragma once

#include <string>
#include <vector>

#include "rankwright/base/integer.h"

namespace rankwright::model {

/// Multi-head and grouped-query attention, or DeepSeek's latent attention (MLA).
struct Attention {
  enum class Kind : unsigned char { grouped, latent };
  Kind kind = Kind::grouped;
  i64 heads = 0;
  i64 kv_heads = 0;   // = heads without grouping; latent attention keeps none
  i64 head_dim = 0;   // grouped only; may differ from hidden / heads
  i64 q_rank = 0;     // latent: rank of the query projection, 0 where it is one full matrix
  i64 kv_rank = 0;    // latent: width of the compressed keys and values
  i64 nope_dim = 0;   // latent: part of a head's key that carries no position
  i64 rope_dim = 0;   // latent: part that does, shared by all heads
  i64 value_dim = 0;  // latent: width of a head's value
  bool qkv_bias = false;
  bool out_bias = false;
  bool qk_norm = false;  // a norm weight of head_dim on queries and on keys

  /// Widths of what enters the two attention matmuls, all heads together.
  i64 query_width() const;
  i64 key_width() const;    // as stored for grouped attention: kv_heads * head_dim
  i64 value_width() const;  // of the heads' output: what the output projection reads

  friend bool operator==(const Attention&, const Attention&) = default;
};

/// The feed-forward part: dense (experts = 0) or a mixture of experts.
struct FeedForward {
  i64 width = 0;     // dense: intermediate size
  i64 matrices = 3;  // 3 gated (SwiGLU, GeGLU), 2 plain
  bool bias = false;
  i64 experts = 0;           // routed experts; 0 for a dense layer
  i64 active = 0;            // routed experts that one token visits
  i64 expert_width = 0;      // intermediate size of one routed expert
  i64 shared_width = 0;      // intermediate size of what every token visits besides
  bool shared_gate = false;  // qwen2_moe: a hidden -> 1 gate on the shared expert
  bool router_bias = false;  // deepseek_v3: one correction term an expert

  bool sparse() const { return experts > 0; }

  friend bool operator==(const FeedForward&, const FeedForward&) = default;
};

struct Layer {
  Attention attention;
  FeedForward ffn;
  i64 norms = 2;  // norm weights of `hidden` each: 2, gemma2 4, phi 1

  friend bool operator==(const Layer&, const Layer&) = default;
};

/// `count` consecutive layers that are alike.
struct LayerRun {
  i64 count = 0;
  Layer layer{};

  friend bool operator==(const LayerRun&, const LayerRun&) = default;
};

struct Model {
  std::string name{};
  std::string architecture{};  // the row of architecture.h that it was built with
  i64 hidden = 0;
  i64 vocab = 0;
  i64 positions = 0;       // learned position embeddings (gpt2); 0 for rotary
  bool tied = false;       // the output head shares the embedding's weight
  bool head_bias = false;  // phi
  bool norm_bias = false;  // LayerNorm (gpt2, gpt_neox, phi) has one, RMSNorm does not
  std::vector<LayerRun> runs{};
  i64 mtp_layers = 0;    // multi-token-prediction modules behind the last layer (deepseek_v3)
  i64 max_sequence = 0;  // what the model was made for; 0 where not stated

  i64 layers() const;             // without MTP
  const Layer& layer(i64) const;  // 0 <= index < layers()
  bool sparse() const;            // any layer with experts

  friend bool operator==(const Model&, const Model&) = default;
};

/// Names are for people: two models are one network where everything else is the same.
bool same_network(const Model& a, const Model& b);

}  // namespace rankwright::model
