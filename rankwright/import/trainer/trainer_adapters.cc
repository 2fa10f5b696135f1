// Adapters, frozen weights in fewer bits and frozen layers of fine-tuning tools.
#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/import/plan/plan_format.h"
#include "rankwright/import/trainer/trainer_parts.h"

namespace rankwright::importer {
namespace {

/// The keys that turn on adapters.
constexpr const char* kAdapterKeys[] = {"finetuning_type",
                                        "adapter",
                                        "use_peft",
                                        "train_type",
                                        "tuner_type",
                                        "sft_type",
                                        "use_lora",
                                        "lora_enable",
                                        "qlora",
                                        "q_lora",
                                        "lora",
                                        "use_peft_lora",
                                        "peft_enabled",
                                        "enable_peft",
                                        "is_lora",
                                        "lora_enabled",
                                        "enable_lora",
                                        "qlora_enabled",
                                        "use_qlora",
                                        "low_rank_training",
                                        "only_optimize_lora"};

/// Switches of programs whose ranks and modules are in their code.
constexpr const char* kOwnSwitches[] = {
    "use_lora",     "lora",          "q_lora",           "qlora",         "use_qlora",
    "lora_enabled", "qlora_enabled", "enable_lora",      "use_peft_lora", "peft_enabled",
    "enable_peft",  "is_lora",       "low_rank_training"};

/// Keys of tools that adapt all linear layers unless told otherwise.
constexpr const char* kAllLinearKeys[] = {"finetuning_type", "train_type",  "tuner_type",
                                          "sft_type",        "lora_enable", "only_optimize_lora"};

/// Ranks and modules if a file names none: PEFT's, and those of TRL's ModelConfig.
constexpr i64 kDefaultRank = 8;
constexpr i64 kTrlRank = 16;
constexpr plan::LoraModules kAttentionLayers{true, true, true, true, false, false, false};
constexpr plan::LoraModules kQueryAndValue{true, false, true, false, false, false, false};

/// LLaMA-Factory's method that trains some layers and nothing else.
constexpr std::string_view kFreeze = "freeze";

/// Parts of the model that are trained beside adapters.
constexpr const char* kBesideAdapterKeys[] = {"additional_target", "lora_modules_to_save",
                                              "modules_to_save", "resize_vocab"};

/// Adapters that PEFT, LLaMA-Factory or ms-swift have beside LoRA.
constexpr std::string_view kOtherAdapters[] = {
    "oft",  "boft", "adalora", "longlora", "llamapro", "adapter", "vera",   "fourierft",
    "reft", "bone", "ia3",     "lokr",     "loha",     "prompt",  "prefix", "ptuning"};

/// The formats of frozen weights that names of checkpoints state.
struct QuantizedNameRow {
  std::string_view word;
  plan::BaseDtype dtype;
  bool exact;  // the estimate has as many bits
};
constexpr QuantizedNameRow kQuantizedNames[] = {
    {"w4a16", plan::BaseDtype::nf4, true}, {"w8a16", plan::BaseDtype::int8, true},
    {"w8a8", plan::BaseDtype::int8, true}, {"aqlm", plan::BaseDtype::nf4, false},
    {"2bit", plan::BaseDtype::nf4, false}, {"int8", plan::BaseDtype::int8, true},
    {"8bit", plan::BaseDtype::int8, true}, {"gptq", plan::BaseDtype::nf4, true},
    {"awq", plan::BaseDtype::nf4, true},   {"int4", plan::BaseDtype::nf4, true},
    {"4bit", plan::BaseDtype::nf4, true},  {"bnb-4", plan::BaseDtype::nf4, true},
};

/// Returns the format that the name of a checkpoint states; nullptr if it states none.
const QuantizedNameRow* find_quantized_name(std::string_view path) {
  const std::string name = lower(path.substr(path.rfind('/') + 1));
  const auto found = std::find_if(
      std::begin(kQuantizedNames), std::end(kQuantizedNames),
      [&](const QuantizedNameRow& row) { return name.find(row.word) != std::string::npos; });
  return found == std::end(kQuantizedNames) ? nullptr : found;
}

/// The keys that name the model, which may be a quantized checkpoint.
constexpr const char* kModelKeys[] = {"model_name",
                                      "model_path",
                                      "model_id_or_path",
                                      "model_id",
                                      "model",
                                      "model_name_or_path",
                                      "base_model",
                                      "base_model_name_or_path",
                                      "pretrained_model_name_or_path"};

/// Reports a quantized checkpoint all of whose parameters are trained.
void report_quantized_training(ForeignReading& r) {
  for (const char* const key : kModelKeys)
    if (const YamlNode* const name = find_path(r.root, key);
        name != nullptr && find_quantized_name(name->scalar) != nullptr)
      return report_left_out(r, *name,
                             fmt::format("{}: the quantized weights are estimated in 16 bits, as "
                                         "no setting turns adapters on",
                                         key));
}

/// The keys that store frozen weights in fewer bits.
constexpr const char* kQuantizedKeys[] = {
    "quantization_bit",      "load_in_4bit", "load_in_8bit", "use_4bit_quantization",
    "use_8bit_quantization", "bits",         "quant_bits"};

template <std::size_t n>
bool has_any_on(const ForeignReading& r, const char* const (&keys)[n]) {
  return std::any_of(std::begin(keys), std::end(keys),
                     [&](const char* key) { return is_on_at(r.root, key); });
}

/// Returns whether a command trains adapters although no switch says so: weights in fewer bits
/// cannot be trained, and a command that states a rank and a scale means to use them.
bool implies_adapters(const ForeignReading& r, bool decided) {
  const bool rank = r.draft.lora_rank.has_value();
  const bool scaled = find_path(r.root, "lora_alpha") != nullptr;
  return !decided && !r.dashes.empty() && rank && (scaled || has_any_on(r, kQuantizedKeys));
}

/// Reports the rank and the modules that only the code of a program states.
void report_own_adapters(ForeignReading& r, bool stated_modules, PlanFile& plan) {
  constexpr const char* kRanks[] = {"lora_rank", "lora_r", "peft_lora_r"};
  if (has_any_key(r, kRanks) && stated_modules) return;
  const std::string assumed =
      fmt::format("adapters of rank {} on {}", *r.draft.lora_rank,
                  *r.draft.lora_modules == plan::LoraModules{} ? "all linear layers"
                                                               : show(*r.draft.lora_modules, ", "));
  constexpr const char* kHint = "set lora_rank and lora_modules in a plan file";
  plan.open.push_back({"job.lora_rank", assumed, kHint});
  r.fields.report(r.root, make_assumption(assumed, kHint));
}

}  // namespace

bool is_model_key(std::string_view key) {
  return std::find(std::begin(kModelKeys), std::end(kModelKeys), key) != std::end(kModelKeys);
}

bool is_swift(const ForeignReading& r) {
  constexpr const char* kKeys[] = {"train_type", "tuner_type", "sft_type", "rlhf_type"};
  return has_any_key(r, kKeys);
}

bool turns_adapters_on(const ForeignReading& r) {
  return std::any_of(std::begin(kAdapterKeys), std::end(kAdapterKeys), [&](const char* key) {
    const std::string_view word = read_word(r, key);
    return is_on_at(r.root, key) && word != "full" && word != kFreeze;
  });
}

std::string_view read_word(const ForeignReading& r, std::string_view path) {
  const YamlNode* const node = find_path(r.root, path);
  return node == nullptr ? std::string_view() : std::string_view(node->scalar);
}

void read_trainable(ForeignReading& r, const YamlNode& node) {
  if (node.scalar.find("_proj") != std::string::npos) read_lora_targets(r, node);
}

void read_adapter(ForeignReading& r, const YamlNode& node) {
  const std::string word = lower(node.scalar.substr(0, kLongestLabel));
  if (is_off(node) || word == "full" || word == kFreeze) return;
  if (word == "qlora") r.draft.base_dtype = plan::BaseDtype::nf4;
  if (word == "lora_llm")
    report_left_out(r, node, "only the adapters of the language model are estimated as trained");
  if (word == "lora" || word == "qlora" || word == "true" || word == "dora" || word == "lora_llm") {
    const bool trl = is_on_at(r.root, "use_peft");
    if (!r.draft.lora_rank) r.draft.lora_rank = trl ? kTrlRank : kDefaultRank;
    return;
  }
  if (std::find(std::begin(kOtherAdapters), std::end(kOtherAdapters), word) !=
      std::end(kOtherAdapters)) {
    if (!r.draft.lora_rank) r.draft.lora_rank = kDefaultRank;
    return report_left_out(
        r, node, fmt::format("{}: estimated with the adapters of LoRA", make_excerpt(node.scalar)));
  }
  if (find_path(r.root, "finetuning_type") == &node || find_path(r.root, "adapter") == &node)
    report_left_out(r, node, kAllTrained);
}

void read_llava_adapter(ForeignReading& r, const YamlNode& node) {
  constexpr i64 kUsualRank = 64;
  if (!is_off(node) && !r.draft.lora_rank) r.draft.lora_rank = kUsualRank;
  read_adapter(r, node);
}

void read_qlora(ForeignReading& r, const YamlNode& node) {
  if (is_off(node)) return;
  r.draft.base_dtype = plan::BaseDtype::nf4;
  read_adapter(r, node);
}

void read_quantization_bit(ForeignReading& r, const YamlNode& node) {
  if (node.scalar == "4") r.draft.base_dtype = plan::BaseDtype::nf4;
  if (node.scalar == "8") r.draft.base_dtype = plan::BaseDtype::int8;
}

void read_lora_linear(ForeignReading& r, const YamlNode& node) {
  if (!is_off(node)) r.draft.lora_modules = plan::LoraModules{};
}

void finish_adapter(ForeignReading& r, PlanFile& plan) {
  Draft& draft = r.draft;
  const bool decided = has_any_key(r, kAdapterKeys);
  const bool implied = implies_adapters(r, decided);
  const bool adapted = draft.lora_rank && (implied || turns_adapters_on(r));
  if (implied)
    r.fields.report(r.root,
                    make_assumption("adapters of the stated rank: the command states "
                                    "their scale or the bits of frozen weights, and no switch",
                                    ""));
  if (!adapted) {
    for (const char* const key : {"lora_r", "lora_rank"})
      if (const YamlNode* const rank = find_path(r.root, key); rank != nullptr && !decided)
        report_left_out(r, *rank, fmt::format("no setting turns adapters on: {}", kAllTrained));
    report_quantized_training(r);
    for (const char* const key : kQuantizedKeys)
      if (const YamlNode* const bits = find_path(r.root, key); bits != nullptr && draft.base_dtype)
        report_left_out(
            r, *bits,
            fmt::format("{}: the weights are estimated in 16 bits and as trained, as no "
                        "setting turns adapters on",
                        key));
    draft.lora_rank.reset();
    draft.lora_modules.reset();
    draft.base_dtype.reset();
    return;
  }
  // Programs of QLoRA adapt all linear layers, as its first one did.
  const bool own = !r.dashes.empty() && (implied || has_any_on(r, kOwnSwitches));
  const bool qlora = own && draft.base_dtype == plan::BaseDtype::nf4;
  const bool stated = draft.lora_modules.has_value();
  if (!stated)
    draft.lora_modules =
        qlora || has_any_key(r, kAllLinearKeys) ? plan::LoraModules{} : kQueryAndValue;
  // PEFT adapts modules: the experts of gpt-oss are bare parameters in transformers.
  const bool bare = draft.model && draft.model->name.starts_with("gpt-oss");
  if (bare && *draft.lora_modules == plan::LoraModules{}) draft.lora_modules = kAttentionLayers;
  draft.grad_dtype = plan::Dtype::fp32;
  if (own) report_own_adapters(r, stated, plan);
  for (const char* const key : kBesideAdapterKeys)
    if (const YamlNode* const beside = find_path(r.root, key); is_on_at(r.root, key))
      report_left_out(r, *beside,
                      fmt::format("{}: only the adapters are estimated as trained", key));
}

// LLaMA-Factory trains the last `freeze_trainable_layers`, or the first ones if the number is
// negative, and of the rest only `freeze_extra_modules`.
void finish_freeze(ForeignReading& r) {
  constexpr i64 kUsualLayers = 2;
  const YamlNode* const type = find_path(r.root, "finetuning_type");
  if (type == nullptr || type->scalar != kFreeze) return;
  if (!r.draft.model)
    return report_left_out(r, *type, "unknown layers of the model: all are estimated as trained");
  const i64 trained =
      read_whole_at(r, "freeze_trainable_layers", -model::kMaxLayers, model::kMaxLayers)
          .value_or(kUsualLayers);
  const i64 layers = r.draft.model->layers();
  const std::string_view extra = read_word(r, "freeze_extra_modules");
  const auto trains = [&](std::string_view module) {
    return extra.find(module) != std::string_view::npos;
  };
  const i64 count = std::min(layers, std::abs(trained));
  r.draft.frozen = {.embedding = !trains("embed_tokens"),
                    .first = trained > 0 ? 0 : count,
                    .end = trained > 0 ? layers - count : layers,
                    .head = !trains("lm_head")};
  if (const YamlNode* const modules = find_path(r.root, "freeze_trainable_modules");
      modules != nullptr && modules->scalar != "all")
    report_left_out(r, *modules, "the whole layer is estimated as trained");
}

void read_trainer_model(ForeignReading& r, const YamlNode& node) {
  if (node.kind != YamlNode::Kind::scalar) return;
  read_named_model(r, node);
  const QuantizedNameRow* const row = find_quantized_name(node.scalar);
  if (row == nullptr) return;
  if (!r.draft.base_dtype) r.draft.base_dtype = row->dtype;
  if (!row->exact) report_left_out(r, node, "frozen weights are estimated with 4 bits");
}

void read_model_name(ForeignReading& r, const YamlNode& node) {
  for (const char* const key : {"train_type", "tuner_type", "sft_type"})
    if (find_path(r.root, key) != nullptr) return;
  read_trainer_model(r, node);
}

}  // namespace rankwright::importer
