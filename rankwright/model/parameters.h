// Parameters of a Model, by kind: of one layer, of the whole, and of what one token visits.
// Formulas P1 to P7 of docs/reference/formulas.md. How they are split over ranks is plan/.
#pragma once

#include "rankwright/model/model.h"

namespace rankwright::model {

struct Parameters {
  i64 embedding = 0;  // vocabulary and learned positions
  i64 attention = 0;  // projections and their biases
  i64 mlp = 0;        // dense feed-forward, shared experts too
  i64 router = 0;
  i64 experts = 0;  // routed experts
  i64 norms = 0;
  i64 head = 0;  // output projection; 0 when tied

  i64 total() const { return embedding + attention + mlp + router + experts + norms + head; }
  Parameters& operator+=(const Parameters&);
  friend Parameters operator*(i64 n, const Parameters&);
  friend bool operator==(const Parameters&, const Parameters&) = default;
};

/// Of one decoder layer of `model`.
Parameters parameters(const Model& model, const Layer& layer);

/// Of the whole, MTP modules left out as the published totals do.
Parameters parameters(const Model& model);

/// Of the MTP modules alone: each a layer like the last, a 2h -> h projection and three norms;
/// embedding and head are shared with the main model.
Parameters mtp_parameters(const Model& model);

/// What one token visits: routed experts counted `active` times instead of all.
i64 active_parameters(const Model& model);

}  // namespace rankwright::model
