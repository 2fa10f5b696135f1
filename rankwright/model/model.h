// A Model is one network: its layers and shapes, without batch, precision or placement. It is built
// from an architecture and shapes (architecture.h), read from a Hugging Face config.json (import/),
// or taken from the catalog.
#pragma once

#include <string>
#include <vector>

#include "rankwright/base/integer.h"

namespace rankwright::model {

/// The part of one layer in which tokens read other tokens: softmax attention (multi-head,
/// grouped-query, or DeepSeek's latent attention, MLA), or a recurrence with a state of fixed size
/// (gated delta net, lightning attention, Mamba-2). A layer without such a part has Kind::none.
struct Attention {
  enum class Kind : unsigned char { grouped, latent, delta, lightning, mamba, none };
  Kind kind = Kind::grouped;
  i64 heads = 0;
  // = heads without grouping; 0 for latent attention. Recurrences: heads of queries and keys, which
  // Mamba-2 calls groups.
  i64 kv_heads = 0;
  i64 head_dim = 0;   // grouped: may differ from hidden / heads; recurrences: of a head's value
  i64 q_rank = 0;     // latent: rank of the query projection; 0 if it is one full matrix
  i64 kv_rank = 0;    // latent: width of the compressed keys and values
  i64 nope_dim = 0;   // latent: part of a head's key without position encoding
  i64 rope_dim = 0;   // latent: part with rotary position encoding, shared by all heads
  i64 value_dim = 0;  // latent: width of a head's value
  bool qkv_bias = false;
  bool out_bias = false;
  bool qk_norm = false;    // norm weights of head_dim each, on queries and keys
  bool wide_norm = false;  // qk_norm has one weight per element of all heads (olmo2, cohere)
  bool gated = false;      // an output gate as wide as the queries (qwen3_next)
  bool sinks = false;      // one learned score per head (gpt_oss)
  i64 window = 0;          // tokens that a token attends to, itself included; 0 for all before it
  bool chunked = false;    // `window` is a chunk: tokens attend within their chunk (llama4)
  i64 index_heads = 0;     // sparse attention (DSA): heads of the indexer, 0 without
  i64 index_dim = 0;       // width of such a head
  i64 index_topk = 0;      // tokens that the indexer selects for each token
  i64 state = 0;           // recurrences: width of a head's key
  i64 conv = 0;            // recurrences: taps of the convolution over time; 0 without
  bool conv_bias = false;
  bool causal = true;  // false: a token also attends to those after it (encoders)

  /// Returns whether the layer keeps a state of fixed size instead of all keys and values.
  bool recurrent() const {
    return kind == Kind::delta || kind == Kind::lightning || kind == Kind::mamba;
  }
  bool present() const { return kind != Kind::none; }

  /// Widths of the inputs of the two attention matmuls, summed over heads.
  i64 query_width() const;
  i64 key_width() const;    // for grouped attention as stored: kv_heads * head_dim
  i64 value_width() const;  // of the heads' output, which the output projection reads
  /// Recurrences: columns of the input projections, and channels of the convolution.
  i64 projected_width() const;
  i64 conv_channels() const;

  friend bool operator==(const Attention&, const Attention&) = default;
};

/// The feed-forward part of one layer: dense (experts = 0) or a mixture of experts.
struct FeedForward {
  i64 width = 0;     // dense: intermediate size
  i64 matrices = 3;  // 3 gated (SwiGLU, GeGLU), 2 plain
  bool bias = false;
  i64 experts = 0;           // routed experts; 0 for a dense layer
  i64 active = 0;            // routed experts that one token visits
  i64 groups = 0;            // group-limited routing: equal groups of experts; 0 without
  i64 active_groups = 0;     // groups that one token's experts may come from
  i64 expert_width = 0;      // intermediate size of one routed expert
  i64 shared_width = 0;      // intermediate size of the shared experts, which every token visits
  bool shared_gate = false;  // qwen2_moe: a hidden -> 1 gate on the shared expert
  bool router_bias = false;  // deepseek_v3: one correction term per expert

  bool sparse() const { return experts > 0; }
  bool present() const { return sparse() || width > 0; }

