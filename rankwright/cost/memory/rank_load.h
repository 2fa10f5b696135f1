// The contents of a pp rank in the form that the memory estimate needs: sums and maxima over its
// chunks, without lists. RankContents (plan/plan.h) has the same content with lists. A search
// computes millions of these, so nothing is allocated per pp rank.
#pragma once

#include <span>
#include <vector>

#include "rankwright/cost/memory/activations.h"
#include "rankwright/plan/plan.h"
#include "rankwright/plan/shares.h"

namespace rankwright::cost {

/// The parameters and activations of one pp rank, summed over its chunks.
struct RankLoad {
  i64 pp_rank = 0;
  i64 layers = 0;
  plan::Share share{};
  plan::Share trained{};  // what has gradients; under LoRA the adapters
  i64 sharded = 0;        // parameters that ZeRO shards
  i64 largest_layer = 0;  // of the largest layer, parameters that ZeRO shards
  i64 largest_edge = 0;   // of the largest unit of embedding and head, likewise
  i64 edges = 0;          // of embedding and head together, likewise
  // Trained parameters, likewise: all, those of the largest layer, and of the largest unit of
  // embedding and head.
  i64 sharded_trained = 0, largest_trained_layer = 0, largest_trained_edge = 0;
  bool encodes = false;  // has the model's first layer, and the encoder in front of it
  bool embeds = false;
  bool loss = false;
  Bytes embedding_chunk{};  // activations per microbatch of the first chunk that embeds
  Bytes held{};             // activations of all microbatches in flight
  Bytes brought_back{};     // restored by recomputation for the backward of one layer
  Bytes gradients{};        // inside one layer
  Bytes offloaded{};        // activations of all microbatches in flight in host memory
  // Added to `held` by fp32 weights and adapters, by the way in which ZeRO handles them (M33):
  Bytes casts{};                                // of inputs, in layers that are not recomputed
  Bytes wide_inputs{};                          // of recomputed layers
  Bytes layer_casts{};                          // added to `brought_back`
  double attention = 0, dense = 0, sparse = 0;  // elements in the largest matrices of each kind
};

/// Computes the loads of a config. Values common to all pp ranks are computed once.
class RankLoads {
 public:
  /// Requires: the config has no constraint violation.
  explicit RankLoads(const plan::TrainingConfig& config);

  /// Computes the load of a pp rank.
  RankLoad of(i64 pp_rank);
  /// Returns the loads of all pp ranks that may have the peak memory under any ZeRO stage. A rank
  /// with the same contents as the previous one and no more microbatches in flight cannot.
  std::vector<RankLoad> peak_candidates();
  /// Returns the activations of one microbatch by chunk, for the last pp rank passed to of().
  std::span<const double> chunks() const { return chunks_; }

 private:
  /// Returns whether every chunk has the same contents as that chunk of the previous pp rank.
  bool same_as_previous(i64 pp_rank) const;
  /// Returns whether all chunks of the last pp rank passed to of() keep equally much.
  bool even_chunks() const;
  /// Returns the parameters that ZeRO shards over more than one rank.
  i64 sharded(const plan::Share& share) const;
  /// Returns the activations that overlapped dispatch holds more (M34), for the last pp rank passed
  /// to of().
  Bytes held_by_overlap(i64 pp_rank) const;

  /// The memory-relevant values of one layer in a run of identical consecutive layers.
  struct Kind {
    i64 end = 0;  // index after the last of these layers
    bool sparse = false;
    plan::Share share{};
    plan::Share trained{};
    i64 sharded = 0, sharded_trained = 0;  // parameters that ZeRO shards
    LayerActivations activations{};
    LayerMatrices matrices{};
  };

  const plan::Stage& stage(i64 s) const { return stages_[std::size_t(s)]; }
  i64 first_layer(i64 s) const { return before_[std::size_t(s)]; }
  i64 stage_of(i64 pp_rank, i64 chunk) const;
  /// Adds `count` layers of a kind, `again` of them recomputed; returns the bytes that they keep
  /// per microbatch.
  double add(RankLoad& load, const Kind& kind, i64 count, i64 again) const;
  /// Moves the inputs of recomputed layers to the host: one stays while it is read, and the next
  /// arrives. Returns what `again` layers of a kind move per microbatch.
  double offload(RankLoad& load, const Kind& kind, i64 again) const;
  /// Adds the encoder's layers to the chunk that embeds; returns the bytes that they keep per
  /// microbatch (M38). They stay on the device.
  double add_encoder(RankLoad& load, std::size_t chunk);
  void add_layers(RankLoad& load, i64 pp_rank);
  void add_edges(RankLoad& load) const;

  const plan::TrainingConfig& config_;
  pipeline::PipelineShape shape_;
  bool vee_, mirrored_;  // how stages are assigned to pp ranks
  plan::Stages stages_;
  std::vector<i64> before_{};  // by stage: number of layers before it
  std::vector<Kind> kinds_{};
  Kind mtp_{};
  LayerActivations encoder_{};  // one of its layers; 0 unless it runs and is trained
  plan::Share embedding_{}, head_{}, tied_head_{}, vocabulary_{};
  bool apart_ = false;                 // the vocabulary weight is a unit of its own
  Bytes logits_{};                     // of a microbatch, if the framework keeps them
  Bytes head_inputs_{};                // of the last norm and of the head, if they are counted
  Bytes head_casts_{};                 // added to them by hidden states in fp32 (M33)
  Bytes output_{};                     // of a stage, if the framework keeps it
  bool dense_spread_, expert_spread_;  // sharded over more than one rank, or offloaded
  // For the last pp rank passed to of():
  std::vector<double> chunks_{};     // activations of one microbatch, by chunk
  std::vector<double> offloaded_{};  // likewise in host memory; empty without offload
  std::vector<double> casts_{};      // M33; empty if there are none
  std::vector<double> wide_inputs_{};
  std::size_t embedding_chunk_ = 0;
};

}  // namespace rankwright::cost
