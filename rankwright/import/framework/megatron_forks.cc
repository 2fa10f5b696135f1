#include "rankwright/import/framework/megatron_forks.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/base/quantity.h"
#include "rankwright/import/framework/deepspeed.h"
#include "rankwright/import/framework/megatron_model.h"
#include "rankwright/import/framework/recipes.h"
#include "rankwright/import/plan/plan_format.h"
#include "rankwright/import/syntax/json_tree.h"

namespace rankwright::importer {
namespace {

constexpr std::string_view kDeepspeedMarks[] = {"--zero-stage", "--zero_stage",
                                                "--deepspeed_config", "--deepspeed-config",
                                                "--pp-partition-method"};
constexpr const char* kDeepspeedNames[] = {"zero-stage", "deepspeed", "deepspeed-config",
                                           "pp-partition-method"};
constexpr ForkFlag kDeepspeedFlags[] = {{"no-bias", "disable-bias-linear"},
                                        {"pad-vocab-size-to", "padded-vocab-size"},
                                        {"ds-sequence-parallel-size", "context-parallel-size"},
                                        {"moe-expert-parallel-size", "expert-model-parallel-size"},
                                        {"num-experts-switch", "num-experts"},
                                        {"num-routed-experts", "num-experts"},
                                        {"num-shared-experts", "n-shared-experts"},
                                        {"qk-nope-head-dim", "qk-head-dim"},
                                        {"qk-rope-head-dim", "qk-pos-emb-head-dim"},
                                        {"topk", "moe-router-topk"}};

constexpr std::string_view kSwiftMarks[] = {"megatron sft",          "megatron pt",
                                            "megatron rlhf",         "cli/_megatron/sft.py",
                                            "cli/_megatron/rlhf.py", "cli/_megatron/pt.py"};
constexpr ForkFlag kSwiftFlags[] = {{"max-length", "seq-length"}};
constexpr ForkDefault kSwiftDefaults[] = {{"bf16", "true"},
                                          {"nodes", "1"},
                                          {"use-distributed-optimizer", "true"},
                                          {"micro-batch-size", "1"},
                                          {"global-batch-size", "16"},
                                          {"expert-tensor-parallel-size", "1"},
                                          {"moe-grouped-gemm", "true"},
                                          {"recompute-granularity", "selective"}};

constexpr std::string_view kSwiftYamlMarks[] = {"tuner_type:", "rlhf_type:", "train_type:"};

constexpr std::string_view kSlimeMarks[] = {"--rollout-batch-size", "--rollout-num-gpus",
                                            "--rollout-max-response-len"};
constexpr ForkFlag kSlimeFlags[] = {{"rollout-max-context-len", "seq-length"},
                                    {"rollout-max-response-len", "seq-length"},
                                    {"actor-num-nodes", "nodes", true},
                                    {"expert-parallel-size", "expert-model-parallel-size"},
                                    {"actor-num-gpus-per-node", "gpus-per-node", true}};
constexpr ForkDefault kSlimeDefaults[] = {
    {"bf16", "true"}, {"use-distributed-optimizer", "true"}, {"micro-batch-size", "1"}};

constexpr std::string_view kPrimusMarks[] = {"pre_trainer:", "post_trainer:", "sft_trainer:"};
constexpr ForkDefault kPrimusDefaults[] = {{"bf16", "true"}, {"use-distributed-optimizer", "true"}};

constexpr std::string_view kMindSpeedRlMarks[] = {"stage: ray_grpo", "stage: ray_dapo",
                                                  "stage: ray_ppo"};
constexpr ForkFlag kMindSpeedRlFlags[] = {{"num-npus", "world-size"}};

constexpr std::string_view kPrimusScriptMarks[] = {"PRIMUS_EXP_NAME", "primus-cli"};

// Names that only MindSpeed-LLM has (mindspeed_llm/training/arguments.py).
constexpr std::string_view kMindspeedMarks[] = {"mindspeed",
                                                "MindSpeed",
                                                "posttrain_gpt.py",
                                                "PretrainedFromHF",
                                                "--moe-permutation-async-comm",
                                                "--reuse-fp32-param",
                                                "--multi-head-latent-attention",
                                                "--n-shared-experts",
                                                "--first-k-dense-replace",
                                                "--moe-intermediate-size",
                                                "--lora-target-modules",
                                                "--gelu-tanh"};
constexpr ForkFlag kMindspeedFlags[] = {
    {"moe-intermediate-size", "moe-ffn-hidden-size"},
    {"shared-expert-gate", "moe-shared-expert-gate"},
    {"multi-head-latent-attention", "multi-latent-attention"},
    {"qk-nope-head-dim", "qk-head-dim"},
    {"qk-rope-head-dim", "qk-pos-emb-head-dim"},
    // Both gate the feed-forward layers.
    {"geglu", "quick-geglu"},
    {"gelu-tanh", "quick-geglu"},
    {"use-fused-moe-token-permute-and-unpermute", "moe-permute-fusion"},
    {"lora-r", "lora-rank"},
    {"lora-target-modules", "target-modules"}};

constexpr ForkFlag kPaiFlags[] = {
    {"shared-moe-ffn-hidden-size", "moe-shared-expert-intermediate-size"}};
constexpr std::string_view kPaiMarks[] = {"--patch-tokenizer-type", "--extra-vocab-size"};

// To read another fork, add a row. The first that matches wins.
constexpr MegatronFork kForks[] = {
    {.name = "slime",
     .marks = kSlimeMarks,
     .renamed = kSlimeFlags,
     .defaults = kSlimeDefaults,
     .packs = true,
     .responses = true,
     .unless = "posttrain_gpt.py"},  // of MindSpeed-LLM, whose PPO has a batch of rollouts too
    {.name = "ms-swift",
     .marks = kSwiftMarks,
     .renamed = kSwiftFlags,
     .defaults = kSwiftDefaults,
     .adapters = true},
    {.name = "ms-swift",
     .marks = kSwiftYamlMarks,
     .renamed = kSwiftFlags,
     .defaults = kSwiftDefaults,
     .yaml = true,
     .adapters = true},
    {.name = "Primus",
     .marks = kPrimusMarks,
     .renamed = {},
     .defaults = kPrimusDefaults,
     .yaml = true},
    {"Primus", kPrimusScriptMarks, {}, kPrimusDefaults},
    {.name = "MindSpeed-RL",
     .marks = kMindSpeedRlMarks,
     .renamed = kMindSpeedRlFlags,
     .defaults = {},
     .yaml = true,
     .responses = true},
    {"Pai-Megatron-Patch", kPaiMarks, kPaiFlags, {}},
    {.name = "Megatron-DeepSpeed",
     .marks = kDeepspeedMarks,
     .renamed = kDeepspeedFlags,
     .defaults = {},
     .deepspeed = true,
     .counts_layers = true},
    {.name = "MindSpeed",
     .marks = kMindspeedMarks,
     .renamed = kMindspeedFlags,
     .defaults = {},
     .counts_layers = true,
     .adapts_targets = true},
};

bool has_flag(const ScriptFlags& flags, std::string_view name) {
  return flags.map.find(name) != nullptr ||
         std::any_of(flags.unknown.begin(), flags.unknown.end(),
                     [&](const auto& one) { return one.flag == name; });
}

/// Sets a flag at the place of another one.
void set_number(ScriptFlags& flags, const char* from, const char* flag, std::string value) {
  YamlNode place = *flags.map.find(from);
  YamlEntry entry{place, std::move(place)};
  entry.key.scalar = flag;
  entry.value.scalar = std::move(value);
  std::erase_if(flags.map.entries, [&](const YamlEntry& old) { return old.key.scalar == flag; });
  flags.map.entries.push_back(std::move(entry));
}

/// The vocabulary is that of the tokenizer and some more rows, none by default.
void set_pai_vocabulary(ScriptFlags& flags) {
  constexpr std::pair<std::string_view, i64> kRows[] = {
      {"Qwen2Tokenizer", 151643},      {"Qwen3Tokenizer", 151643}, {"LLama3Tokenizer", 128000},
      {"DeepSeekV2Tokenizer", 100000}, {"LLama2Tokenizer", 32000}, {"LLamaTokenizer", 32000},
      {"MistralTokenizer", 32000}};
  const YamlNode* const type = flags.map.find("patch-tokenizer-type");
  if (type == nullptr || has_flag(flags, "padded-vocab-size")) return;
  const YamlNode* const more = flags.map.find("extra-vocab-size");
  if (more == nullptr && has_flag(flags, "extra-vocab-size")) return;  // its value is unknown
  const Result<i64> extra = parse_count(more == nullptr ? "0" : more->scalar, 0);
  for (const auto& [name, rows] : kRows)
    if (type->scalar == name && extra && *extra < kMaxCount / 2)
      return set_number(flags, more == nullptr ? "patch-tokenizer-type" : "extra-vocab-size",
                        "padded-vocab-size", std::to_string(rows + *extra));
}

/// Megatron-DeepSpeed sends a token to one expert, has experts in every second layer, and does not
/// split them by tensor parallelism, unless told otherwise.
void set_expert_defaults(ScriptFlags& flags) {
  const YamlNode* experts = flags.map.find("num-experts");
  if (experts != nullptr && experts->scalar != "1" && !has_flag(flags, "moe-router-topk")) {
    YamlEntry entry{*experts, *experts};
    entry.key.scalar = "moe-router-topk";
    entry.value.scalar = "1";
    flags.map.entries.push_back(std::move(entry));
    experts = flags.map.find("num-experts");
  }
  if (experts != nullptr && !has_flag(flags, "enable-expert-tensor-parallelism") &&
      !has_flag(flags, "expert-tensor-parallel-size")) {
    YamlEntry entry{*experts, *experts};
    entry.key.scalar = "expert-tensor-parallel-size";
    entry.value.scalar = "1";
    flags.map.entries.push_back(std::move(entry));
    experts = flags.map.find("num-experts");
  }
  if (experts == nullptr || has_flag(flags, "moe-layer-freq")) return;
  const YamlNode* const interval = flags.map.find("expert-interval");
  YamlEntry entry{*experts, interval == nullptr ? *experts : *interval};
  entry.key.scalar = "moe-layer-freq";
  if (interval == nullptr) entry.value.scalar = "2";
  flags.map.entries.push_back(std::move(entry));
}

/// pretrain_llama.py of a fork of Megatron-DeepSpeed builds LLaMA's layers without flags. Flags
/// that state other ones are those of another program of this name.
void set_llama_layers(ScriptFlags& flags) {
  if (flags.program != "pretrain_llama.py") return;
  constexpr std::pair<const char*, const char*> kLayers[] = {
      {"normalization", "RMSNorm"},
      {"position-embedding-type", "rope"},
      {"swiglu", "true"},
      {"disable-bias-linear", "true"},
      {"untie-embeddings-and-output-weights", "true"}};
  const bool stated = has_flag(flags, "use-rotary-position-embeddings") ||
                      has_flag(flags, "squared-relu") ||
                      std::any_of(std::begin(kLayers), std::end(kLayers),
                                  [&](const auto& one) { return has_flag(flags, one.first); });
  if (stated || flags.map.find("hidden-size") == nullptr) return;
  for (const auto& [flag, value] : kLayers) set_number(flags, "hidden-size", flag, value);
  flags.assumed.emplace_back("LLaMA's layers, as most programs named pretrain_llama.py build");
}

std::optional<i64> find_number(const ScriptFlags& flags, std::string_view name) {
  const YamlNode* const node = flags.map.find(name);
  const Result<i64> n = parse_count(node == nullptr ? "" : node->scalar, 1);
  return n ? std::optional(*n) : std::nullopt;
}

/// MindSpeed states the number of shared experts, and of dense layers before the others.
void set_counted_layers(ScriptFlags& flags) {
  const std::optional<i64> width = find_number(flags, "moe-ffn-hidden-size");
  const std::optional<i64> shared = find_number(flags, "n-shared-experts");
  const std::optional<i64> both = width && shared ? product({*width, *shared}) : std::nullopt;
  if (both && !has_flag(flags, "moe-shared-expert-intermediate-size"))
    set_number(flags, "n-shared-experts", "moe-shared-expert-intermediate-size",
               std::to_string(*both));
  std::optional<i64> layers = find_number(flags, "num-layers");
  if (const YamlNode* const empty = flags.map.find("noop-layers"); empty != nullptr && layers)
    *layers -= 1 + i64(std::count(empty->scalar.begin(), empty->scalar.end(), ','));
  if (const YamlNode* const node = flags.map.find("moe-layer-freq"); node && node->scalar == "-1")
    set_number(flags, "moe-layer-freq", "moe-layer-freq", "1");  // its default
  const std::optional<i64> dense = find_number(flags, "first-k-dense-replace");
  if (!dense || !layers || *dense >= *layers || *layers > model::kMaxLayers) return;
  // Layers after them have experts if the interval divides their number.
  const YamlNode* const interval = flags.map.find("moe-layer-freq");
  if (interval == nullptr && has_flag(flags, "moe-layer-freq")) return;
  const std::string_view stated = interval == nullptr ? "1" : std::string_view(interval->scalar);
  const Result<i64> every = parse_count(stated, 1);
  if (!every) return;
  std::string pattern = fmt::format("[0]*{}+[1]*{}", *dense, *layers - *dense);
  if (*every > 1) {
    std::vector<int> sparse;
    for (i64 i = 0; i < *layers; ++i) sparse.push_back(i >= *dense && i % *every == 0 ? 1 : 0);
    pattern = fmt::format("[{}]", fmt::join(sparse, ","));
  }
  set_number(flags, "first-k-dense-replace", "moe-layer-freq", std::move(pattern));
}

/// A key of MindSpeed-MM's model files, and the flag that states the same.
struct ModelFileKey {
  const char *key, *flag;
  std::string_view value{};    // of the key: the flag is a switch that has no other meaning
  std::string_view renamed{};  // the flag's word for `value`
};
constexpr ModelFileKey kModelFileKeys[] = {
    {"num_layers", "num-layers"},
    {"hidden_size", "hidden-size"},
    {"ffn_hidden_size", "ffn-hidden-size"},
    {"num_attention_heads", "num-attention-heads"},
    {"num_query_groups", "num-query-groups"},
    {"kv_channels", "kv-channels"},
    {"vocab_size", "padded-vocab-size"},
    {"num_moe_experts", "num-experts"},
    {"moe_intermediate_size", "moe-ffn-hidden-size"},
    {"n_shared_experts", "n-shared-experts"},
    {"first_k_dense_replace", "first-k-dense-replace"},
    {"moe_router_topk", "moe-router-topk"},
    {"mtp_num_layers", "mtp-num-layers"},
    {"normalization", "normalization"},
    {"position_embedding_type", "position-embedding-type", "rope", "rope"},
    {"position_embedding_type", "position-embedding-type", "mrope", "rope"},
    {"recompute_granularity", "recompute-granularity"},
    {"recompute_method", "recompute-method"},
    {"recompute_num_layers", "recompute-num-layers"},
    {"num_query_groups", "group-query-attention", "", "true"},
    {"gated_linear_unit", "swiglu", "true", "true"},
    {"add_bias_linear", "disable-bias-linear", "false", "true"},
    {"add_qkv_bias", "add-qkv-bias", "true", "true"},
    {"qk_layernorm", "qk-layernorm", "true", "true"},
    {"untie_embeddings_and_output_weights", "untie-embeddings-and-output-weights", "true", "true"},
    {"bf16", "bf16", "true", "true"},
};

/// slime may state the steps of a rollout instead of the batch of a step. MindSpeed-RL's batch of a
/// step counts prompts, as that of its rollout does.
void set_rollout_batch(ScriptFlags& flags) {
  const std::optional<i64> mini = find_number(flags, "mini-batch-size");
  const std::optional<i64> step =
      product({mini.value_or(1), find_number(flags, "n-samples-per-prompt").value_or(1)});
  if (mini && step)
    return set_number(flags, "mini-batch-size", "global-batch-size", std::to_string(*step));
  const std::optional<i64> steps = find_number(flags, "num-steps-per-rollout");
  const std::optional<i64> prompts = find_number(flags, "rollout-batch-size");
  if (!steps || !prompts || has_flag(flags, "global-batch-size")) return;
  const std::optional<i64> all =
      product({*prompts, find_number(flags, "n-samples-per-prompt").value_or(1)});
  if (!all || *all < *steps) return;
  set_number(flags, "num-steps-per-rollout", "global-batch-size", std::to_string(*all / *steps));
}

/// Reports what shares the GPUs with the update of slime's actor: its programs generate, and
/// compute log-probabilities of the actor and of a reference model before they train.
void report_actor_work(ForeignReading& r) {
  constexpr const char* kPenalties[] = {"use-kl-loss", "kl-coef"};
  constexpr const char* kPlaces[] = {"ref-load", "use-kl-loss", "kl-coef", "rollout-batch-size"};
  const bool reference =
      std::any_of(std::begin(kPenalties), std::end(kPenalties), [&](const char* path) {
        const YamlNode* const node = find_path(r.root, path);
        return node != nullptr && !is_off(*node) &&
               node->scalar.find_first_not_of("0.") != std::string::npos;
      });
  const YamlNode* place = &r.root;
  for (const char* const path : kPlaces)
    if (const YamlNode* const node = find_path(r.root, path); node != nullptr && place == &r.root)
      place = node;
  report_left_out(r, *place,
                  fmt::format("only the update of the actor is estimated, without {}passes for "
                              "log-probabilities{}",
                              is_on(r, "colocate") ? "rollouts on its GPUs and " : "",
                              reference ? " and the reference model" : ""));
}

/// Reads what is trained: slime's responses, and the methods of ms-swift. The weights of slime's
/// reference model are on the host. A batch of preference optimization counts pairs.
void read_fork_method(const MegatronFork& fork, ForeignReading& r) {
  Draft& d = r.draft;
  if (fork.responses) {
    const YamlNode* const loss = find_path(r.root, "loss-type");
    if (loss != nullptr && loss->scalar == "sft_loss") return;
    d.method = plan::Method::grpo;
    d.loss = plan::Loss::unfused;
    if (fork.packs) report_actor_work(r);
    return;
  }
  const YamlNode* const stage = find_path(r.root, "stage");
  if (fork.counts_layers && stage != nullptr && stage->scalar != "sft") {  // of MindSpeed-LLM
    r.fields.under("job.method", *stage, [&] { read_trainer_method(r, *stage); });
    if (d.method == plan::Method::dpo) count_pairs_twice(d);
    return;
  }
  const YamlNode* const type = find_path(r.root, "rlhf-type");
  if (!fork.adapters || type == nullptr) return;
  r.fields.under("job.method", *type, [&] { read_trainer_method(r, *type); });
  if (d.method == plan::Method::grpo) {
    d.loss = plan::Loss::unfused;
    const std::optional<i64> answer =
        read_whole_at(r, "max-completion-length", 1, kMaxSequence / 2);
    if (answer) add_answer_length(r, *answer, "max-completion-length");
  }
  if (d.method != plan::Method::dpo) return;
  count_pairs_twice(d);
}

/// Flags that may name a model.
constexpr const char* kModelNames[] = {"model", "hf-checkpoint", "mcore-model", "load", "ref-load"};

/// Removes the flags that the fork reads from those that are listed as ignored.
void forget_read_flags(const MegatronFork& fork, std::vector<std::string>& ignored) {
  std::erase_if(ignored, [&](const std::string& flag) {
    return std::any_of(fork.renamed.begin(), fork.renamed.end(),
                       [&](const ForkFlag& one) { return one.fork == flag; }) ||
           std::find(std::begin(kModelNames), std::end(kModelNames), flag) != std::end(kModelNames);
  });
}

/// Returns whether two models agree in all that a file may restate of one that it names.
bool restates(const model::Model& stated, const model::Model& named) {
  const model::Layer& a = stated.layer(stated.layers() - 1);
  const model::Layer& b = named.layer(named.layers() - 1);
  return stated.layers() == named.layers() && stated.hidden == named.hidden &&
         a.attention.heads == b.attention.heads && a.attention.kv_heads == b.attention.kv_heads &&
         a.ffn.experts == b.ffn.experts && a.ffn.expert_width == b.ffn.expert_width &&
         (a.ffn.sparse() || a.ffn.width == b.ffn.width);
}

/// Sets the model that a flag or a recipe names if the file has no shapes, or restates those of a
/// model whose own file is not there.
void read_fork_model(ForeignReading& r) {
  if (r.draft.model) {
    const YamlNode* const name = find_path(r.root, "model");
    const std::optional<model::Model> named =
        name == nullptr ? std::nullopt : find_hub_model(name->scalar);
    if (!named || !restates(*r.draft.model, *named)) return;
    r.draft.model = named;
    std::erase_if(r.fields.findings(), [](const Diagnostic& found) {  // the model states it
      return found.detail.starts_with("vocabulary size");
    });
    return;
  }
  for (const char* const path : kModelNames)
    if (const YamlNode* const node = find_path(r.root, path);
        node != nullptr && node->kind == YamlNode::Kind::scalar && !r.draft.model)
      r.fields.under("model", *node, [&] { read_named_model(r, *node); });
  constexpr i64 kMostModules = 8;
  const std::optional<i64> mtp = read_whole_at(r, "mtp-num-layers", 0, kMostModules);
  if (r.draft.model && mtp) r.draft.model->mtp_layers = *mtp;
}

/// ms-swift trains every parameter unless told to train adapters. Other methods are refused.
void read_swift_adapters(ForeignReading& r) {
  constexpr i64 kUsualRank = 8;
  const YamlNode* type = find_path(r.root, "tuner-type");
  if (type == nullptr) type = find_path(r.root, "train-type");
  const bool beside_encoder = type != nullptr && type->scalar == "lora_llm";
  if (beside_encoder)
    report_left_out(r, *type, "only the adapters of the language model are estimated as trained");
  if (beside_encoder || (type != nullptr && type->scalar == "lora")) {
    if (!r.draft.lora_rank) r.draft.lora_rank = kUsualRank;
    return;
  }
  r.draft.lora_rank.reset();
  r.draft.lora_modules.reset();
  if (type != nullptr) refuse_partial_training(r, *type);
}

/// MindSpeed-LLM and MindSpeed-MM train adapters if a script names their modules; their rank is 16
/// unless stated.
void read_target_adapters(ForeignReading& r) {
  constexpr i64 kUsualRank = 16;
  const YamlNode* const targets = find_path(r.root, "target-modules");
  if (targets == nullptr || targets->scalar == "true") {
    r.draft.lora_rank.reset();
    r.draft.lora_modules.reset();
    return;
  }
  if (!r.draft.lora_rank) r.draft.lora_rank = kUsualRank;
  if (is_on(r, "qlora")) r.draft.base_dtype = plan::BaseDtype::nf4;
}

/// Returns whether a script writes the config of DeepSpeed that it passes, as from a template:
/// "sed ... > $CONFIG" and "--deepspeed_config $CONFIG".
bool writes_deepspeed_file(std::string_view text) {
  constexpr int kMaxTries = 8;
  constexpr std::size_t kLongest = 200;
  int tries = 0;
  for (const std::string_view option : {"deepspeed_config", "deepspeed-config"})
    for (std::size_t at = text.find(option); at != std::string_view::npos && tries < kMaxTries;
         at = text.find(option, at + 1), ++tries) {
      std::string_view word = text.substr(at + option.size(), kLongest);
      word.remove_prefix(std::min(word.find_first_not_of(" =\""), word.size()));
      word = word.substr(0, word.find_first_of(" \t\r\n\"\\"));
      if (word.empty()) continue;
      for (const std::string_view redirect : {">", "> "})
        if (text.find(fmt::format("{}{}", redirect, word)) != std::string_view::npos) return true;
    }
  return false;
}

/// Reports that the config of DeepSpeed is not read, and marks the stage as open: it may also
/// offload states.
void assume_deepspeed_file(ForeignReading& r, const YamlNode& named, PlanFile& plan) {
  constexpr std::size_t kLongest = 200;
  const std::string file = make_excerpt(named.scalar, kLongest);
  const bool written = writes_deepspeed_file(plan.text);
  const char* const hint = written ? "" : "put the file beside the script";
  plan.open.push_back({"parallelism.zero_stage",
                       fmt::format("ZeRO-{} without {}", r.draft.zero.value_or(0), file), hint});
  r.fields.report(
      named, make_assumption(fmt::format("the settings in {}, which the script {}", file,
                                         written ? "writes from another file: they are not read"
                                                 : "names: the file cannot be read"),
                             hint));
}

/// The config of DeepSpeed overrides the flags. Without one beside the script, the script may write
/// it: its stage is a number in the text.
void read_deepspeed_file(ForeignReading& r, PlanFile& plan) {
  Draft& d = r.draft;
  d.target = rules::Target::deepspeed;
  plan.spell = spell_megatron_deepspeed;
  // Its tensor and pipeline parallelism are Megatron-LM's, not DeepSpeed's.
  for (const char* const code : {"RW0549", "RW0550", "RW0553"}) plan.answered.emplace_back(code);
  d.framework = find_software("megatron-deepspeed");
  if (is_on(r, "no-pipeline-parallel")) d.pp = 1;
  if (find_path(r.root, "ds-sequence-parallel-size") != nullptr && d.cp > 1)
    d.cp_comm = plan::CpComm::a2a;
  const YamlNode* const named = find_path(r.root, "deepspeed-config");
  if (named == nullptr && plan.text.find("deepspeed_config") == std::string::npos) return;
  const std::string file = named == nullptr ? std::string() : named->scalar;
  const Result<std::string> text = named == nullptr ? Result<std::string>(refuse_file(file))
                                                    : read_named_file(r.files, plan.name, file);
  const Result<YamlNode> root =
      text ? read_commented_json_tree(*text, file) : Result<YamlNode>(fail(text.error()));
  std::string accumulated;
  if (root) {
    const YamlNode* const stage = find_path(*root, "zero_optimization.stage");
    const Result<i64> n = parse_count(stage == nullptr ? "" : stage->scalar, 0);
    if (n && *n <= 3) d.zero = int(*n);
    if (const YamlNode* const device =
            find_path(*root, "zero_optimization.offload_optimizer.device");
        device != nullptr && !is_off(*device) && device->scalar != "none")
      d.offload_optimizer = 1;
    if (is_on_at(*root, "zero_optimization.cpu_offload")) d.offload_optimizer = 1;
    if (const YamlNode* const format = find_path(*root, "data_types.grad_accum_dtype"))
      accumulated = format->scalar;
  }
  // ZeRO accumulates gradients in the model's format (deepspeed/runtime/engine.py, get_data_types).
  if (d.zero > 0 && d.param_dtype == plan::Dtype::bf16 && accumulated != "fp32" &&
      (root || find_path(r.root, "zero-stage") != nullptr))
    d.grad_dtype = plan::Dtype::bf16;
  if (root) return;
  if (find_path(r.root, "zero-stage") == nullptr) d.zero = 0;
  const std::size_t part = plan.text.find("\"zero_optimization\"");
  if (named != nullptr && part == std::string::npos) assume_deepspeed_file(r, *named, plan);
  const std::size_t stage = plan.text.find("\"stage\"", part);
  if (part == std::string::npos || stage == std::string::npos) return;
  const std::size_t digit = plan.text.find_first_not_of(" :\t", stage + 7);
  if (digit != std::string::npos && plan.text[digit] >= '0' && plan.text[digit] <= '3')
    d.zero = plan.text[digit] - '0';
}

/// slime's FSDP backend shards a model of transformers over all ranks, in bf16 with fp32 copies.
void read_fsdp_backend(ForeignReading& r, PlanFile& plan) {
  Draft& d = r.draft;
  d.tp = d.pp = 1;
  d.ep = d.etp = std::nullopt;
  d.virtual_stages.reset();
  d.zero = 3;
  d.param_dtype = plan::Dtype::bf16;
  d.grad_dtype = plan::Dtype::fp32;
  d.sequence_parallel = false;
  d.recompute = is_on(r, "gradient-checkpointing") ? plan::Recompute::full : plan::Recompute::none;
  if (const YamlNode* const offload = find_path(r.root, "fsdp-cpu-offload"))
    read_offload_all(r, *offload);
  d.loss = plan::Loss::log_probs;
  d.target = rules::Target::accelerate;
  d.framework = find_software(rules::Target::accelerate);
  plan.answered.emplace_back("RW0586");  // it splits sequences itself
}

}  // namespace

const MegatronFork* find_megatron_fork(std::string_view file, std::string_view text,
                                       const ScriptFlags& flags) {
  const bool deepspeed = std::any_of(std::begin(kDeepspeedNames), std::end(kDeepspeedNames),
                                     [&](const char* name) { return has_flag(flags, name); });
  for (const MegatronFork& fork : kForks) {
    if (fork.yaml != is_yaml_file(file) || (fork.deepspeed && !deepspeed)) continue;
    if (!fork.unless.empty() && text.find(fork.unless) != std::string_view::npos) continue;
    if (std::any_of(fork.marks.begin(), fork.marks.end(), [&](std::string_view mark) {
          return text.find(mark) != std::string_view::npos;
        }))
      return &fork;
  }
  return nullptr;
}

/// slime trains on whole responses, also on those that are longer than --seq-length.
void lengthen_to_responses(ScriptFlags& flags) {
  constexpr const char* kResponse = "rollout-max-response-len";
  const std::optional<i64> stated = find_number(flags, "seq-length");
  const std::optional<i64> response = find_number(flags, kResponse);
  if (stated && response && *response > *stated)
    set_number(flags, kResponse, "seq-length", std::to_string(*response));
}

void apply_fork(const MegatronFork& fork, ScriptFlags& flags) {
  if (fork.packs) lengthen_to_responses(flags);
  for (const ForkFlag& one : fork.renamed) {
    for (ScriptFlags::Unknown& unknown : flags.unknown)
      if (unknown.flag == one.fork && !has_flag(flags, one.flag)) {
        unknown.stated = unknown.flag;
        unknown.flag = one.flag;
      }
    const YamlNode* const value = flags.map.find(one.fork);
    if (value == nullptr || (has_flag(flags, one.flag) && !one.overrides)) continue;
    YamlEntry entry{*value, *value};
    std::erase_if(flags.map.entries,
                  [&](const YamlEntry& old) { return old.key.scalar == one.flag; });
    entry.key.scalar = one.flag;
    flags.map.entries.push_back(std::move(entry));
  }
  for (const ForkDefault& one : fork.defaults) {
    const bool fp16 = one.flag == "bf16" && has_flag(flags, "fp16");
    if (fp16 || has_flag(flags, one.flag) ||
        std::find(flags.off.begin(), flags.off.end(), one.flag) != flags.off.end())
      continue;
    YamlEntry entry{flags.map, flags.map};
    for (YamlNode* const node : {&entry.key, &entry.value}) {
      node->kind = YamlNode::Kind::scalar;
      node->entries.clear();
    }
    entry.key.scalar = one.flag;
    entry.value.scalar = one.value;
    flags.map.entries.push_back(std::move(entry));
  }
  set_pai_vocabulary(flags);
  if (fork.responses) set_rollout_batch(flags);
  if (fork.deepspeed) set_expert_defaults(flags);
  if (fork.deepspeed) set_llama_layers(flags);
  if (const YamlNode* const glu = flags.map.find("glu-activation");
      fork.deepspeed && glu != nullptr && glu->scalar != "none")  // BigScience's
    set_number(flags, "glu-activation", "swiglu", "true");
  constexpr std::string_view kGated[] = {"swiglu", "geglu", "reglu"};
  if (const YamlNode* const activation = flags.map.find("activation");
      fork.deepspeed && activation != nullptr &&
      std::find(std::begin(kGated), std::end(kGated), activation->scalar) != std::end(kGated))
    set_number(flags, "activation", "swiglu", "true");
  if (fork.deepspeed && flags.map.find("kv-lora-rank") != nullptr)
    set_number(flags, "kv-lora-rank", "multi-latent-attention", "true");
  if (fork.counts_layers) set_counted_layers(flags);
}

void add_model_file(ScriptFlags& flags, const std::string& file, const FileReader& files) {
  const YamlNode* const named = flags.map.find("mm-model");
  if (named == nullptr) return;
  const YamlNode place = *named;
  const Result<std::string> text = read_named_file(files, file, place.scalar);
  const Result<YamlNode> root =
      text ? read_commented_json_tree(*text, place.scalar) : Result<YamlNode>(fail(text.error()));
  const YamlNode* const decoder = root ? find_path(*root, "text_decoder") : nullptr;
  if (decoder == nullptr) return flags.unread.push_back(place.scalar);
  for (const ModelFileKey& row : kModelFileKeys) {
    const YamlNode* const value = decoder->find(row.key);
    if (value == nullptr || value->kind != YamlNode::Kind::scalar || has_flag(flags, row.flag))
      continue;
    if (!row.value.empty() && value->scalar != row.value) continue;
    YamlEntry entry{place, place};
    entry.key.scalar = row.flag;
    entry.value.scalar = row.renamed.empty() ? value->scalar : std::string(row.renamed);
    flags.map.entries.push_back(std::move(entry));
  }
}

void finish_fork(const MegatronFork& fork, ForeignReading& r, PlanFile& plan) {
  read_fork_model(r);
  if (const YamlNode* const model = find_path(r.root, "mm-model"))
    report_left_out(r, *model, "mm-model: only its language model is estimated, on even stages");
  forget_read_flags(fork, plan.ignored_keys);
  if (fork.adapters) read_swift_adapters(r);
  if (fork.adapts_targets) read_target_adapters(r);
  read_fork_method(fork, r);
  if (const YamlNode* const backend = find_path(r.root, "train-backend");
      fork.packs && backend != nullptr && backend->scalar == "fsdp")
    read_fsdp_backend(r, plan);
  // The model files of Primus have it on; Megatron-LM turns it off without tensor parallelism.
  if (fork.yaml && r.draft.tp.value_or(1) == 1) r.draft.sequence_parallel = false;
  if (fork.deepspeed) read_deepspeed_file(r, plan);
  // The optimizer of bf16 without ZeRO shards its states over the data ranks
  // (deepspeed/runtime/bf16_optimizer.py).
  if (fork.responses) pad_sequence(r.draft);
  if (fork.deepspeed && r.draft.zero == 0 && r.draft.param_dtype == plan::Dtype::bf16)
    r.draft.zero = 1;
  const YamlNode* const packed = find_path(r.root, "use-dynamic-batch-size");
  if (!fork.packs || packed == nullptr || !is_on(r, "use-dynamic-batch-size")) return;
  if (const std::optional<i64> tokens = read_whole_at(r, "max-tokens-per-gpu", 1, kMaxSequence))
    fill_packed_micro_batch(r, *tokens * r.draft.cp.value_or(1), *packed, plan);
}

std::string spell_megatron_deepspeed(const Edit& edit) {
  if (edit.key == "parallelism.zero_stage") return "--zero-stage " + edit.value;
  if (edit.key == "parallelism.recompute" && edit.value == "full")
    return "--checkpoint-activations";
  if (edit.key == "parallelism.cp_size") return "--ds-sequence-parallel-size " + edit.value;
  return spell_megatron(edit);
}

}  // namespace rankwright::importer
