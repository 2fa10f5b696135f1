#include "rankwright/model/model.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/check.h"

namespace rankwright::model {
namespace {

/// Appends layers, or adds them to the last run.
void add_layers(std::vector<LayerRun>& runs, const Layer& layer, i64 count) {
  if (!runs.empty() && runs.back().layer == layer)
    runs.back().count += count;
  else
    runs.push_back({count, layer});
}

}  // namespace

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
  Model named = a, other = b;
  named.name = b.name;
  named.architecture = b.architecture;
  freeze(named, {});
  freeze(other, {});
  return named == other;
}

std::string show(const FrozenParts& parts) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (parts.encoder) add("encoder");
  if (parts.embedding) add("embedding");
  if (parts.first < parts.end) add(fmt::format("layers {}-{}", parts.first, parts.end - 1));
  if (parts.head) add("head");
  return text;
}

void freeze(Model& model, const FrozenParts& parts) {
  const i64 end = std::min(parts.end, model.layers());
  const i64 first = std::min(parts.first, end);
  const bool encodes = model.encoder_parameters > 0;
  model.frozen = {encodes && parts.encoder, parts.embedding, first < end ? first : 0,
                  first < end ? end : 0, parts.head};
  const bool nothing_before = parts.embedding && first == 0 && (parts.encoder || !encodes);
  const Training frozen = nothing_before ? Training::forward_only : Training::frozen;
  std::vector<LayerRun> runs;
  i64 before = 0;
  for (const LayerRun& run : model.runs) {
    const i64 after = before + run.count;
    const i64 from = std::clamp(first, before, after), to = std::clamp(end, from, after);
    Layer layer = run.layer;
    layer.training = Training::full;
    if (before < from) add_layers(runs, layer, from - before);
    layer.training = frozen;
    if (from < to) add_layers(runs, layer, to - from);
    layer.training = Training::full;
    if (to < after) add_layers(runs, layer, after - to);
    before = after;
  }
  model.runs = std::move(runs);
}

std::vector<LayerRun> list_encoder_layers(const Model& model) {
  const Encoder& shape = model.encoder;
  if (shape.hidden == 0) return {};
  const i64 heads = std::max<i64>(1, shape.heads);
  Layer layer{.attention = {.heads = heads,
                            .kv_heads = heads,
                            .head_dim = shape.hidden / heads,
                            .causal = false},
              .ffn = {.width = shape.ffn, .matrices = shape.matrices},
              .scales = shape.scales};
  const i64 whole = shape.window == 0 ? model.encoder_layers : shape.global_layers;
  Layer windowed = layer;
  windowed.attention.window = shape.window;
  windowed.attention.chunked = true;
  std::vector<LayerRun> runs;
  if (whole < model.encoder_layers) runs.push_back({model.encoder_layers - whole, windowed});
  if (whole > 0) runs.push_back({whole, layer});
  return runs;
}

bool is_all_frozen(const Model& model) {
  const FrozenParts& frozen = model.frozen;
  return (frozen.encoder || model.encoder_parameters == 0) && frozen.embedding && frozen.head &&
         frozen.first == 0 && frozen.end == model.layers();
}

}  // namespace rankwright::model
