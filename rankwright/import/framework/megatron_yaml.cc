// Reads Megatron-LM's arguments from YAML: files of flags, Megatron-LM's own variables, and the
// recipes of NeMo (1.x) and Megatron-Bridge, which have other names for some of them.
#include <algorithm>
#include <array>

#include "rankwright/import/framework/foreign.h"
#include "rankwright/import/script/script_flags.h"

namespace rankwright::importer {
namespace {

/// A key of a recipe: if it has one of these values, a flag is set.
struct RecipeKey {
  std::string_view key;    // with dashes
  std::string_view value;  // empty: any, and the flag has the same value
  std::string_view flag;
  std::string_view set{};  // value of the flag if `value` is given
  bool usual = false;      // a default: any stated value of the flag counts more
};

// To read another key of a recipe, add a row.
constexpr RecipeKey kRecipeKeys[] = {
    {"encoder-seq-length", "", "seq-length"},
    {"sequence-length", "", "seq-length"},
    {"num-nodes", "", "nodes"},
    {"num-microbatches-per-virtual-pipe", "",
     "microbatch-group-size-per-virtual-pipeline-stage"},  // of a fork of NeMo's launcher
    {"devices", "", "gpus-per-node"},
    {"num-gpus-per-node", "", "gpus-per-node"},
    {"activations-checkpoint-granularity", "", "recompute-granularity"},
    {"activations-checkpoint-method", "", "recompute-method"},
    {"activations-checkpoint-num-layers", "", "recompute-num-layers"},
    {"ub-tp-comm-overlap", "true", "tp-comm-overlap", "true"},
    {"overlap-grad-sync", "true", "overlap-grad-reduce", "true"},
    {"overlap-param-sync", "true", "overlap-param-gather", "true"},
    {"overlap-p2p-comm", "false", "no-overlap-p2p-communication", "true"},
    {"bias", "false", "disable-bias-linear", "true"},
    {"add-bias-linear", "false", "disable-bias-linear", "true"},
    {"share-embeddings-and-output-weights", "false", "untie-embeddings-and-output-weights", "true"},
    {"activation", "swiglu", "swiglu", "true"},
    {"activation", "fast-swiglu", "swiglu", "true"},
    {"activation", "geglu", "quick-geglu", "true"},
    {"activation", "fast-geglu", "quick-geglu", "true"},
    {"activation", "reglu", "quick-geglu", "true"},  // as wide, with another function
    {"activation", "fast-reglu", "quick-geglu", "true"},
    {"activation", "squared-relu", "squared-relu", "true"},
    {"gated-linear-unit", "true", "swiglu", "true"},
    {"normalization", "rmsnorm", "normalization", "RMSNorm"},
    {"normalization", "layernorm", "normalization", "LayerNorm"},
    {"normalization", "layernorm1p", "normalization", "LayerNorm"},
    {"name", "distributed_fused_adam", "use-distributed-optimizer", "true"},
    {"name", "mcore_distributed_optim", "use-distributed-optimizer", "true"},
    {"nproc-per-node", "", "gpus-per-node"},
    {"nnodes", "", "nodes"},
    {"precision", "32", "fp32", "true"},
    {"precision", "32-true", "fp32", "true"},
    {"precision", "bf16", "bf16", "true"},
    {"precision", "bf16-mixed", "bf16", "true"},
    {"precision", "16", "fp16", "true"},
    {"precision", "16-mixed", "fp16", "true"},
    {"fp8", "true", "fp8-format", "hybrid"},
    {"fp8", "hybrid", "fp8-format", "hybrid"},
    {"fp8", "e4m3", "fp8-format", "e4m3"},
    {"grad-sync-dtype", "bf16", "grad-reduce-in-bf16", "true"},
    {"gpus", "", "gpus-per-node"},
    {"max-seq-length", "", "seq-length"},
    {"cutoff-len", "", "seq-length"},  // LLaMA-Factory, which trains with Megatron-LM too
    {"per-device-train-batch-size", "", "micro-batch-size"},
    // Defaults of NeMo (tuning/conf/megatron_gpt_finetuning_config.yaml).
    {"peft-scheme", "lora", "lora-rank", "32", true},
    {"peft-scheme", "qlora", "lora-rank", "32", true},
    {"peft-scheme", "lora", "target-modules", "attention_qkv", true},
    {"peft-scheme", "qlora", "target-modules", "attention_qkv", true},
    {"num-moe-experts", "", "num-experts"},
    {"fp8-params", "true", "fp8-param-gather", "true"},
    // neuronx-nemo-megatron has other names.
    {"num-kv-heads", "", "num-query-groups"},
    {"num-experts-per-tok", "", "moe-router-topk"},
    {"has-bias", "false", "disable-bias-linear", "true"},
    {"megatron-amp-O2", "false", "no-megatron-amp-O2", "true"},
    // NeMo's layers are then Transformer Engine's, which choose fused attention themselves.
    {"transformer-engine", "true", "transformer-impl", "transformer_engine"},
    {"mcore-gpt", "true", "transformer-impl", "transformer_engine"},
    {"use-flash-attention", "true", "use-flash-attn", "true"},
};

/// A part of the name of a format of Megatron-Bridge ("bf16_with_mxfp8_mixed"), and the flag that
/// it sets (megatron/bridge/training/mixed_precision.py).
struct PrecisionPart {
  std::string_view part, flag, value;
};
constexpr PrecisionPart kPrecisionParts[] = {
    {"bf16", "bf16", "true"},        {"fp16", "fp16", "true"},
    {"fp8", "fp8-format", "hybrid"}, {"mxfp8", "fp8-recipe", "mxfp8"},
    {"nvfp4", "fp4-format", "e2m1"},
};

/// Maps that describe something else than the training of the model.
constexpr std::string_view kOtherMaps[] = {
    "exp_manager",   "nsys_profile",    "tokenizer",     "hydra",           "checkpoint",
    "rollout",       "logger",          "profiling",     "test_ds",         "validation_ds",
    "critic_config", "critic_resource", "reward_config", "reward_resource", "reference_resource"};

class YamlFlagCollector {
 public:
  YamlFlagCollector(const ShellInput& input, bool (*is_read)(std::string_view), ScriptFlags& out)
      : input_(input), is_read_(is_read), out_(out) {}

