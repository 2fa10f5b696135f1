#include "rankwright/import/plan/hf_finish.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace rankwright::importer {
namespace {

bool is_true(const nlohmann::json& json, std::string_view key, bool otherwise) {
  const auto found = json.find(key);
  return found != json.end() && found->is_boolean() ? found->get<bool>() : otherwise;
}

std::optional<i64> find_whole(const nlohmann::json& json, std::string_view key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number_integer()) return std::nullopt;
  return found->get<i64>();
}

/// mamba_d_head may be "auto": mamba_expand x hidden_size over the heads.
void set_mamba_width(const nlohmann::json& json, model::Shapes& s) {
  const i64 expand = find_whole(json, "mamba_expand").value_or(2);
  if (s.linear_dim > 0 || s.linear_heads == 0 || expand < 1 || expand > 1024) return;
  if (s.hidden <= kMaxCount / 1024) s.linear_dim = expand * s.hidden / s.linear_heads;
}

}  // namespace

/// One head of keys and values unless the config turns multi_query off.
FinishFault finish_bigcode(const nlohmann::json& json, model::Shapes& s) {
  if (is_true(json, "multi_query", true)) s.kv_heads = 1;
  return {};
}

FinishFault finish_falcon(const nlohmann::json& json, model::Shapes& s) {
  const bool recent = is_true(json, "new_decoder_architecture", false);
  if (!recent) s.kv_heads = is_true(json, "multi_query", true) ? 1 : s.heads;
  if (!is_true(json, "parallel_attn", true))
    s.norms = 2;
  else if (s.norms == 0)
    s.norms = recent ? 2 : 1;
  return {};
}

/// transformers keeps two more rows of positions than the config states.
FinishFault finish_opt(const nlohmann::json& json, model::Shapes& s) {
  const i64 stated = s.positions;
  s.positions += 2;
  s.max_sequence = stated;
  const std::optional<i64> embedded = find_whole(json, "word_embed_proj_dim");
  if (embedded && *embedded != s.hidden)
    return HfFault{
        "word_embed_proj_dim",
        fmt::format("word_embed_proj_dim is {}: only hidden_size is supported", *embedded)};
  return {};
}

FinishFault finish_mpt(const nlohmann::json& json, model::Shapes& s) {
  const i64 ratio = find_whole(json, "expansion_ratio").value_or(4);
  if (ratio < 1 || ratio > 1024)
    return HfFault{"expansion_ratio", fmt::format("expansion_ratio is {}", ratio)};
  if (s.hidden <= kMaxCount / 1024) s.ffn = ratio * s.hidden;
  return {};
}

FinishFault finish_stablelm(const nlohmann::json& json, model::Shapes& s) {
  if (is_true(json, "use_parallel_residual", false)) s.norms = 1;
  return {};
}

/// Lightning attention has the heads of the other layers, without groups.
FinishFault finish_minimax(const nlohmann::json&, model::Shapes& s) {
  s.linear_heads = s.linear_key_heads = s.heads;
  const bool whole = s.heads > 0 && s.hidden % s.heads == 0;
  s.linear_dim = s.linear_key_dim = s.head_dim > 0 ? s.head_dim : whole ? s.hidden / s.heads : 0;
  return {};
}

FinishFault finish_bamba(const nlohmann::json& json, model::Shapes& s) {
  set_mamba_width(json, s);
  const auto indices = json.find("attn_layer_indices");
  if (indices == json.end() || !indices->is_array() || s.layers > model::kMaxLayers) return {};
  s.pattern.assign(std::size_t(s.layers), 'L');
  for (const nlohmann::json& index : *indices) {
    if (!index.is_number_integer() || index.get<i64>() < 0 || index.get<i64>() >= s.layers)
      return HfFault{"attn_layer_indices",
                     fmt::format("attn_layer_indices must be from 0 to {}", s.layers - 1)};
    s.pattern[std::size_t(index.get<i64>())] = 'F';
  }
  return {};
}

/// Without routed experts, the shared ones are a dense feed-forward.
FinishFault finish_granite_hybrid(const nlohmann::json& json, model::Shapes& s) {
  set_mamba_width(json, s);
  if (s.experts > 0) return {};
  s.ffn = s.shared_ffn;
  s.shared_ffn = 0;
  s.first_dense = s.layers;
  s.experts = s.active_experts = s.expert_ffn = 1;  // of no layer
  return {};
}

/// no_rope_layers has a 0 for each layer with full attention; moe_layers must be regular.
FinishFault finish_llama4(const nlohmann::json& json, model::Shapes& s) {
  const auto ropes = json.find("no_rope_layers");
  if (ropes != json.end() && ropes->is_array() && !ropes->empty()) {
    if (i64(ropes->size()) != s.layers)
      return HfFault{"no_rope_layers", fmt::format("no_rope_layers must list {} layers", s.layers)};
    s.pattern.clear();
    for (const nlohmann::json& rope : *ropes) s.pattern += rope == 0 ? 'F' : 'W';
  }
  const auto list = json.find("moe_layers");
  if (list == json.end() || !list->is_array() || list->empty()) return {};
  bool regular = i64(list->size()) == s.layers / s.sparse_every;
  i64 next = s.sparse_every - 1;
  for (const nlohmann::json& layer : *list) {
    regular = regular && layer == next;
    next += s.sparse_every;
  }
  if (regular) return {};
  return HfFault{"moe_layers", "moe_layers differs from every interleave_moe_layer_step-th layer"};
}

FinishFault finish_ernie_moe(const nlohmann::json& json, model::Shapes& s) {
  const i64 end = find_whole(json, "moe_layer_end_index").value_or(-1);
  if (end == -1 || end == s.layers - 1) return {};
  return HfFault{"moe_layer_end_index",
                 fmt::format("moe_layer_end_index is {}: only the last layer is supported", end)};
}

/// attention_types: [[["global", "local"], 6]] repeats two kinds of layers six times.
FinishFault finish_gpt_neo(const nlohmann::json& json, model::Shapes& s) {
  const auto types = json.find("attention_types");
  if (types == json.end() || !types->is_array()) return {};
  const HfFault unknown{"attention_types", "attention_types must list global and local layers"};
  s.pattern.clear();
  for (const nlohmann::json& part : *types) {
    if (!part.is_array() || part.size() != 2 || !part[0].is_array() || !part[1].is_number_integer())
      return unknown;
    const i64 times = part[1].get<i64>();
    if (times < 1 || times > model::kMaxLayers) return unknown;
    for (i64 i = 0; i < times; ++i)
      for (const nlohmann::json& kind : part[0]) {
        if (kind != "global" && kind != "local") return unknown;
        if (i64(s.pattern.size()) > model::kMaxLayers) return unknown;
        s.pattern += kind == "global" ? 'F' : 'W';
      }
  }
  return {};
}

}  // namespace rankwright::importer
