#include "rankwright/import/plan/hf_families.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "rankwright/import/plan/hf_finish.h"

namespace rankwright::importer {
namespace {

using Shapes = model::Shapes;

/// Returns the keys of both lists.
template <std::size_t n, std::size_t m>
constexpr std::array<HfKey, n + m> join(const HfKey (&first)[n], const HfKey (&second)[m]) {
  std::array<HfKey, n + m> all{};
  std::copy(std::begin(first), std::end(first), all.begin());
  std::copy(std::begin(second), std::end(second), all.begin() + n);
  return all;
}

constexpr HfKey kCommon[] = {
    {"hidden_size", &Shapes::hidden},
    {"num_hidden_layers", &Shapes::layers},
    {"num_attention_heads", &Shapes::heads},
    {"num_key_value_heads", &Shapes::kv_heads, Need::optional},
    {"head_dim", &Shapes::head_dim, Need::optional},
    {"vocab_size", &Shapes::vocab},
    {"max_position_embeddings", &Shapes::max_sequence, Need::optional},
};
constexpr HfKey kDense[] = {{"intermediate_size", &Shapes::ffn}};

// Families with experts in every layer, whose width is intermediate_size.
constexpr HfKey kLocalExperts[] = {{"intermediate_size", &Shapes::expert_ffn},
                                   {"num_local_experts", &Shapes::experts},
                                   {"num_experts_per_tok", &Shapes::active_experts}};
constexpr HfKey kOlmoe[] = {{"intermediate_size", &Shapes::expert_ffn},
                            {"num_experts", &Shapes::experts},
                            {"num_experts_per_tok", &Shapes::active_experts}};
constexpr HfKey kHunyuanMoe[] = {{"intermediate_size", &Shapes::expert_ffn},
                                 {"num_experts", &Shapes::experts},
                                 {"moe_topk", &Shapes::active_experts, Need::required, {}, true}};
constexpr HfKey kSharedWidth[] = {{"shared_intermediate_size", &Shapes::shared_ffn, Need::or_none}};
constexpr auto kGraniteShared = join(kLocalExperts, kSharedWidth);
constexpr HfKey kLlama4[] = {{"intermediate_size_mlp", &Shapes::ffn},
                             {"intermediate_size", &Shapes::expert_ffn},
                             {"num_local_experts", &Shapes::experts},
                             {"num_experts_per_tok", &Shapes::active_experts},
                             {"interleave_moe_layer_step", &Shapes::sparse_every, Need::optional}};
constexpr HfKey kQwenMoe[] = {
    {"intermediate_size", &Shapes::ffn, Need::optional},
    {"num_experts", &Shapes::experts},
    {"num_experts_per_tok", &Shapes::active_experts},
    {"moe_intermediate_size", &Shapes::expert_ffn},
    {"shared_expert_intermediate_size", &Shapes::shared_ffn, Need::or_none},
    {"decoder_sparse_step", &Shapes::sparse_every, Need::optional},
};
constexpr HfKey kDeltaKeys[] = {
    {"linear_num_value_heads", &Shapes::linear_heads},
    {"linear_value_head_dim", &Shapes::linear_dim},
    {"linear_num_key_heads", &Shapes::linear_key_heads},
    {"linear_key_head_dim", &Shapes::linear_key_dim},
    {"linear_conv_kernel_dim", &Shapes::linear_conv},
};
constexpr auto kDeltaNet = join(kDense, kDeltaKeys);
constexpr auto kDeltaNetMoe = join(kQwenMoe, kDeltaKeys);

// Dense first layers, then routed and shared experts.
constexpr HfKey kRoutedAndShared[] = {
    {"intermediate_size", &Shapes::ffn},
    {"n_routed_experts", &Shapes::experts},
    {"num_experts_per_tok", &Shapes::active_experts},
    {"moe_intermediate_size", &Shapes::expert_ffn},
    {"n_group", &Shapes::expert_groups, Need::or_none},
    {"topk_group", &Shapes::active_groups, Need::or_none},
    {"n_shared_experts", &Shapes::shared_ffn, Need::or_none},  // see SharedExperts::number
    {"first_k_dense_replace", &Shapes::first_dense, Need::or_none},
    {"num_nextn_predict_layers", &Shapes::mtp_layers, Need::or_none},
};
constexpr HfKey kErnieMoe[] = {
    {"intermediate_size", &Shapes::ffn},
    {"moe_num_experts", &Shapes::experts},
    {"moe_k", &Shapes::active_experts},
    {"moe_intermediate_size", &Shapes::expert_ffn},
    {"moe_num_shared_experts", &Shapes::shared_ffn, Need::or_none},
    {"moe_layer_start_index", &Shapes::first_dense, Need::or_none},
    {"moe_layer_interval", &Shapes::sparse_every, Need::optional},
};

// Latent attention. These files also contain head_dim and num_key_value_heads, which it does not
// use.
constexpr HfKey kLatent[] = {
    {"hidden_size", &Shapes::hidden},
    {"num_hidden_layers", &Shapes::layers},
    {"num_attention_heads", &Shapes::heads},
    {"vocab_size", &Shapes::vocab},
    {"max_position_embeddings", &Shapes::max_sequence, Need::optional},
    {"q_lora_rank", &Shapes::q_rank, Need::optional},
    {"kv_lora_rank", &Shapes::kv_rank},
    {"qk_nope_head_dim", &Shapes::nope_dim},
    {"qk_rope_head_dim", &Shapes::rope_dim},
    {"v_head_dim", &Shapes::value_dim},
};
constexpr HfKey kIndexer[] = {{"index_n_heads", &Shapes::index_heads},
                              {"index_head_dim", &Shapes::index_dim},
                              {"index_topk", &Shapes::index_topk}};
constexpr auto kDeepSeekV32 = join(kRoutedAndShared, kIndexer);

constexpr HfKey kNemotronH[] = {
    {"intermediate_size", &Shapes::ffn, Need::optional},
    {"mamba_num_heads", &Shapes::linear_heads},
    {"mamba_head_dim", &Shapes::linear_dim},
    {"n_groups", &Shapes::linear_key_heads},
    {"ssm_state_size", &Shapes::linear_key_dim},
    {"conv_kernel", &Shapes::linear_conv},
    {"n_routed_experts", &Shapes::experts, Need::or_none},
    {"num_experts_per_tok", &Shapes::active_experts, Need::or_none},
    {"moe_intermediate_size", &Shapes::expert_ffn, Need::or_none},
    {"moe_shared_expert_intermediate_size", &Shapes::shared_ffn, Need::or_none},
};
constexpr HfKey kMamba2[] = {
    {"hidden_size", &Shapes::hidden},        {"num_hidden_layers", &Shapes::layers},
    {"vocab_size", &Shapes::vocab},          {"num_heads", &Shapes::linear_heads},
    {"head_dim", &Shapes::linear_dim},       {"n_groups", &Shapes::linear_key_heads},
    {"state_size", &Shapes::linear_key_dim}, {"conv_kernel", &Shapes::linear_conv},
};
constexpr HfKey kMambaKeys[] = {
    {"mamba_n_heads", &Shapes::linear_heads},
    {"mamba_d_head", &Shapes::linear_dim, Need::optional},
    {"mamba_n_groups", &Shapes::linear_key_heads},
    {"mamba_d_state", &Shapes::linear_key_dim},
    {"mamba_d_conv", &Shapes::linear_conv},
};
constexpr auto kBamba = join(kDense, kMambaKeys);
constexpr HfKey kOptionalExperts[] = {
    {"intermediate_size", &Shapes::expert_ffn},
    {"num_local_experts", &Shapes::experts, Need::or_none},
    {"num_experts_per_tok", &Shapes::active_experts, Need::or_none},
    {"shared_intermediate_size", &Shapes::shared_ffn},
};
constexpr auto kGraniteHybrid = join(kOptionalExperts, kMambaKeys);

constexpr HfKey kGpt2[] = {
    {"n_embd", &Shapes::hidden},    {"n_layer", &Shapes::layers},
    {"n_head", &Shapes::heads},     {"n_inner", &Shapes::ffn, Need::optional},
    {"vocab_size", &Shapes::vocab}, {"n_positions", &Shapes::positions},
};
constexpr HfKey kGptJ[] = {
    {"n_embd", &Shapes::hidden},    {"n_layer", &Shapes::layers},
    {"n_head", &Shapes::heads},     {"n_inner", &Shapes::ffn, Need::optional},
    {"vocab_size", &Shapes::vocab}, {"n_positions", &Shapes::max_sequence, Need::optional},
};
constexpr HfKey kGptNeo[] = {
    {"hidden_size", &Shapes::hidden}, {"num_layers", &Shapes::layers},
    {"num_heads", &Shapes::heads},    {"intermediate_size", &Shapes::ffn, Need::optional},
    {"vocab_size", &Shapes::vocab},   {"max_position_embeddings", &Shapes::positions},
};
constexpr HfKey kBloom[] = {
    {"hidden_size", &Shapes::hidden, Need::required, "n_embed"},
    {"n_layer", &Shapes::layers, Need::required, "num_hidden_layers"},
    {"n_head", &Shapes::heads, Need::required, "num_attention_heads"},
    {"vocab_size", &Shapes::vocab},
    {"seq_length", &Shapes::max_sequence, Need::optional},
};
constexpr HfKey kFalcon[] = {
    {"hidden_size", &Shapes::hidden},
    {"num_hidden_layers", &Shapes::layers, Need::required, "n_layer"},
    {"num_attention_heads", &Shapes::heads, Need::required, "n_head"},
    {"num_kv_heads", &Shapes::kv_heads, Need::optional, "n_head_kv"},
    {"ffn_hidden_size", &Shapes::ffn, Need::optional},
    {"vocab_size", &Shapes::vocab},
    {"num_ln_in_parallel_attn", &Shapes::norms, Need::optional},
    {"max_position_embeddings", &Shapes::max_sequence, Need::optional},
};
constexpr HfKey kOpt[] = {
    {"hidden_size", &Shapes::hidden},        {"num_hidden_layers", &Shapes::layers},
    {"num_attention_heads", &Shapes::heads}, {"ffn_dim", &Shapes::ffn},
    {"vocab_size", &Shapes::vocab},          {"max_position_embeddings", &Shapes::positions},
};
constexpr HfKey kMpt[] = {
    {"d_model", &Shapes::hidden},
    {"n_layers", &Shapes::layers},
    {"n_heads", &Shapes::heads},
    {"vocab_size", &Shapes::vocab},
    {"max_seq_len", &Shapes::max_sequence, Need::optional},
};

// attention_bias adds a bias to Q, K, V and the output projection.
constexpr HfFlag kBiased[] = {{"attention_bias", &Shapes::qkv_bias},
                              {"attention_bias", &Shapes::out_bias},
                              {"mlp_bias", &Shapes::ffn_bias}};
constexpr HfFlag kBiasedHeads[] = {{"attention_bias", &Shapes::qkv_bias},
                                   {"attention_bias", &Shapes::out_bias}};
constexpr HfFlag kPhimoeFlags[] = {{"attention_bias", &Shapes::qkv_bias},
                                   {"attention_bias", &Shapes::out_bias},
                                   {"lm_head_bias", &Shapes::head_bias}};
constexpr HfFlag kQwen2MoeFlags[] = {{"qkv_bias", &Shapes::qkv_bias}};
constexpr HfFlag kGlmFlags[] = {{"attention_bias", &Shapes::qkv_bias}};
constexpr HfFlag kGlmMoeFlags[] = {{"attention_bias", &Shapes::qkv_bias},
                                   {"use_qk_norm", &Shapes::qk_norm}};
constexpr HfFlag kSeedFlags[] = {{"attention_bias", &Shapes::qkv_bias},
                                 {"attention_out_bias", &Shapes::out_bias},
                                 {"mlp_bias", &Shapes::ffn_bias}};
constexpr HfFlag kCohereFlags[] = {{"attention_bias", &Shapes::qkv_bias},
                                   {"attention_bias", &Shapes::out_bias},
                                   {"use_qk_norm", &Shapes::qk_norm}};
constexpr HfFlag kUseBias[] = {{"use_bias", &Shapes::qkv_bias},
                               {"use_bias", &Shapes::out_bias},
                               {"use_bias", &Shapes::ffn_bias}};
constexpr HfFlag kFalconFlags[] = {
    {"bias", &Shapes::qkv_bias}, {"bias", &Shapes::out_bias}, {"bias", &Shapes::ffn_bias}};
constexpr HfFlag kStablelmFlags[] = {{"use_qkv_bias", &Shapes::qkv_bias}};
constexpr HfFlag kNemotronHFlags[] = {{"attention_bias", &Shapes::qkv_bias},
                                      {"attention_bias", &Shapes::out_bias},
                                      {"mlp_bias", &Shapes::ffn_bias},
                                      {"use_conv_bias", &Shapes::conv_bias},
                                      {"use_bias", &Shapes::linear_bias}};
constexpr HfFlag kMamba2Flags[] = {{"use_conv_bias", &Shapes::conv_bias},
                                   {"use_bias", &Shapes::linear_bias}};
constexpr HfFlag kBambaFlags[] = {{"attention_bias", &Shapes::qkv_bias},
                                  {"attention_bias", &Shapes::out_bias},
                                  {"mlp_bias", &Shapes::ffn_bias},
                                  {"mamba_conv_bias", &Shapes::conv_bias},
                                  {"mamba_proj_bias", &Shapes::linear_bias}};

constexpr RequiredSetting kNoDenseList[] = {{"mlp_only_layers", "[]"}};
constexpr RequiredSetting kQwen2Moe[] = {{"mlp_only_layers", "[]"},
                                         {"use_sliding_window", "false"}};
constexpr RequiredSetting kQwen3Next[] = {{"mlp_only_layers", "[]"}, {"attention_bias", "false"}};
constexpr RequiredSetting kNoBias[] = {{"attention_bias", "false"}};
constexpr RequiredSetting kEveryLayer[] = {{"moe_layer_freq", "1"}, {"attention_bias", "false"}};
constexpr RequiredSetting kNoQkNorm[] = {{"qk_layernorm", "false"}};
constexpr RequiredSetting kDecoder[] = {{"add_cross_attention", "false"}};
constexpr RequiredSetting kNoUseBias[] = {{"use_bias", "false"}};
constexpr RequiredSetting kPreNorm[] = {{"do_layer_norm_before", "true"},
                                        {"enable_bias", "true"},
                                        {"layer_norm_elementwise_affine", "true"},
                                        {"_remove_final_layer_norm", "false"}};
constexpr RequiredSetting kMptBias[] = {{"no_bias", "true"}};
constexpr RequiredSetting kNoLatentExperts[] = {{"moe_latent_size", "null"},
                                                {"num_nextn_predict_layers", "0"}};

constexpr HfDefault kGemma3Defaults[] = {{&Shapes::heads, 8},
                                         {&Shapes::kv_heads, 4},
                                         {&Shapes::head_dim, 256},
                                         {&Shapes::vocab, 262208}};

// To read another model_type, add a row here, one in model/architecture.cc if its layers differ
// from all others, and a config with its number of parameters in tests/data/hf_types.
constexpr HfFamily kHfFamilies[] = {
    {"llama", "llama", kCommon, kDense, kBiased},
    {"mistral", "mistral", kCommon, kDense},
    {"mixtral", "mixtral", kCommon, kLocalExperts},
    {.model_type = "qwen2",
     .architecture = "qwen2",
     .keys = kCommon,
     .more = kDense,
     .rule = WindowRule::max_window_layers,
     .window_off = true},
    {.model_type = "qwen3",
     .architecture = "qwen3",
     .keys = kCommon,
     .more = kDense,
     .flags = kBiased,
     .rule = WindowRule::max_window_layers,
     .window_off = true},
    {.model_type = "qwen2_moe",
     .architecture = "qwen2_moe",
     .keys = kCommon,
     .more = kQwenMoe,
     .flags = kQwen2MoeFlags,
     .only = kQwen2Moe,
     .window_off = true},
    {.model_type = "qwen3_moe",
     .architecture = "qwen3_moe",
     .keys = kCommon,
     .more = kQwenMoe,
     .flags = kBiased,
     .only = kNoDenseList,
     .window_off = true},
    {.model_type = "qwen3_next",
     .architecture = "qwen3_next",
     .keys = kCommon,
     .more = kDeltaNetMoe,
     .only = kQwen3Next,
     .every = "full_attention_interval"},
    {.model_type = "qwen3_5_text",
     .architecture = "qwen3_5",
     .keys = kCommon,
     .more = kDeltaNet,
     .only = kNoBias,
     .every = "full_attention_interval"},
    {.model_type = "qwen3_5_moe_text",
     .architecture = "qwen3_next",
     .keys = kCommon,
     .more = kDeltaNetMoe,
     .only = kQwen3Next,
     .every = "full_attention_interval"},
    {.model_type = "deepseek_v2",
     .architecture = "deepseek_v2",
     .keys = kLatent,
     .more = kRoutedAndShared,
     .only = kEveryLayer,
     .shared = SharedExperts::number},
    {.model_type = "deepseek_v3",
     .architecture = "deepseek_v3",
     .keys = kLatent,
     .more = kRoutedAndShared,
     .only = kEveryLayer,
     .shared = SharedExperts::number},
    {.model_type = "kimi_k2",
     .architecture = "deepseek_v3",
     .keys = kLatent,
     .more = kRoutedAndShared,
     .only = kEveryLayer,
     .shared = SharedExperts::number},
    {.model_type = "glm4_moe_lite",
     .architecture = "deepseek_v3",
     .keys = kLatent,
     .more = kRoutedAndShared,
     .only = kEveryLayer,
     .shared = SharedExperts::number},
    {.model_type = "deepseek_v32",
     .architecture = "deepseek_v32",
     .keys = kLatent,
     .more = kDeepSeekV32,
     .only = kEveryLayer,
     .shared = SharedExperts::number},
    {"youtu", "youtu", kLatent, kDense, {}, kNoBias},
    {"gpt2", "gpt2", kGpt2, {}, {}, kDecoder},
    {"gpt_neox", "gpt_neox", kCommon, kDense, kBiased},
    {"gpt_oss", "gpt_oss", kCommon, kLocalExperts, kBiasedHeads},
    {.model_type = "llama4_text",
     .architecture = "llama4",
     .keys = kCommon,
     .more = kLlama4,
     .flags = kBiasedHeads,
     .window = "attention_chunk_size",
     .every = "no_rope_layer_interval",
     .shared = SharedExperts::one,
     .finish = finish_llama4},
    {"gemma", "gemma", kCommon, kDense, kBiased},
    {"gemma2", "gemma2", kCommon, kDense, kBiased},
    {.model_type = "gemma3_text",
     .architecture = "gemma3",
     .keys = kCommon,
     .more = kDense,
     .flags = kBiased,
     .every = "sliding_window_pattern",
     .defaults = kGemma3Defaults},
    {"vaultgemma", "vaultgemma", kCommon, kDense, kBiased},
    {"phi", "phi", kCommon, kDense, {}, kNoQkNorm},
    {"phi3", "phi3", kCommon, kDense},
    {"phimoe", "phimoe", kCommon, kLocalExperts, kPhimoeFlags},
    {"glm", "glm", kCommon, kDense, kGlmFlags},
    {"glm4", "glm4", kCommon, kDense, kGlmFlags},
    {.model_type = "glm4_moe",
     .architecture = "glm4_moe",
     .keys = kCommon,
     .more = kRoutedAndShared,
     .flags = kGlmMoeFlags,
     .shared = SharedExperts::number},
    {.model_type = "dots1",
     .architecture = "dots1",
     .keys = kCommon,
     .more = kRoutedAndShared,
     .flags = kBiasedHeads,
     .rule = WindowRule::max_window_layers,
     .shared = SharedExperts::number},
    {"nemotron", "nemotron", kCommon, kDense, kBiased},
    {.model_type = "nemotron_h",
     .architecture = "nemotron_h",
     .keys = kCommon,
     .more = kNemotronH,
     .flags = kNemotronHFlags,
     .only = kNoLatentExperts},
    {"mamba2", "mamba2", kMamba2, {}, kMamba2Flags},
    {.model_type = "bamba",
     .architecture = "bamba",
     .keys = kCommon,
     .more = kBamba,
     .flags = kBambaFlags,
     .finish = finish_bamba},
    {.model_type = "granitemoehybrid",
     .architecture = "granitemoehybrid",
     .keys = kCommon,
     .more = kGraniteHybrid,
     .flags = kBambaFlags,
     .finish = finish_granite_hybrid},
    {.model_type = "minimax",
     .architecture = "minimax",
     .keys = kCommon,
     .more = kLocalExperts,
     .finish = finish_minimax},
    {"minimax_m2", "minimax_m2", kCommon, kLocalExperts},
    {"olmo2", "olmo2", kCommon, kDense, kBiased},
    {"olmo3", "olmo3", kCommon, kDense, kBiased},
    {"olmoe", "olmoe", kCommon, kOlmoe, kBiasedHeads},
    {"flex_olmo", "olmoe", kCommon, kOlmoe, kBiasedHeads},
    {"granite", "llama", kCommon, kDense, kBiased},
    {"granitemoe", "mixtral", kCommon, kLocalExperts, kBiasedHeads},
    {"granitemoeshared", "mixtral", kCommon, kGraniteShared, kBiasedHeads},
    {"cohere", "cohere", kCommon, kDense, kCohereFlags},
    {.model_type = "cohere2",
     .architecture = "cohere2",
     .keys = kCommon,
     .more = kDense,
     .flags = kBiasedHeads,
     .every = "sliding_window_pattern"},
    {.model_type = "smollm3",
     .architecture = "smollm3",
     .keys = kCommon,
     .more = kDense,
     .flags = kBiased,
     .window_off = true},
    {"ernie4_5", "ernie4_5", kCommon, kDense, kUseBias},
    {.model_type = "ernie4_5_moe",
     .architecture = "ernie4_5_moe",
     .keys = kCommon,
     .more = kErnieMoe,
     .only = kNoUseBias,
     .shared = SharedExperts::number,
     .finish = finish_ernie_moe},
    {"hunyuan_v1_dense", "qwen3", kCommon, kDense, kBiasedHeads},
    {.model_type = "hunyuan_v1_moe",
     .architecture = "hunyuan_v1_moe",
     .keys = kCommon,
     .more = kHunyuanMoe,
     .flags = kBiasedHeads,
     .shared = SharedExperts::one},
    {"seed_oss", "seed_oss", kCommon, kDense, kSeedFlags},
    {.model_type = "exaone4",
     .architecture = "exaone4",
     .keys = kCommon,
     .more = kDense,
     .every = "sliding_window_pattern"},
    {"starcoder2", "starcoder2", kCommon, kDense, kUseBias},
    {"arcee", "arcee", kCommon, kDense, kBiased},
    {"ministral", "mistral", kCommon, kDense},
    {"ministral3", "mistral", kCommon, kDense},
    {"cwm", "cwm", kCommon, kDense},
    {"helium", "llama", kCommon, kDense, kGlmFlags},
    {"jais2", "gpt_neox", kCommon, kDense, kBiased},
    {.model_type = "stablelm",
     .architecture = "stablelm",
     .keys = kCommon,
     .more = kDense,
     .flags = kStablelmFlags,
     .only = kNoQkNorm,
     .finish = finish_stablelm},
    {"bloom", "bloom", kBloom},
    {.model_type = "falcon",
     .architecture = "falcon",
     .keys = kFalcon,
     .flags = kFalconFlags,
     .finish = finish_falcon},
    {"gptj", "gptj", kGptJ},
    {"codegen", "gptj", kGptJ},
    {.model_type = "gpt_neo",
     .architecture = "gpt_neo",
     .keys = kGptNeo,
     .window = "window_size",
     .finish = finish_gpt_neo},
    {.model_type = "gpt_bigcode",
     .architecture = "gpt2",
     .keys = kGpt2,
     .only = kDecoder,
     .finish = finish_bigcode},
    {.model_type = "opt",
     .architecture = "gpt2",
     .keys = kOpt,
     .only = kPreNorm,
     .finish = finish_opt},
    {.model_type = "mpt",
     .architecture = "mpt",
     .keys = kMpt,
     .only = kMptBias,
     .finish = finish_mpt},
};

}  // namespace

std::span<const HfFamily> list_hf_families() { return kHfFamilies; }

std::string list_hf_model_types() {
  std::string listed;
  for (const HfFamily& family : kHfFamilies)
    listed += fmt::format("{}{}", listed.empty() ? "" : ", ", family.model_type);
  return listed;
}

}  // namespace rankwright::importer
