// Shares: the number of parameters per rank, by the group that keeps them consistent, before ZeRO
// divides their states over the data ranks. Formulas S1 to S4.
#pragma once

#include <vector>

#include "rankwright/model/model.h"
#include "rankwright/plan/plan.h"

namespace rankwright::plan {

/// The number of parameters on one rank. `dense` gradients are reduced over dp x cp, `expert`
/// gradients over the expert data ranks. `sequence_shared` is the part of `dense` that every tp
/// rank holds and, under sequence parallelism, sees only part of the tokens: norms, biases added
/// after a reduction, the router. `head_norms` is the part of those that sees only this rank's
/// heads, with or without sequence parallelism: norms on queries and keys.
struct Share {
  i64 dense = 0;
  i64 expert = 0;
  i64 sequence_shared = 0;
  i64 head_norms = 0;

  i64 total() const { return dense + expert; }
  Share& operator+=(const Share& other) {
    dense += other.dense;
    expert += other.expert;
    sequence_shared += other.sequence_shared;
    head_norms += other.head_norms;
    return *this;
  }
  friend Share operator*(i64 times, const Share& share) {
    return {times * share.dense, times * share.expert, times * share.sequence_shared,
            times * share.head_norms};
  }
  friend bool operator==(const Share&, const Share&) = default;
};

/// Returns the vocabulary rows per tp rank: V rounded up to a multiple of tp, divided by tp.
i64 count_vocabulary_rows(const model::Model& model, i64 tp);

/// Returns the share of one layer, split over tp (key and value heads repeat if there are fewer
/// than tp), ep and etp.
Share count_layer_share(const model::Model& model, const model::Layer& layer, const Plan& plan);

/// Returns the share of the weight that the embedding and a tied head read: V/tp x h.
Share count_vocabulary_weight(const model::Model& model, i64 tp);

/// The elements of one buffer through which DeepSpeed moves states between the drives and the
/// device: its default for parameters.
inline constexpr i64 kNvmeBuffer = 100'000'000;

/// Returns the elements of such a buffer: kNvmeBuffer, or the shard of the largest matrix, the
/// embedding, which must fit.
i64 count_nvme_buffer(const TrainingConfig& config);

/// Returns whether more than one pp rank holds that weight: a tied head, or an MTP module that
/// embeds, is on another rank than the embedding. A mirrored pair counts as one rank, because all
/// its gradients are reduced together.
bool has_vocabulary_copies(const TrainingConfig& config);
bool has_vocabulary_copies(const TrainingConfig& config, const Stages& stages);

/// Returns the share of the embedding: vocabulary rows and learned positions.
Share count_embedding_share(const model::Model& model, i64 tp);

/// Returns the share of the encoder: all of it split over tp.
Share count_encoder_share(const model::Model& model, i64 tp);

/// Returns the share of an MTP module: a layer like the last, a 2h -> h projection split over tp,
/// three norms.
Share count_mtp_share(const TrainingConfig& config);

/// Returns the share of the head: the final norm, the head's bias, and its weight if `own_weight`.
Share count_head_share(const model::Model& model, i64 tp, bool own_weight);

/// Returns the part of the head's share that is trained.
Share count_trained_head_share(const TrainingConfig& config, bool own_weight);

/// One unit that ZeRO-3 wraps and gathers together: the embedding, a layer, an MTP module, or the
/// head with the final norm. A vocabulary weight with copies on several pp ranks is its own unit,
/// so that it is sharded the same way on all of them. `count` is the number of identical units.
struct Unit {
  Share share{};
  i64 count = 1;
  bool trained = true;   // has gradients; false for all units under LoRA, which trains adapters
  bool backward = true;  // gathered for backward passes, too
};

/// Returns the units of the encoder, one per layer, of equal size but for the first. Backward does
/// not run through a frozen one.
std::vector<Unit> list_encoder_units(const TrainingConfig& config);

/// Returns the units of a rank or of a stage: embedding first, head last. A tied head and the
/// embedding that MTP reads are copies if the embedding itself is elsewhere.
std::vector<Unit> list_units(const TrainingConfig& config, const RankContents& contents);
/// As above; `copies` is has_vocabulary_copies(config).
std::vector<Unit> list_units(const TrainingConfig& config, const RankContents& contents,
                             bool copies);

/// Returns the number of parameters whose gradients the tp ranks sum up, because each rank's
/// gradient is partial.
i64 count_partial_gradients(const Plan& plan, const Share& share);

/// Returns whether tp ranks sum the partial gradient of each weight in a call of its own, as often
/// as gradients are reduced.
bool reduces_weights_alone(const TrainingConfig& config);

/// Return the sizes of the trained weights whose gradients are partial: of a layer, of an MTP
/// module and of the head. They add up to count_partial_gradients().
std::vector<i64> list_partial_weights(const TrainingConfig& config, const model::Layer& layer);
std::vector<i64> list_partial_mtp_weights(const TrainingConfig& config);
std::vector<i64> list_partial_head_weights(const TrainingConfig& config);

/// Returns the share of a rank of `pp_rank`, or of a rank with these contents: the sum of its
/// units.
Share count_rank_share(const TrainingConfig& config, i64 pp_rank);
Share count_rank_share(const TrainingConfig& config, const RankContents& on_rank);

/// The parameters that one chunk of a rank trains; under LoRA its adapters. A weight that
/// two chunks of a rank use is held once; the embedding by the earliest stage that reads it, where
/// backward ends and its gradient is complete.
struct Holding {
  Share share{};
  bool embedding = false;    // includes the embedding
  bool head_weight = false;  // includes the head's own weight
  i64 apart = 0;  // dense parameters in a bucket of their own from ZeRO-1 on: a vocabulary weight
                  // with copies on several pp ranks (T9)
};

/// Return the holdings per chunk of a pp rank, which add up to what it trains, and per stage of the
/// whole pipeline.
std::vector<Holding> list_chunk_holdings(const TrainingConfig& config, i64 pp_rank);
/// As above, from the rank's chunks; `copies` is has_vocabulary_copies(config). A weight with
/// copies is set apart whatever the ZeRO stage.
std::vector<Holding> list_chunk_holdings(const TrainingConfig& config, i64 pp_rank,
                                         const std::vector<RankContents>& chunks, bool copies);
std::vector<Holding> list_stage_holdings(const TrainingConfig& config);

/// Returns the parameters that ZeRO-3 gathers for the largest unit of a rank. Parameters that are
/// not sharded do not count.
i64 largest_unit(const TrainingConfig& config, const RankContents& on_rank);

}  // namespace rankwright::plan