  friend bool operator==(const FeedForward&, const FeedForward&) = default;
};

/// The gradients that backward computes for a layer. frozen: the gradient of its input only.
/// forward_only: nothing, because neither the layer nor anything before it is trained.
enum class Training : unsigned char { full, frozen, forward_only };

struct Layer {
  Attention attention;
  FeedForward ffn;
  i64 norms = 2;        // norm weights of `hidden` each: 2; gemma2 has 4, phi 1
  bool scales = false;  // learned scales of `hidden` on the output of each block (LayerScale)
  Training training = Training::full;

  /// Returns the number of residual blocks: attention and feed-forward, or one of them
  /// (nemotron_h).
  int blocks() const { return (attention.present() ? 1 : 0) + (ffn.present() ? 1 : 0); }

  friend bool operator==(const Layer&, const Layer&) = default;
};

/// A run of `count` consecutive identical layers.
struct LayerRun {
  i64 count = 0;
  Layer layer{};

  friend bool operator==(const LayerRun&, const LayerRun&) = default;
};

/// The parts whose weights are not trained. A tied head's weight belongs to the embedding. MTP
/// modules are frozen with the last layer.
struct FrozenParts {
  bool encoder = false;    // with its projector
  bool embedding = false;  // with learned positions
  i64 first = 0, end = 0;  // layers first to end - 1
  bool head = false;       // with the last norm

  bool any() const { return encoder || embedding || first < end || head; }
  friend bool operator==(const FrozenParts&, const FrozenParts&) = default;
};
/// Returns the parts as a plan file lists them: "embedding, layers 0-15".
std::string show(const FrozenParts& parts);

/// The shapes of an encoder of images or audio, whose layers are alike. All 0 if only its
/// parameters are known. It cuts an image, or a clip of audio, into patches, and joins `merge` of
/// them into a token of the model.
struct Encoder {
  i64 hidden = 0, ffn = 0, heads = 0;
  i64 matrices = 0;   // per feed-forward: 3 gated, 2 plain
  i64 merge = 0;      // patches per token
  i64 projector = 0;  // weights that each token is multiplied with, from patches to Model::hidden
  i64 image_tokens = 0;   // tokens per image or clip; 0 if images have any size
  i64 stem = 0;           // weights that each patch is multiplied with before the first layer
  i64 window = 0;         // patches that attend to each other; 0 for all of an image
  i64 global_layers = 0;  // with a window: layers that attend to all patches
  bool scales = false;    // as Layer::scales
  bool audio = false;     // encodes clips of audio

  friend bool operator==(const Encoder&, const Encoder&) = default;
};

struct Model {
  std::string name{};
  std::string architecture{};  // its row in architecture.h
  i64 hidden = 0;
  i64 vocab = 0;
  i64 positions = 0;       // learned position embeddings (gpt2); 0 for rotary
  bool tied = false;       // the output head shares the embedding's weight
  bool head_bias = false;  // phi
  bool norm_bias = false;  // LayerNorm (gpt2, gpt_neox, phi) has a bias, RMSNorm does not
  std::vector<LayerRun> runs{};
  i64 mtp_layers = 0;       // multi-token-prediction modules after the last layer (deepseek_v3)
  i64 max_sequence = 0;     // longest sequence that the model was made for; 0 if not stated
  i64 embedding_norms = 0;  // norms right after the embedding (bloom: 1)
  // A vision or audio encoder in front of the first layer: the parameters of all its parts, with
  // the projector to `hidden`, its layers, and their shapes.
  i64 encoder_parameters = 0, encoder_layers = 0;
  Encoder encoder{};
  FrozenParts frozen{};  // set by freeze(), which marks the layers, too

  i64 layers() const;             // without MTP
  const Layer& layer(i64) const;  // 0 <= index < layers()
  bool sparse() const;            // whether any layer has experts
  bool latent() const;            // whether any layer has latent attention
  bool recurrent() const;         // whether any layer keeps a state instead of keys and values

  friend bool operator==(const Model&, const Model&) = default;
};

/// Freezes these parts of a model, and no others. Layers that the model does not have are ignored.
void freeze(Model& model, const FrozenParts& parts);

/// Returns the encoder's layers: those with a window first, which is a chunk of an image, then
/// those that attend to all of it. Empty if its shapes are not known.
std::vector<LayerRun> list_encoder_layers(const Model& model);

/// Returns whether nothing of the model is trained.
bool is_all_frozen(const Model& model);

/// Returns whether two models are equal in everything but their names and their frozen parts.
bool is_same_network(const Model& a, const Model& b);

}  // namespace rankwright::model