  void visit(const YamlNode& node, int depth) {
    constexpr int kMaxDepth = 8;
    if (depth > kMaxDepth) return;
    for (const YamlEntry& entry : node.entries) {
      const std::string& key = entry.key.scalar;
      if (entry.value.kind == YamlNode::Kind::map) {
        if (key == "peft" || (key == "lora" && is_on_at(entry.value, "enabled")))
          add_adapters(entry.value);
        else if (key == "lora")  // of Primus, and off
          continue;
        else if (is_of_teacher(key))
          add_teacher(entry.key);
        else if (key == "tokenizer")
          add_tokenizer(entry.value);
        else if (key == "train_ds" && node.find("data_prefix") != nullptr)
          continue;  // NeMo's data for fine-tuning, beside that for pretraining
        else if (!is_other(key))
          visit(entry.value, depth + 1);
        if (key == "decoder" && node.find("encoder") != nullptr)
          if (const YamlNode* const layers = entry.value.find("num_layers"))
            put("decoder-num-layers", entry.key, *layers);
        continue;
      }
      if (is_other(key.substr(0, key.find('.')))) continue;
      if (is_of_teacher(key)) {
        add_teacher(entry.key);
        continue;
      }
      // NeMo's configs state the number of layers even if nothing is offloaded.
      if (key == "cpu_offloading_num_layers" && !is_on_at(node, "cpu_offloading")) continue;
      if (!key.starts_with("--")) out_.recipe = true;
      add(name_flag(key), entry.key, join_list(entry.value));
    }
  }

 private:
  static bool is_other(std::string_view key) {
    return std::find(std::begin(kOtherMaps), std::end(kOtherMaps), key) != std::end(kOtherMaps);
  }

