// What a pp rank has, added up over its chunks in the form that the memory ledger wants: sums and
// largest ones, no lists. RankContents (plan/plan.h) says the same with lists; a search asks for
// millions of these, so here nothing is allocated for a pp rank.
#pragma once

#include <span>
#include <vector>

#include "rankwright/cost/memory/activations.h"
#include "rankwright/plan/plan.h"
#include "rankwright/plan/shares.h"

namespace rankwright::cost {

struct RankLoad {
  i64 pp_rank = 0;
  plan::Share share{};
  i64 sharded = 0;        // parameters that ZeRO spreads
  i64 largest_layer = 0;  // parameters of it that ZeRO shards
  i64 largest_edge = 0;   // the same of embedding and head
  i64 edges = 0;          // of both together
  bool embeds = false;
  bool loss = false;
  Bytes embedding_chunk{};  // activations of a microbatch in the first that embeds
  Bytes held{};             // activations of all microbatches in flight
  Bytes brought_back{};     // by recompute, for the backward of one layer
  Bytes gradients{};        // inside one layer
  double attention = 0, dense = 0, sparse = 0;  // numbers in the largest matrices of each kind
};

/// The loads of a config without violations: what is alike on all pp ranks is counted once.
class RankLoads {
 public:
  explicit RankLoads(const plan::TrainingConfig& config);

  RankLoad of(i64 pp_rank);
  /// Of all pp ranks that may be the fullest, whatever ZeRO does: the same contents as on the rank
  /// before, with no more microbatches in flight, cannot take more.
  std::vector<RankLoad> peak_candidates();
  /// Activations of one microbatch, by chunk of the pp rank that was asked for last.
  std::span<const double> chunks() const { return chunks_; }

 private:
  /// Every chunk has what the same chunk of the pp rank before has.
  bool like_the_one_before(i64 pp_rank) const;
  /// All chunks of the pp rank that was asked for last keep as much of a microbatch.
  bool even_chunks() const;
  /// Parameters that ZeRO spreads over ranks: what one rank holds alone is there already.
  i64 sharded(const plan::Share& share) const;

  /// Layers in a row that are alike, and what one of them is to the ledger.
  struct Kind {
    i64 end = 0;  // layers of the model up to the last of them
    bool sparse = false;
    plan::Share share{};
    i64 sharded = 0;  // parameters that ZeRO spreads
    LayerActivations activations{};
    LayerMatrices matrices{};
  };

  const plan::Stage& stage(i64 s) const { return stages_[std::size_t(s)]; }
  i64 first_layer(i64 s) const { return before_[std::size_t(s)]; }
  i64 stage_of(i64 pp_rank, i64 chunk) const;
  /// `count` layers of a kind, of which `again` run again; what they keep of a microbatch.
  double add(RankLoad& load, const Kind& kind, i64 count, i64 again) const;
  void add_layers(RankLoad& load, i64 pp_rank);
  void add_edges(RankLoad& load) const;

  const plan::TrainingConfig& config_;
  pipeline::PipelineShape shape_;
  bool vee_, mirrored_;  // how stages lie on pp ranks
  plan::Stages stages_;
  std::vector<i64> before_{};  // by stage: layers of the model before it
  std::vector<Kind> kinds_{};
  Kind mtp_{};
  plan::Share embedding_{}, head_{}, tied_head_{}, vocabulary_{};
  bool apart_ = false;                 // the vocabulary's weight is a unit by itself
  Bytes logits_{};                     // of a microbatch, where the framework keeps them
  Bytes output_{};                     // of a stage, where the framework keeps it
  bool dense_spread_, expert_spread_;  // over more than one rank
  // Of the pp rank that was asked for last:
  std::vector<double> chunks_{};  // activations of one microbatch, by chunk
  std::size_t embedding_chunk_ = 0;
};

}  // namespace rankwright::cost
