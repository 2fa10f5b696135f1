// Shares: how many parameters one rank holds, by what keeps them consistent. Before ZeRO, which
// divides the states of each kind over that kind's data ranks. Formulas S1 to S4.
#pragma once

#include <vector>

#include "rankwright/model/model.h"
#include "rankwright/plan/plan.h"

namespace rankwright::plan {

/// Parameters on one rank. `dense` are reduced over dp x cp, `expert` over the expert data ranks.
/// `sequence_shared` are those among `dense` that every tp rank holds and, under sequence
/// parallelism, sees only part of the tokens for: norms, biases added after a reduction, the
/// router. `head_norms` are those among them that see only this rank's heads, sequence parallel or
/// not: norms on the heads' queries and keys.
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

/// Rows of the vocabulary that one tp rank holds: V rounded up to a multiple of tp, over tp.
i64 vocabulary_share(const model::Model& model, i64 tp);

/// One layer, split over tp (key and value heads repeat where there are fewer than tp), ep and etp.
Share layer_share(const model::Model& model, const model::Layer& layer, const Plan& plan);

/// The weight that the embedding reads, and a tied head: V/tp x h.
Share vocabulary_weight(const model::Model& model, i64 tp);

/// More than one pp rank holds that weight: a tied head, or an MTP module that embeds, stands on
/// another than the embedding. Of a mirrored pair one counts: the two are joined with all else.
bool vocabulary_copies(const TrainingConfig& config);
bool vocabulary_copies(const TrainingConfig& config, const Stages& stages);

/// Vocabulary rows, and learned positions.
Share embedding_share(const model::Model& model, i64 tp);

/// A layer like the last, a 2h -> h projection split over tp, three norms.
Share mtp_share(const TrainingConfig& config);

/// The final norm, the head's bias, and its weight unless that is the embedding's.
Share head_share(const model::Model& model, i64 tp, bool own_weight);

/// What ZeRO-3 wraps and gathers as one: the embedding, a layer, an MTP module, or the head with
/// the final norm. A vocabulary weight of which there are copies is one by itself, so that its
/// shards lie alike wherever it is. `count` of them that are alike.
struct Unit {
  Share share{};
  i64 count = 1;
};

/// The units of a rank or of a stage: embedding first, head last. A tied head, and the embedding
/// that MTP reads, are copies where the embedding itself is elsewhere.
std::vector<Unit> units(const TrainingConfig& config, const RankContents& contents);

/// Those of them whose gradients the tp ranks add up, because each has seen but a part.
i64 partial_gradients(const Plan& plan, const Share& share);

/// All that a rank of `pp_rank` holds, or one with these contents: its stages' units.
Share rank_share(const TrainingConfig& config, i64 pp_rank);
Share rank_share(const TrainingConfig& config, const RankContents& on_rank);

/// What one chunk of a rank holds. What two chunks of a rank read is held once: the embedding by
/// the earliest stage that reads it, where backward ends and its gradient is complete.
struct Holding {
  Share share{};
  bool embedding = false;    // the embedding is among it
  bool head_weight = false;  // a weight of the head's own is among it
  i64 apart = 0;  // dense ones that are a bucket of their own from ZeRO-1 on: a vocabulary weight
                  // of which there are copies (T9)
};

/// By chunk of a pp rank, which adds up to rank_share; and by stage for all ranks.
std::vector<Holding> chunk_holdings(const TrainingConfig& config, i64 pp_rank);
std::vector<Holding> stage_holdings(const TrainingConfig& config);

/// What ZeRO-3 gathers of the largest unit of a rank: parameters that one rank holds alone are
/// there already.
i64 largest_unit(const TrainingConfig& config, const RankContents& on_rank);

}  // namespace rankwright::plan
