#include "rankwright/model/architecture.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "rankwright/base/format.h"
#include "rankwright/base/suggest.h"

namespace rankwright::model {
namespace {

constexpr ShapeField kFields[] = {
    {"hidden", &Shapes::hidden},
    {"layers", &Shapes::layers},
    {"heads", &Shapes::heads},
    {"kv_heads", &Shapes::kv_heads},
    {"head_dim", &Shapes::head_dim},
    {"ffn", &Shapes::ffn},
    {"vocab", &Shapes::vocab},
    {"positions", &Shapes::positions},
    {"max_sequence", &Shapes::max_sequence},
    {"window", &Shapes::window},
    {"experts", &Shapes::experts},
    {"active_experts", &Shapes::active_experts},
    {"expert_groups", &Shapes::expert_groups},
    {"active_groups", &Shapes::active_groups},
    {"expert_ffn", &Shapes::expert_ffn},
    {"shared_ffn", &Shapes::shared_ffn},
    {"first_dense", &Shapes::first_dense},
    {"sparse_every", &Shapes::sparse_every},
    {"q_rank", &Shapes::q_rank},
    {"kv_rank", &Shapes::kv_rank},
    {"nope_dim", &Shapes::nope_dim},
    {"rope_dim", &Shapes::rope_dim},
    {"value_dim", &Shapes::value_dim},
    {"mtp_layers", &Shapes::mtp_layers},
    {"index_heads", &Shapes::index_heads},
    {"index_dim", &Shapes::index_dim},
    {"index_topk", &Shapes::index_topk},
    {"linear_heads", &Shapes::linear_heads},
    {"linear_dim", &Shapes::linear_dim},
    {"linear_key_heads", &Shapes::linear_key_heads},
    {"linear_key_dim", &Shapes::linear_key_dim},
    {"linear_conv", &Shapes::linear_conv},
    {"norms", &Shapes::norms},
    {"encoder_parameters", &Shapes::encoder_parameters},
    {"encoder_layers", &Shapes::encoder_layers},
    {"encoder_hidden", &Shapes::encoder_hidden},
    {"encoder_ffn", &Shapes::encoder_ffn},
    {"encoder_heads", &Shapes::encoder_heads},
    {"encoder_matrices", &Shapes::encoder_matrices},
    {"encoder_merge", &Shapes::encoder_merge},
    {"encoder_projector", &Shapes::encoder_projector},
    {"encoder_image_tokens", &Shapes::encoder_image_tokens},
    {"encoder_stem", &Shapes::encoder_stem},
    {"encoder_window", &Shapes::encoder_window},
    {"encoder_global_layers", &Shapes::encoder_global_layers},
};

constexpr ShapeFlag kFlags[] = {
    {"tied", &Shapes::tied},
    {"qkv_bias", &Shapes::qkv_bias},
    {"out_bias", &Shapes::out_bias},
    {"ffn_bias", &Shapes::ffn_bias},
    {"gated", &Shapes::gated},
    {"norm_bias", &Shapes::norm_bias},
    {"qk_norm", &Shapes::qk_norm},
    {"head_bias", &Shapes::head_bias},
    {"shared_gate", &Shapes::shared_gate},
    {"router_bias", &Shapes::router_bias},
    {"conv_bias", &Shapes::conv_bias},
    {"linear_bias", &Shapes::linear_bias},
    {"encoder_scales", &Shapes::encoder_scales},
    {"encoder_audio", &Shapes::encoder_audio},
};

std::string_view field_name(i64 Shapes::*member) {
  for (const ShapeField& field : kFields)
    if (field.member == member) return field.name;
  return {};
}

/// The largest value of a shape.
struct Limit {
  i64 Shapes::*member;
  i64 max;
};
constexpr Limit kEncoderLimits[] = {
    {&Shapes::encoder_hidden, kMaxEncoderWidth}, {&Shapes::encoder_ffn, kMaxEncoderWidth},
    {&Shapes::encoder_heads, kMaxEncoderWidth},  {&Shapes::encoder_matrices, 3},
    {&Shapes::encoder_merge, kMaxEncoderMerge},  {&Shapes::encoder_image_tokens, kMaxImageTokens},
    {&Shapes::encoder_window, kMaxImageTokens},  {&Shapes::encoder_global_layers, kMaxLayers},
};

using Fault = std::optional<Diagnostic>;

Diagnostic bad_shapes(const Shapes& shapes, std::string_view key, std::string detail) {
  return {.code = "RW0914",
          .message = "the model cannot be built from these shapes",
          .detail = shapes.name.empty() ? detail : fmt::format("{}: {}", shapes.name, detail),
          .key = std::string(key)};
}

Diagnostic too_large(std::string_view key, std::string detail) {
  return {.code = "RW0904",
          .message = "number out of range",
          .detail = std::move(detail),
          .key = std::string(key)};
}

/// Returns the letter of a layer in the pattern, which repeats. Requires: a pattern.
char layer_letter(const Shapes& s, i64 index) {
  return s.pattern[std::size_t(index) % s.pattern.size()];
}

bool has_letter(const Shapes& s, std::string_view letters) {
  return s.pattern.find_first_of(letters) != std::string::npos;
}

/// Returns whether any layer has softmax attention, which needs heads.
bool has_softmax(const Shapes& s) { return has_letter(s, "FW*"); }
bool has_linear(const Shapes& s) { return has_letter(s, "LM"); }

/// Returns the shapes with defaults from the family and from the other shapes filled in.
Shapes complete_shapes(Shapes s, const Architecture& a) {
  if (s.pattern.empty()) s.pattern = a.pattern;
  if (s.norms == 0) s.norms = a.norms;
  if (s.kv_heads == 0) s.kv_heads = s.heads;
  if (s.expert_groups <= 1) s.expert_groups = s.active_groups = 0;
  if (s.head_dim == 0 && !a.latent && divides(s.heads, s.hidden)) s.head_dim = s.hidden / s.heads;
  if (s.ffn == 0 && s.hidden > 0 && s.hidden <= kMaxCount / 8) s.ffn = a.ffn_multiple * s.hidden;
  return s;
}

bool layer_is_sparse(const Shapes& s, const Architecture& a, i64 index) {
  if (a.single_blocks) return layer_letter(s, index) == 'E';
  return a.sparse && index >= s.first_dense && (index + 1) % s.sparse_every == 0;
}

Fault check_ranges(const Shapes& s) {
  for (const ShapeField& field : kFields) {
    const i64 n = s.*field.member;
    if (n < 0 || n > kMaxCount)
      return too_large(field.name, fmt::format("{} is {}: it must be from 0 to {} (2^50)",
                                               field.name, n, count(kMaxCount)));
  }
  for (const Limit& limit : kEncoderLimits)
    if (s.*limit.member > limit.max)
      return too_large(field_name(limit.member),
                       fmt::format("{} is {}: the limit is {}", field_name(limit.member),
                                   count(s.*limit.member), count(limit.max)));
  if (s.sparse_every < 1) return too_large("sparse_every", "sparse_every must be at least 1");
  if (s.layers > kMaxLayers)
    return too_large("layers", fmt::format("{} layers exceed the limit of {}", count(s.layers),
                                           count(kMaxLayers)));
  if (s.encoder_layers > kMaxLayers)
    return too_large("encoder_layers", fmt::format("{} layers of an encoder exceed the limit of {}",
                                                   count(s.encoder_layers), count(kMaxLayers)));
  if (s.mtp_layers > s.layers)
    return too_large("mtp_layers", fmt::format("{} MTP layers after {} layers", count(s.mtp_layers),
                                               count(s.layers)));
  return {};
}

/// Checks the pattern, of which the first `stated` letters come from the shapes and not the family.
Fault check_pattern(const Shapes& s, const Architecture& a, std::size_t stated) {
  const std::string_view linear = a.linear == Attention::Kind::none ? "" : "L";
  const std::string known = a.single_blocks ? "M*-E" : "FW" + std::string(linear);
  if (const std::size_t at = s.pattern.find_first_not_of(known); at != std::string::npos)
    return bad_shapes(s, "pattern",
                      fmt::format("'{}' is not a kind of layer of {}: its kinds are {}",
                                  make_excerpt(s.pattern.substr(at, 1)), a.name, known));
  if (s.layers > 0 && i64(stated) > s.layers)
    return bad_shapes(
        s, "pattern",
        fmt::format("a pattern of {} letters for {} layers", stated, count(s.layers)));
  return {};
}

Fault check_required(const Shapes& s, const Architecture& a) {
  std::vector<i64 Shapes::*> needed = {&Shapes::hidden, &Shapes::layers};
  if (has_softmax(s)) needed.push_back(&Shapes::heads);
  needed.push_back(&Shapes::vocab);
  if (a.latent)
    needed.insert(needed.end(),
                  {&Shapes::kv_rank, &Shapes::nope_dim, &Shapes::rope_dim, &Shapes::value_dim});
  if (a.indexer)
    needed.insert(needed.end(), {&Shapes::index_heads, &Shapes::index_dim, &Shapes::index_topk});
  if (has_linear(s))
    needed.insert(needed.end(), {&Shapes::linear_heads, &Shapes::linear_dim,
                                 &Shapes::linear_key_heads, &Shapes::linear_key_dim});
  const bool experts = a.single_blocks ? has_letter(s, "E") : a.sparse;
  if (experts)
    needed.insert(needed.end(), {&Shapes::experts, &Shapes::active_experts, &Shapes::expert_ffn});
  const bool dense =
      a.single_blocks ? has_letter(s, "-") : !a.sparse || s.first_dense > 0 || s.sparse_every > 1;
  if (dense) needed.push_back(&Shapes::ffn);
  for (i64 Shapes::*const member : needed)
    if (s.*member == 0)
      return bad_shapes(s, field_name(member),
                        fmt::format("{} needs '{}'", a.name, field_name(member)));
  return {};
}

/// Checks the shapes of an encoder, if they are stated.
Fault check_encoder(const Shapes& s) {
  if (s.encoder_hidden == 0) return {};
  for (i64 Shapes::*const member : {&Shapes::encoder_parameters, &Shapes::encoder_layers,
                                    &Shapes::encoder_ffn, &Shapes::encoder_heads})
    if (s.*member == 0)
      return bad_shapes(
          s, field_name(member),
          fmt::format("an encoder with encoder_hidden needs '{}'", field_name(member)));
  if (!divides(s.encoder_heads, s.encoder_hidden))
    return bad_shapes(s, "encoder_heads",
                      fmt::format("{} heads do not divide the encoder's hidden size of {}",
                                  count(s.encoder_heads), count(s.encoder_hidden)));
  if (s.encoder_matrices == 1)
    return bad_shapes(s, "encoder_matrices", "a feed-forward has 2 matrices, or 3 if it is gated");
  if (s.encoder_global_layers > (s.encoder_window > 0 ? s.encoder_layers : 0))
    return bad_shapes(
        s, "encoder_global_layers",
        fmt::format("{} of {} layers without a window", count(s.encoder_global_layers),
                    s.encoder_window > 0 ? count(s.encoder_layers) : "0"));
  return {};
}

/// Returns the shapes of an encoder with defaults filled in.
Encoder make_encoder(const Shapes& s) {
  if (s.encoder_hidden == 0) return {};
  return {.hidden = s.encoder_hidden,
          .ffn = s.encoder_ffn,
          .heads = s.encoder_heads,
          .matrices = s.encoder_matrices == 0 ? 2 : s.encoder_matrices,
          .merge = s.encoder_merge == 0 ? 1 : s.encoder_merge,
          .projector = s.encoder_projector,
          .image_tokens = s.encoder_image_tokens,
          .stem = s.encoder_stem,
          .window = s.encoder_window,
          .global_layers = s.encoder_global_layers,
          .scales = s.encoder_scales.value_or(false),
          .audio = s.encoder_audio.value_or(false)};
}

Fault check_consistent(const Shapes& s, const Architecture& a) {
  if (!a.latent && s.head_dim == 0 && has_softmax(s))
    return bad_shapes(
        s, "head_dim",
        fmt::format("{} heads do not divide a hidden size of {}, and head_dim is not given",
                    count(s.heads), count(s.hidden)));
  if (!a.latent && has_softmax(s) && !divides(s.kv_heads, s.heads))
    return bad_shapes(
        s, "kv_heads",
        fmt::format("{} kv_heads do not divide {} heads", count(s.kv_heads), count(s.heads)));
  if (a.latent && (s.qkv_bias.value_or(false) || s.out_bias.value_or(false)))
    return bad_shapes(s, "qkv_bias", "latent attention with biases is not supported");
  if (has_linear(s) && !divides(s.linear_key_heads, s.linear_heads))
    return bad_shapes(s, "linear_key_heads",
                      fmt::format("{} linear_key_heads do not divide {} linear_heads",
                                  count(s.linear_key_heads), count(s.linear_heads)));
  if (!a.sparse && s.experts > 0)
    return bad_shapes(s, "experts", fmt::format("{} has no experts", a.name));
  if (a.sparse && s.active_experts > s.experts)
    return bad_shapes(s, "active_experts",
                      fmt::format("active_experts {} exceeds {} experts", count(s.active_experts),
                                  count(s.experts)));
  if (s.expert_groups > 0 && (!divides(s.expert_groups, s.experts) || s.active_groups == 0 ||
                              s.active_groups > s.expert_groups))
    return bad_shapes(
        s, "expert_groups",
        fmt::format("active_groups {} of {} expert_groups do not split {} experts evenly",
                    count(s.active_groups), count(s.expert_groups), count(s.experts)));
  if (s.expert_groups > 0 && s.active_experts > s.experts / s.expert_groups * s.active_groups)
    return bad_shapes(s, "active_groups",
                      fmt::format("{} groups of {} experts have fewer than {} active_experts",
                                  count(s.active_groups), count(s.experts / s.expert_groups),
                                  count(s.active_experts)));
  if (!a.learned_positions && s.positions > 0)
    return bad_shapes(s, "positions", fmt::format("{} has no learned positions", a.name));
  return {};
}

/// Checks that each kind of parameter stays within kMaxCount, so that no sum or product of them
/// overflows.
Fault check_parameter_count(const Shapes& s, const Architecture& a) {
  struct Part {
    i64 Shapes::*member;  // the shape to name in the diagnostic
    std::optional<i64> parameters;
  };
  // The widths are sums of at most three counts of at most 2^50, so they cannot overflow.
  const i64 head = a.latent ? s.nope_dim + s.rope_dim + s.value_dim : s.head_dim;
  const i64 ranks = s.hidden + s.q_rank + s.kv_rank;
  const Part parts[] = {
      {&Shapes::vocab, product({2, s.vocab, s.hidden})},
      {&Shapes::positions, product({s.positions, s.hidden})},
      {&Shapes::heads, product({4, s.layers, ranks, s.heads, head})},
      {&Shapes::kv_rank, product({2, s.layers, s.hidden, s.q_rank + s.kv_rank + s.rope_dim})},
      {&Shapes::ffn, product({4, s.layers, s.hidden, s.ffn})},
      {&Shapes::shared_ffn, product({4, s.layers, s.hidden, s.shared_ffn + 1})},
      {&Shapes::experts, product({4, s.layers, s.hidden, s.experts, s.expert_ffn})},
      {&Shapes::experts, product({s.layers, s.hidden + 1, s.experts})},
      {&Shapes::mtp_layers, product({2, s.mtp_layers, s.hidden, s.hidden + 3})},
      {&Shapes::linear_heads,
       product({4, s.layers, s.hidden + 1, s.linear_heads, s.linear_dim + 1})},
      {&Shapes::linear_key_heads,
       product({4, s.layers, s.hidden + 1, s.linear_key_heads, s.linear_key_dim})},
      {&Shapes::linear_conv, product({4, s.layers, s.linear_conv, s.linear_heads, s.linear_dim})},
      {&Shapes::linear_conv,
       product({4, s.layers, s.linear_conv, s.linear_key_heads, s.linear_key_dim})},
      {&Shapes::linear_key_dim, product({8, s.linear_heads, s.linear_dim, s.linear_key_dim})},
      {&Shapes::index_heads, product({2, s.layers, ranks, s.index_heads + 1, s.index_dim + 1})},
      {&Shapes::norms, product({2, s.layers, s.norms, s.hidden})},
  };
  for (const Part& part : parts)
    if (!part.parameters || *part.parameters > kMaxCount)
      return too_large(field_name(part.member),
                       fmt::format("{} of {} makes more than 2^50 parameters",
                                   field_name(part.member), count(s.*part.member)));
  return {};
}

Attention make_linear(const Shapes& s, const Architecture& a) {
  return {.kind = a.linear,
          .heads = s.linear_heads,
          .kv_heads = s.linear_key_heads,
          .head_dim = s.linear_dim,
          .qkv_bias = s.linear_bias.value_or(false),
          .out_bias = s.linear_bias.value_or(false),
          .state = s.linear_key_dim,
          .conv = s.linear_conv,
          .conv_bias = s.linear_conv > 0 && s.conv_bias.value_or(a.conv_bias)};
}

Attention make_attention(const Shapes& s, const Architecture& a, char letter) {
  if (letter == '-' || letter == 'E') return {.kind = Attention::Kind::none};
  if (letter == 'L' || letter == 'M') return make_linear(s, a);
  const i64 window = letter == 'W' ? s.window : 0;
  if (a.latent)
    return {.kind = Attention::Kind::latent,
            .heads = s.heads,
            .q_rank = s.q_rank,
            .kv_rank = s.kv_rank,
            .nope_dim = s.nope_dim,
            .rope_dim = s.rope_dim,
            .value_dim = s.value_dim,
            .window = window,
            .index_heads = a.indexer ? s.index_heads : 0,
            .index_dim = a.indexer ? s.index_dim : 0,
            .index_topk = a.indexer ? s.index_topk : 0};
  const bool qk_norm = s.qk_norm.value_or(a.qk_norm);
  return {.heads = s.heads,
          .kv_heads = s.kv_heads,
          .head_dim = s.head_dim,
          .qkv_bias = s.qkv_bias.value_or(a.qkv_bias),
          .out_bias = s.out_bias.value_or(a.out_bias),
          .qk_norm = qk_norm,
          .wide_norm = qk_norm && a.wide_norm,
          .gated = a.gated_attention,
          .sinks = a.sinks,
          .window = window,
          .chunked = window > 0 && a.chunked};
}

FeedForward make_feed_forward(const Shapes& s, const Architecture& a, bool sparse) {
  const i64 matrices = !s.gated ? a.matrices : *s.gated ? 3 : 2;
  const bool shared_gate = s.shared_gate.value_or(a.shared_gate);
  if (!sparse)
    return {.width = s.ffn, .matrices = matrices, .bias = s.ffn_bias.value_or(a.ffn_bias)};
  return {.matrices = matrices,
          .bias = s.ffn_bias.value_or(a.ffn_bias),
          .experts = s.experts,
          .active = s.active_experts,
          .groups = s.expert_groups,
          .active_groups = s.active_groups,
          .expert_width = s.expert_ffn,
          .shared_width = s.shared_ffn,
          .shared_gate = shared_gate && s.shared_ffn > 0,
          .router_bias = s.router_bias.value_or(a.router_bias)};
}

Layer make_layer(const Shapes& s, const Architecture& a, i64 index) {
  const char letter = layer_letter(s, index);
  Layer layer{.attention = make_attention(s, a, letter), .ffn = {.matrices = 2}, .norms = s.norms};
  const bool mixes = layer.attention.present();
  if (!a.single_blocks || !mixes) layer.ffn = make_feed_forward(s, a, layer_is_sparse(s, a, index));
  return layer;
}

std::vector<LayerRun> make_runs(const Shapes& s, const Architecture& a) {
  std::vector<LayerRun> runs;
  for (i64 index = 0; index < s.layers; ++index) {
    const Layer layer = make_layer(s, a, index);
    if (runs.empty() || runs.back().layer != layer) runs.push_back({.count = 0, .layer = layer});
    ++runs.back().count;
  }
  return runs;
}

Diagnostic unknown_architecture(const Shapes& shapes) {
  std::vector<std::string> known;
  std::string listed;
  for (const Architecture& a : architectures()) {
    known.emplace_back(a.name);
    listed += (listed.empty() ? "" : ", ") + known.back();
  }
  const std::optional<std::string> near = nearest(shapes.architecture, known);
  Diagnostic unknown =
      bad_shapes(shapes, "architecture",
                 fmt::format("unknown architecture '{}'", make_excerpt(shapes.architecture)));
  unknown.hint = near ? fmt::format("did you mean {}?", *near) : "known: " + listed;
  return unknown;
}

}  // namespace

std::span<const ShapeField> list_shape_fields() { return kFields; }

std::span<const ShapeFlag> list_shape_flags() { return kFlags; }

const Architecture* find_architecture(std::string_view name) {
  for (const Architecture& a : architectures())
    if (a.name == name) return &a;
  return nullptr;
}

Result<Model> build(const Shapes& shapes) {
  const Architecture* a = find_architecture(shapes.architecture);
  if (a == nullptr) return fail(unknown_architecture(shapes));
  if (const Fault fault = check_ranges(shapes)) return fail(*fault);
  const Shapes s = complete_shapes(shapes, *a);
  if (const Fault fault = check_pattern(s, *a, shapes.pattern.size())) return fail(*fault);
  if (const Fault fault = check_required(s, *a)) return fail(*fault);
  if (const Fault fault = check_consistent(s, *a)) return fail(*fault);
  if (const Fault fault = check_encoder(s)) return fail(*fault);
  if (const Fault fault = check_parameter_count(s, *a)) return fail(*fault);
  return Model{.name = s.name,
               .architecture = s.architecture,
               .hidden = s.hidden,
               .vocab = s.vocab,
               .positions = s.positions,
               .tied = s.tied.value_or(a->tied),
               .head_bias = s.head_bias.value_or(a->head_bias),
               .norm_bias = s.norm_bias.value_or(a->norm_bias),
               .runs = make_runs(s, *a),
               .mtp_layers = s.mtp_layers,
               .max_sequence = s.max_sequence > 0 ? s.max_sequence : s.positions,
               .embedding_norms = a->embedding_norm ? 1 : 0,
               .encoder_parameters = s.encoder_parameters,
               .encoder_layers = s.encoder_layers,
               .encoder = make_encoder(s)};
}

}  // namespace rankwright::model
