// Shares: how many parameters one rank holds, by what keeps them consistent. Before ZeRO, which
// divides the states of each kind over that kind's data ranks. Formulas S1 to S4.
#pragma once

#include "rankwright/model/model.h"
#include "rankwright/plan/plan.h"

namespace rankwright {

/// Parameters on one rank. `dense` are reduced over dp x cp, `expert` over the expert data ranks.
/// `sequence_shared` are those among `dense` that every tp rank holds and, under sequence
/// parallelism, sees only part of the tokens for: norms, biases added after a reduction, the
/// router.
struct Share {
  i64 dense = 0;
  i64 expert = 0;
  i64 sequence_shared = 0;

  i64 total() const { return dense + expert; }
  Share& operator+=(const Share&);
  friend bool operator==(const Share&, const Share&) = default;
};

/// Rows of the vocabulary that one tp rank holds: V rounded up to a multiple of tp, over tp.
i64 vocabulary_share(const Model& model, i64 tp);

/// One layer, split over tp (key and value heads repeat where there are fewer than tp), ep and etp.
Share layer_share(const Model& model, const Layer& layer, const Plan& plan);

/// All that a rank of `pp_rank` holds: its stages' layers, embedding, head, final norm, MTP. A tied
/// head, and the embedding that MTP reads, are copies where the embedding itself is elsewhere.
Share rank_share(const Setup& setup, i64 pp_rank);

/// What ZeRO-3 gathers of the largest unit of a rank of `pp_rank`, a layer, the embedding or the
/// head: parameters that one rank holds alone are there already.
i64 largest_unit(const Setup& setup, i64 pp_rank);

}  // namespace rankwright
