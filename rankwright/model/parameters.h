// Counts the parameters of a Model by kind: of one layer, of the whole model, and of the part that
// one token visits (formulas P1 to P8 of docs/reference/formulas.md). plan/ splits them over ranks.
#pragma once

#include "rankwright/model/model.h"

namespace rankwright::model {

/// Numbers of parameters by kind.
struct Parameters {
  i64 embedding = 0;  // vocabulary and learned positions
  i64 attention = 0;  // projections and their biases
  i64 mlp = 0;        // dense feed-forward and shared experts
  i64 router = 0;
  i64 experts = 0;  // routed experts
  i64 norms = 0;
  i64 head = 0;     // output projection; 0 when tied
  i64 encoder = 0;  // in front of the first layer, with its projector

  i64 total() const {
    return embedding + attention + mlp + router + experts + norms + head + encoder;
  }
  Parameters& operator+=(const Parameters&);
  friend Parameters operator*(i64 n, const Parameters&);
  friend bool operator==(const Parameters&, const Parameters&) = default;
};

/// Counts the weights that attention multiplies each token with: its projections and convolution,
/// without biases, norms and other vectors.
i64 count_attention_weights(i64 hidden, const Attention& attention);

/// Counts the parameters of one decoder layer of `model`.
Parameters count_parameters(const Model& model, const Layer& layer);

/// Counts the parameters of the whole model without MTP modules, as published totals do.
Parameters count_parameters(const Model& model);

/// Counts the parameters of the parts that are not frozen, without MTP modules. A tied head's
/// weight counts as the embedding.
Parameters count_trained_parameters(const Model& model);

/// Counts the parameters of the MTP modules: each has a layer like the model's last, a 2h -> h
/// projection and three norms; embedding and head are shared with the main model.
Parameters count_mtp_parameters(const Model& model);

/// Counts the parameters that one token visits: `active` routed experts instead of all.
i64 count_active_parameters(const Model& model);

}  // namespace rankwright::model