  /// Returns whether a key is one of Megatron-Bridge's settings of distillation: those of a teacher
  /// are not those of the model that is trained.
  static bool is_of_teacher(std::string_view key) {
    constexpr std::string_view kMaps[] = {"teacher", "kd_config"};
    while (!key.empty()) {
      const std::string_view part = key.substr(0, key.find('.'));
      if (std::find(std::begin(kMaps), std::end(kMaps), part) != std::end(kMaps)) return true;
      key.remove_prefix(std::min(part.size() + 1, key.size()));
    }
    return false;
  }

  /// Records that there is a teacher, at the first key that is about it.
  void add_teacher(const YamlNode& key) {
    if (out_.map.find("teacher-model") != nullptr) return;
    YamlNode value = key;
    value.kind = YamlNode::Kind::scalar;
    put("teacher-model", key, std::move(value));
  }

  /// Reads the type of a tokenizer, which may determine the size of the vocabulary.
  void add_tokenizer(const YamlNode& tokenizer) {
    for (const char* const key : {"type", "tokenizer_type"})
      if (const YamlNode* const type = tokenizer.find(key))
        if (type->scalar.ends_with("Tokenizer")) put("tokenizer-type", *type, *type);
    for (const char* const key : {"vocab_size", "make_vocab_size_divisible_by"})
      if (const YamlNode* const rows = tokenizer.find(key)) put(name_flag(key), *rows, *rows);
  }

  /// Reads the adapters of Megatron-Bridge and NeMo.
  void add_adapters(const YamlNode& peft) {
    constexpr std::pair<std::string_view, std::string_view> kKeys[] = {
        {"dim", "lora-rank"},
        {"lora_tuning.adapter_dim", "lora-rank"},
        {"target_modules", "target-modules"},
        {"lora_tuning.target_modules", "target-modules"}};
    const YamlNode* const scheme = peft.find("peft_scheme");
    if (scheme != nullptr && (is_off(*scheme) || is_null(*scheme))) return;
    if (scheme != nullptr && scheme->scalar != "lora" && scheme->scalar != "qlora")
      return put("tuner-type", *scheme, *scheme);
    if (scheme != nullptr) add("peft-scheme", *scheme, *scheme);
    for (const auto& [key, flag] : kKeys)
      if (const YamlNode* const value = find_path(peft, key))
        put(std::string(flag), *value, join_list(*value));
  }

  /// Returns a list as its words, separated by blanks.
  static YamlNode join_list(const YamlNode& value) {
    YamlNode flat = value;
    if (value.kind != YamlNode::Kind::sequence) return flat;
    flat.kind = YamlNode::Kind::scalar;
    flat.items.clear();
    for (const YamlNode& item : value.items)
      flat.scalar += (flat.scalar.empty() ? "" : " ") + item.scalar;
    return flat;
  }

  void add(const std::string& name, const YamlNode& key, YamlNode value) {
    std::transform(value.scalar.begin(), value.scalar.end(), value.scalar.begin(), [&](char c) {
      const bool word = value.scalar == "True" || value.scalar == "False";
      return word && c >= 'A' && c <= 'Z' ? char(c + 'a' - 'A') : c;
    });
    bool renamed = false;
    for (const RecipeKey& row : kRecipeKeys) {
      if (row.key != name) continue;
      renamed = renamed || row.flag != name;
      if (row.value.empty()) put(std::string(row.flag), key, value);
      if (row.value.empty() || row.value != value.scalar) continue;
      renamed = true;
      if (row.usual && out_.map.find(row.flag) != nullptr) continue;
      YamlNode set = value;
      set.scalar = row.set;
      put(std::string(row.flag), key, std::move(set));
    }
    if (name == "mixed-precision") add_precision(key, value);
    if (!renamed && is_read_(name)) put(name, key, std::move(value));
    // Flags have a switch for grouped queries; recipes only have their number.
    if ((name == "num-query-groups" || name == "num-kv-heads") && !is_null(value) && out_.recipe) {
      YamlNode on = value;
      on.scalar = "true";
      put("group-query-attention", key, std::move(on));
    }
  }

  void add_precision(const YamlNode& key, const YamlNode& value) {
    for (const PrecisionPart& row : kPrecisionParts) {
      if (value.scalar.find(row.part) == std::string::npos) continue;
      YamlNode set = value;
      set.scalar = row.value;
      put(std::string(row.flag), key, std::move(set));
    }
  }

