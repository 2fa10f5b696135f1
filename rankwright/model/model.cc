#include "rankwright/model/model.h"

#include <algorithm>

#include "rankwright/base/check.h"

namespace rankwright::model {

i64 Attention::query_width() const {
  if (recurrent()) return kv_heads * state;
  return kind == Kind::latent ? heads * (nope_dim + rope_dim) : heads * head_dim;
}

i64 Attention::key_width() const {
  if (recurrent()) return kv_heads * state;
  return kind == Kind::latent ? heads * (nope_dim + rope_dim) : kv_heads * head_dim;
}

i64 Attention::value_width() const {
  return kind == Kind::latent ? heads * value_dim : heads * head_dim;
}

// Queries, keys, values, a gate as wide as the values, and per head: decay and update rate of the
// delta rule, or the time step of Mamba-2.
i64 Attention::projected_width() const {
  if (!recurrent()) return 0;
  const i64 per_head = kind == Kind::delta ? 2 : kind == Kind::mamba ? 1 : 0;
  return 2 * key_width() + 2 * value_width() + per_head * heads;
}

i64 Attention::conv_channels() const {
  return recurrent() && conv > 0 ? 2 * key_width() + value_width() : 0;
}

i64 Model::layers() const {
  i64 n = 0;
  for (const LayerRun& run : runs) n += run.count;
  return n;
}

const Layer& Model::layer(i64 index) const {
  RW_CHECK(index >= 0);
  for (const LayerRun& run : runs) {
    if (index < run.count) return run.layer;
    index -= run.count;
  }
  abort_broken_invariant("index < layers()", __FILE__, __LINE__);
}

bool Model::sparse() const {
  return std::any_of(runs.begin(), runs.end(),
                     [](const LayerRun& run) { return run.layer.ffn.sparse(); });
}

bool Model::latent() const {
  return std::any_of(runs.begin(), runs.end(), [](const LayerRun& run) {
    return run.layer.attention.kind == Attention::Kind::latent;
  });
}

bool Model::recurrent() const {
  return std::any_of(runs.begin(), runs.end(),
                     [](const LayerRun& run) { return run.layer.attention.recurrent(); });
}

bool is_same_network(const Model& a, const Model& b) {
  Model named = a;
  named.name = b.name;
  named.architecture = b.architecture;
  return named == b;
}

}  // namespace rankwright::model