  void put(const std::string& flag, const YamlNode& key, YamlNode value) {
    constexpr std::size_t kMaxFlags = 1000;
    if (is_megatron_switch(flag) && value.scalar == "1") value.scalar = "true";
    if (is_megatron_switch(flag) && value.scalar == "0") value.scalar = "false";
    if (value.scalar == "false" && is_megatron_switch(flag)) out_.off.push_back(flag);
    if (value.kind != YamlNode::Kind::scalar || is_null(value) || value.scalar == "None" ||
        value.scalar == "false" || value.scalar == "~")
      return;
    if (flag == "gpus-per-node" && is_all_gpus(value.scalar)) return;
    if (const std::optional<std::string> variable = find_variable(value.scalar)) {
      const auto given = input_.variables.find(*variable);
      std::optional<std::string> text;
      if (given != input_.variables.end())
        text = given->second;
      else if (input_.environment)
        text = input_.environment(*variable);
      const std::string usual = find_default(value.scalar);
      if (!text && usual.empty()) {
        out_.unknown.push_back({flag, *variable, value});
        return;
      }
      if (text) out_.used.insert(*variable);
      value.scalar = text ? *text : usual;
      if (is_off(value)) return;
      if (!text) out_.defaults.push_back({flag, *variable, value});
    }
    YamlNode named = key;
    named.scalar = flag;
    std::erase_if(out_.map.entries,
                  [&](const YamlEntry& entry) { return entry.key.scalar == flag; });
    if (out_.map.entries.size() < kMaxFlags)
      out_.map.entries.push_back({std::move(named), std::move(value)});
  }

  /// Returns whether the number of a node's GPUs is that of the node, which Lightning writes so.
  static bool is_all_gpus(std::string_view text) { return text == "-1" || text == "auto"; }

  /// Returns "TP" for "$TP", "${TP}", "${oc.env:TP}" and "<<<TP>>>"; nothing if the text is a
  /// value.
  static std::optional<std::string> find_variable(const std::string& text) {
    if (text.starts_with("<") && text.ends_with(">")) {
      std::string name = text;
      std::erase_if(name, [](char c) { return c == '<' || c == '>'; });
      return name.empty() ? "a reference" : name;
    }
    const std::size_t dollar = text.find('$');
    if (dollar == std::string::npos) return std::nullopt;
    std::string name = text.substr(dollar + 1);
    if (name.starts_with("{")) name = name.substr(1, name.find('}') - 1);
    if (name.starts_with("oc.env:")) name = name.substr(7);
    name = name.substr(0, name.find_first_of(":,"));
    return name.empty() ? "a reference" : name;
  }

  /// Returns "8" for "${PRIMUS_TP:8}" and "${oc.env:TP,8}", and "a.yaml" for "${MODEL:a}.yaml";
  /// empty if there is no default.
  static std::string find_default(std::string text) {
    if (text.starts_with("${oc.env:")) text = "${" + text.substr(9);
    const std::size_t mark = text.find_first_of(":,");
    const std::size_t close = text.rfind('}');
    if (!text.starts_with("${") || mark == std::string::npos || close == std::string::npos ||
        close < mark)
      return {};
    std::string value = text.substr(mark + 1, close - mark - 1) + text.substr(close + 1);
    while (value.starts_with('-') || value.starts_with(' ')) value.erase(0, 1);
    return value.find('$') == std::string::npos ? value : std::string();
  }

  const ShellInput& input_;
  bool (*is_read_)(std::string_view);
  ScriptFlags& out_;
};

}  // namespace

std::string name_flag(std::string_view key) {
  std::string text(key.substr(key.rfind('.') + 1));
  while (text.starts_with('-')) text.erase(0, 1);
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

ScriptFlags read_megatron_yaml(const YamlNode& root, const ShellInput& input,
                               bool (*is_read)(std::string_view)) {
  ScriptFlags flags;
  flags.map.kind = YamlNode::Kind::map;
  flags.map.line = root.line;
  flags.map.column = root.column;
  YamlFlagCollector(input, is_read, flags).visit(root, 0);
  return flags;
}

}  // namespace rankwright::importer
