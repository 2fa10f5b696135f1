// Settings that only the code of a training program states: its adapters, the arguments of its
// trainer, the defaults of its options, the format that it loads the weights in, and further
// models.
#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/base/quantity.h"
#include "rankwright/base/trim.h"
#include "rankwright/import/framework/unknown_keys.h"
#include "rankwright/import/plan/hub_model.h"
#include "rankwright/import/recipe/trainer_parts.h"
#include "rankwright/import/recipe/trainer_program.h"
#include "rankwright/import/syntax/python_calls.h"
#include "rankwright/import/syntax/python_text.h"
#include "rankwright/import/syntax/shell_evaluator.h"

namespace rankwright::importer {
namespace {

/// Flags that decide whether a program trains adapters, whatever its code has.
constexpr std::string_view kAdapterFlags[] = {"lora", "peft", "adapter", "finetuning_type",
                                              "train_type"};

/// The classes of arguments that programs construct, and the methods of TRL's.
struct ArgumentsClass {
  std::string_view name, method{};
};
constexpr ArgumentsClass kArgumentsClasses[] = {
    {"GRPOConfig", "grpo"},       {"DPOConfig", "dpo"},  {"ORPOConfig", "orpo"},
    {"GKDConfig", "gkd"},         {"GOLDConfig", "gkd"}, {"SFTConfig"},
    {"Seq2SeqTrainingArguments"}, {"TrainingArguments"}};

/// TRL's trainers. Their arguments name the model, and state lengths in older versions.
constexpr std::string_view kTrainers[] = {"GRPOTrainer", "SFTTrainer", "DPOTrainer", "ORPOTrainer"};
constexpr std::string_view kLengthKeys[] = {"max_seq_length", "max_length", "max_seq_len",
                                            "max_completion_length"};
constexpr std::string_view kOtherLengths[] = {
    "cutoff_len", "model_max_length",  "block_size",        "source_max_len",
    "seq_length", "max_source_length", "max_target_length", "context_length",
    "max_len",    "seq_len",           "max_prompt_length"};
constexpr std::string_view kTrainerArguments[] = {"max_length", "max_seq_length",
                                                  "max_prompt_length"};

/// Keys that a switch turns on: they count only if it is on.
constexpr std::string_view kAdapterParts[] = {"job.lora_rank", "job.lora_modules",
                                              "job.base_dtype"};
constexpr std::string_view kTargetKeys[] = {"lora_target_modules", "lora_target",
                                            "target_modules",      "peft_target_modules",
                                            "lora_target_linear",  "trainable"};

/// Parts of the names of variables that hold arguments, and keys that only these have.
constexpr std::string_view kCollections[] = {"kwargs", "_args", "config"};
constexpr std::string_view kArgumentKeys[] = {
    "per_device_train_batch_size", "gradient_accumulation_steps", "gradient_checkpointing"};

/// Names of variables that hold further models.
constexpr std::string_view kFurtherModels[] = {"teacher", "reward", "critic", "draft",
                                               "judge",   "old_",   "model2", "model_2"};

/// Returns the first class of arguments that a program constructs; nullptr if there is none.
const ArgumentsClass* find_arguments_class(std::string_view code) {
  for (const ArgumentsClass& row : kArgumentsClasses)
    if (const std::string_view call = find_python_call(code, row.name);
        trim(call).starts_with("**") || !list_named_arguments(call).empty())
      return &row;
  return nullptr;
}

/// The settings that the code decides, and where they are reported.
class CodeSettings {
 public:
  CodeSettings(ScriptFlags& flags, const TrainerProgram& program, PlanFile& plan)
      : flags_(flags),
        program_(program),
        plan_(plan),
        statements_(split_statements(program.code())) {}

  /// Drops a switch for Liger's kernels that the program has of its own and never applies.
  void drop_unused_kernels() {
    constexpr std::string_view kSwitch = "use_liger";
    constexpr std::string_view kCalls[] = {"apply_liger", "AutoLiger", "use_liger_kernel"};
    if (flags_.map.find(kSwitch) == nullptr || !program_.defaults().contains(kSwitch) ||
        calls_any(kCalls))
      return;
    for (YamlEntry& entry : flags_.map.entries)
      if (entry.key.scalar == kSwitch) entry.value.scalar = "false";
    assume(fmt::format("no Liger kernels: {} defines the switch and never applies them",
                       make_path_excerpt(program_.name())));
  }

  /// Adds the adapters of the code, or what no flag states about them.
  void add_adapters() {
    const bool decided = std::any_of(
        flags_.map.entries.begin(), flags_.map.entries.end(),
        [](const YamlEntry& entry) { return has_part(entry.key.scalar, kAdapterFlags); });
    if ((!decided || !turns_adapters_on()) && !applies_adapters()) return;
    const auto [name, arguments] = find_adapters();
    if (name.empty() && program_.code().find("is_trainable=True") != std::string::npos)
      return continue_adapters();
    const std::optional<std::string> rank = program_.resolve(flags_, find_argument(arguments, "r"));
    if (!rank || !parse_count(*rank, 1)) return;
    // PEFT adapts queries and values of most models unless told otherwise.
    const std::string_view stated_targets = find_argument(arguments, "target_modules");
    const std::optional<std::string> option =
        is_dotted_name(stated_targets) ? program_.resolve(flags_, stated_targets) : std::nullopt;
    const std::string_view targets = option ? std::string_view(*option) : stated_targets;
    const std::string modules = targets.empty() && name == "LoraConfig" ? "q_proj,v_proj"
                                : option                                ? *option
                                                                        : read_names(targets);
    const bool adds_rank = !states_any(flags_, kRankKeys);
    const bool adds_modules = !modules.empty() && !states_any(flags_, kTargetKeys);
    if (!decided || !turns_adapters_on()) add_key(flags_, "use_lora", "true");
    if (adds_rank) add_key(flags_, "lora_r", *rank);
    if (adds_modules) add_key(flags_, "lora_target_modules", modules);
    for (const char* const bits : {"load_in_4bit", "load_in_8bit"})
      if (!decided && !has_key(flags_, bits) && loads_in(bits)) add_key(flags_, bits, "true");
    if (adds_rank || adds_modules)
      assume(fmt::format("adapters{}{}, as {} in {} has them",
                         adds_rank ? " of rank " + make_excerpt(*rank) : "",
                         adds_modules ? " on " + make_excerpt(modules) : "", name,
                         make_path_excerpt(program_.name())));
  }

  /// Adds the arguments that the code gives to the trainer, where no flag states them.
  void add_arguments() {
    std::vector<std::string> added;
    if (const std::string_view kbit =
            find_python_call(program_.code(), "prepare_model_for_kbit_training");
        !kbit.empty() &&
        find_argument(list_named_arguments(kbit), "use_gradient_checkpointing") != "False")
      add_resolved("gradient_checkpointing", "True", added);  // PEFT turns it on
    constexpr std::string_view kUnsloth[] = {"FastLanguageModel.get_peft_model",
                                             "FastVisionModel.get_peft_model",
                                             "FastModel.get_peft_model"};
    if (const std::string_view adapters = find_python_call(program_.code(), "get_peft_model");
        !adapters.empty() && calls_any(kUnsloth)) {  // which recomputes unless told otherwise
      const std::string_view recomputes =
          find_argument(list_named_arguments(adapters), "use_gradient_checkpointing");
      add_resolved("gradient_checkpointing", recomputes == "False" ? "False" : "True", added);
    }
    constexpr std::string_view kEnable = ".gradient_checkpointing_enable(";
    for (std::size_t i = 0; i < statements_.size(); ++i)
      if (statements_[i].text.find(kEnable) != std::string_view::npos && !is_conditional(i))
        add_resolved("gradient_checkpointing", "True", added);
    add_assigned(added);
    for (const std::string_view trainer : kTrainers) {
      const std::vector<PythonArgument> lengths =
          list_named_arguments(find_python_call(program_.code(), trainer));
      for (const std::string_view key : kTrainerArguments)
        add_resolved(key, find_argument(lengths, key), added);
    }
    if (const ArgumentsClass* const row = find_arguments_class(program_.code())) {
      const std::vector<PythonArgument> arguments =
          list_named_arguments(find_python_call(program_.code(), row->name));
      for (const ForeignKey& known : fine_tuning_keys())
        add_resolved(known.path, find_argument(arguments, known.path), added);
      add_collected(find_python_call(program_.code(), row->name), added);
    }
    add_method();
    add_tokenized_length(added);
    constexpr std::string_view kTuners[] = {"SFTTrainer", "SFTConfig"};
    if (calls_any(kTuners) && !has_key(flags_, kTrlMark)) add_key(flags_, kTrlMark, "true");
    report(added, fmt::format("as {} has them", make_path_excerpt(program_.name())));
  }

  /// Adds the defaults of the program's options, where no flag decides the same.
  void add_defaults() {
    const std::vector<std::string_view> stated = list_stated();
    const bool adapters = turns_adapters_on();
    std::vector<std::string> added;
    std::set<std::string_view> decided(stated.begin(), stated.end());
    for (const ForeignKey& known : fine_tuning_keys()) {
      const auto found = program_.defaults().find(known.path);
      if (found == program_.defaults().end() || has_key(flags_, known.path)) continue;
      if (is_abbreviated(known.path)) continue;
      const bool of_adapters = std::find(std::begin(kAdapterParts), std::end(kAdapterParts),
                                         known.plan_key) != std::end(kAdapterParts);
      if (of_adapters ? !adapters
                      : !known.plan_key.empty() && !decided.insert(known.plan_key).second)
        continue;
      if (known.path == "lora_r" && states_any(flags_, kRankKeys)) continue;
      add_key(flags_, known.path, found->second);
      added.push_back(fmt::format("{} {}", known.path, make_excerpt(found->second)));
    }
    report(added, fmt::format("the defaults of {}", make_path_excerpt(program_.name())));
  }

  /// Adds the model that the program loads, and the format of its weights, if no flag states them.
  void add_loaded_model() {
    constexpr std::string_view kLoads = ".from_pretrained(";
    const std::string_view code = program_.code();
    std::set<std::string> formats;
    std::vector<std::string> further, lengths;
    std::optional<std::string> model;
    bool loads = false;    // there is such a call
    bool open = false;     // a format is not known
    bool unstated = true;  // no format is stated
    for (const PythonStatement& statement : statements_) {
      const std::size_t at = statement.text.find(kLoads);
      if (at == std::string_view::npos || !loads_language_model(statement.text.substr(0, at)))
        continue;
      loads = true;
      const std::string_view call = statement.text.substr(at + kLoads.size());
      const std::vector<PythonArgument> arguments = list_named_arguments(call);
      const std::string_view variable = parse_argument(statement.text).name;
      if (has_part(lower(variable), kFurtherModels)) {
        further.emplace_back(variable);
        continue;
      }
      std::string_view format = find_argument(arguments, "torch_dtype");
      if (format.empty()) {
        format = find_argument(arguments, "dtype");
        if (!format.empty() && !has_key(flags_, kNewMark)) add_key(flags_, kNewMark, "true");
      }
      unstated = unstated && format.empty() && call.find("quantization_config") == call.npos &&
                 call.find("**") == call.npos && call.find("load_in_") == call.npos;
      if (const std::optional<std::string> kernel =
              program_.resolve(flags_, find_attention(arguments));
          kernel && *kernel == "eager" && !has_key(flags_, "attn_implementation"))
        add_key(flags_, "attn_implementation", "eager");
      if (const std::string_view length = find_argument(arguments, "max_seq_length");
          !length.empty() && !states_any(flags_, kLengthKeys))
        add_resolved("max_seq_length", length, lengths);
      if (program_.resolve(flags_, find_argument(arguments, "device_map")) == "auto" &&
          !has_key(flags_, kSpreadMark))
        add_key(flags_, kSpreadMark, "true");
      const std::optional<std::string> value = program_.resolve(flags_, format);
      if (value) formats.insert(*value);
      open = open || (!value && !format.empty());
      if (model) continue;
      const std::vector<std::string_view> all = split_arguments(call);
      std::string_view name = find_argument(arguments, "model_name");
      if (name.empty()) name = find_argument(arguments, "pretrained_model_name_or_path");
      if (name.empty() && !all.empty() && parse_argument(all.front()).name.empty())
        name = all.front();
      model = program_.resolve(flags_, name);
    }
    if (const std::string cast = find_cast(); !cast.empty()) {
      formats = {cast};
      open = false;
    }
    for (const std::string_view trainer : kTrainers)
      if (const std::optional<std::string> name = program_.resolve(
              flags_,
              find_argument(list_named_arguments(find_python_call(code, trainer)), "model"));
          !model && name && (name->find('/') != std::string::npos || find_hub_model(*name)))
        model = name;
    std::vector<std::string> added;
    const bool named =
        std::any_of(flags_.map.entries.begin(), flags_.map.entries.end(),
                    [](const YamlEntry& entry) { return is_model_key(entry.key.scalar); });
    if (model && !named) add_resolved("model_name_or_path", "'" + *model + "'", added);
    // A call without a format is that of another branch.
    if (formats.size() == 1 && !open && !has_key(flags_, "dtype"))
      add_resolved("torch_dtype", "'" + *formats.begin() + "'", added);
    // transformers before 5 loads fp32 weights, which adapters leave so.
    constexpr std::string_view kComputes[] = {"bf16", "fp16"};
    if (formats.empty() && loads && unstated && states_any(flags_, kComputes) &&
        !has_key(flags_, "dtype"))
      add_resolved("torch_dtype", "'float32'", added);
    added.insert(added.end(), lengths.begin(), lengths.end());
    report(added, fmt::format("as {} loads the model", make_path_excerpt(program_.name())));
    if (!further.empty())
      assume(fmt::format("{} in {} is not counted: only the trained model is estimated",
                         make_excerpt(fmt::format("{}", fmt::join(further, ", "))),
                         make_path_excerpt(program_.name())));
  }

 private:
  /// Adds the length that the program cuts its texts to, `tokenizer(text, truncation=True,
  /// max_length=512)`, if nothing else states one: the largest of them.
  void add_tokenized_length(std::vector<std::string>& added) {
    constexpr std::string_view kLength = "max_length=";
    constexpr i64 kShortest = 32;
    if (states_any(flags_, kLengthKeys) || states_any(flags_, kOtherLengths)) return;
    std::optional<i64> longest;
    for (const PythonStatement& statement : statements_) {
      const std::size_t at = statement.text.find(kLength);
      if (at == std::string_view::npos ||
          statement.text.find("truncation") == std::string_view::npos)
        continue;
      const std::optional<std::string> value = program_.resolve(
          flags_, find_argument(list_named_arguments(statement.text.substr(at)), "max_length"));
      const Result<i64> n = parse_count(value.value_or(""), kShortest);
      if (n && (!longest || *n > *longest)) longest = *n;
    }
    if (longest) add_resolved("max_seq_length", std::to_string(*longest), added);
  }

  /// Adds the method of the class of arguments that the program constructs or parses.
  void add_method() {
    const ArgumentsClass* row = find_arguments_class(program_.code());
    for (const ArgumentsClass& one : kArgumentsClasses)
      if (row == nullptr && program_.parsed_classes().contains(one.name)) row = &one;
    if (row != nullptr && !row->method.empty() && !has_key(flags_, "rl") &&
        !has_key(flags_, "rlhf_type"))
      add_key(flags_, "rl", row->method);
  }

  /// Adds adapters that the program loads to train them further. The name of their folder may state
  /// the rank.
  void continue_adapters() {
    constexpr std::string_view kPaths[] = {"adapter_path", "adapter_name_or_path", "lora_path",
                                           "peft_path"};
    add_key(flags_, "use_lora", "true");
    std::string rank;
    for (const std::string_view path : kPaths)
      if (const YamlNode* const named = flags_.map.find(path); named != nullptr && rank.empty())
        rank = find_rank(named->scalar);
    if (!rank.empty()) add_key(flags_, "lora_r", rank);
    assume(fmt::format("adapters{} that {} trains further", rank.empty() ? "" : " of rank " + rank,
                       make_path_excerpt(program_.name())));
  }

  /// Returns the rank in the name of a folder: "sft-r32", "rank16". Empty if there is none.
  static std::string find_rank(std::string_view path) {
    for (const std::string_view mark : {"rank", "-r", "_r"}) {
      const std::size_t at = path.rfind(mark);
      if (at == std::string_view::npos) continue;
      std::string_view rest = path.substr(at + mark.size());
      const std::string_view digits = rest.substr(0, rest.find_first_not_of("0123456789"));
      if (!digits.empty() && digits.size() < 5) return std::string(digits);
    }
    return {};
  }

  /// Adds the attributes of the arguments that the code sets: `training_args.bf16 = True`.
  void add_assigned(std::vector<std::string>& added) {
    constexpr std::string_view kOwner = "_args.";
    for (const PythonStatement& statement : statements_) {
      const PythonArgument assigned = parse_argument(statement.text);
      const std::size_t at = assigned.name.find(kOwner);
      if (at == std::string_view::npos) continue;
      const std::string_view key = assigned.name.substr(at + kOwner.size());
      if (has_row(fine_tuning_keys(), key)) add_resolved(key, assigned.value, added);
    }
  }

  /// Returns whether the code assigns a map of its own to a name, and not a part of another.
  bool states_map(std::string_view name) const {
    return std::any_of(statements_.begin(), statements_.end(), [&](const PythonStatement& one) {
      const PythonArgument made = parse_argument(one.text);
      return made.name == name &&
             (made.value.starts_with("dict(") ||
              (made.value.starts_with('{') && made.value.find(" for ") == std::string_view::npos));
    });
  }

  /// Adds the arguments that the code collects for `call`: `kwargs = dict(bf16=True)`,
  /// `{"bf16": True}`. If the call takes some by their names, `**kwargs`, others are of other
  /// calls.
  void add_collected(std::string_view call_text, std::vector<std::string>& added) {
    constexpr std::string_view kDict = "dict(";
    std::vector<std::string_view> passed;
    for (const std::string_view one : split_arguments(call_text))
      if (one.starts_with("**") && states_map(trim(one.substr(2))))
        passed.push_back(trim(one.substr(2)));
    for (const PythonStatement& statement : statements_) {
      const PythonArgument one = parse_argument(statement.text);
      if (!passed.empty() && std::find(passed.begin(), passed.end(), one.name) == passed.end())
        continue;
      if (!has_part(lower(one.name.substr(0, kLongestLabel)), kCollections) &&
          !has_part(one.value, kArgumentKeys))
        continue;
      const bool call = one.value.starts_with(kDict);
      if (!call && !one.value.starts_with('{')) continue;
      for (const std::string_view item :
           split_arguments(one.value.substr(call ? kDict.size() : 1))) {
        PythonArgument pair = parse_argument(item);
        const std::size_t colon = item.find(':');
        if (!call && colon != std::string_view::npos)
          pair = {trim(item.substr(0, colon)), trim(item.substr(colon + 1))};
        const std::string key =
            call ? std::string(pair.name) : read_literal(pair.name).value_or("");
        if (has_row(fine_tuning_keys(), key)) add_resolved(key, pair.value, added);
      }
    }
  }

  /// Returns the named arguments of the first call of `name`, also those of a map: `**LORA`.
  std::vector<PythonArgument> list_call_arguments(std::string_view name) const {
    constexpr std::string_view kDict = "dict(";
    const std::string_view call = find_python_call(program_.code(), name);
    std::vector<PythonArgument> all = list_named_arguments(call);
    for (const std::string_view one : split_arguments(call)) {
      if (!one.starts_with("**")) continue;
      for (const PythonStatement& statement : statements_) {
        const PythonArgument made = parse_argument(statement.text);
        if (made.name != trim(one.substr(2))) continue;
        if (made.value.starts_with(kDict)) {
          const std::vector<PythonArgument> more =
              list_named_arguments(made.value.substr(kDict.size()));
          all.insert(all.end(), more.begin(), more.end());
        } else if (made.value.starts_with('{')) {
          for (const std::string_view item : split_arguments(made.value.substr(1))) {
            const std::size_t colon = std::min(item.find(':'), item.size());
            std::string_view key = trim(item.substr(0, colon));
            if (key.size() < 2 || colon == item.size()) continue;
            key = key.substr(1, key.size() - 2);  // without quotes
            all.push_back({key, trim(item.substr(colon + 1))});
          }
        }
        break;
      }
    }
    return all;
  }

  /// Returns the call that makes adapters, and its arguments.
  std::pair<std::string_view, std::vector<PythonArgument>> find_adapters() const {
    for (const std::string_view name : {"LoraConfig", "get_peft_model"})
      if (std::vector<PythonArgument> arguments = list_call_arguments(name);
          !find_argument(arguments, "r").empty())
        return {name, std::move(arguments)};
    return {};
  }

  /// Returns whether the code makes adapters: `get_peft_model(model, lora)`, or `peft_config=lora`
  /// for TRL's trainer. Under a condition that asks for adapters by an option of unknown value, it
  /// is taken for one that does not.
  bool applies_adapters() const {
    constexpr std::string_view kCalls[] = {"get_peft_model(", ".add_adapter("};
    for (std::size_t i = 0; i < statements_.size(); ++i) {
      const std::string_view text = statements_[i].text;
      if (text.starts_with("def ") || text.starts_with("from ")) continue;
      const bool given = text.find("peft_config=") != std::string_view::npos && passes_config(text);
      if ((has_part(text, kCalls) || given) && !asks_for_adapters(i)) return true;
    }
    const auto has = [&](std::string_view part) {
      return program_.code().find(part) != std::string::npos;
    };
    // Adapters of a checkpoint that are trained further.
    if (has("is_trainable=True") ||
        (has("PeftModel.from_pretrained(") && has("lora_") && has("requires_grad_(True)")))
      return true;
    return has("LoraConfig(") && !mentions_adapters();
  }

  /// Returns whether `peft_config=` is given a name, or a choice that is known to be one.
  bool passes_config(std::string_view text) const {
    const std::string_view given =
        find_argument(list_named_arguments(text.substr(text.find("peft_config="))), "peft_config");
    if (is_dotted_name(given)) return given != "None";
    constexpr std::string_view kIf = " if ", kElse = " else ";
    const std::size_t condition = given.find(kIf), other = given.find(kElse);
    if (condition == std::string_view::npos || other == std::string_view::npos || condition > other)
      return given.find("LoraConfig(") != std::string_view::npos;
    const std::string choice =
        fmt::format("True if {} else False",
                    given.substr(condition + kIf.size(), other - condition - kIf.size()));
    return program_.resolve(flags_, choice) == "True";
  }

  /// Returns whether a statement is under a condition on a name of adapters, which is an option:
  /// conditions that call functions ask for something else.
  bool asks_for_adapters(std::size_t at) const {
    std::size_t indent = statements_[at].indent;
    for (std::size_t i = at; i-- > 0 && indent > 0;) {
      const PythonStatement& one = statements_[i];
      if (one.indent >= indent) continue;
      indent = one.indent;
      const bool condition = one.text.starts_with("if ") || one.text.starts_with("elif ");
      if (condition && names_adapters(one.text)) return true;
    }
    return false;
  }

  static bool names_adapters(std::string_view condition) {
    constexpr std::string_view kBitNames[] = {"q_lora", "qlora", "quant"};
    constexpr std::string_view kAdapterNames[] = {"lora", "peft"};
    const std::string words = lower(condition);
    return condition.find('(') == std::string_view::npos && !has_part(words, kBitNames) &&
           has_part(words, kAdapterNames);
  }

  /// Returns whether any condition asks for adapters by an option.
  bool mentions_adapters() const {
    return std::any_of(statements_.begin(), statements_.end(), [](const PythonStatement& one) {
      const std::size_t condition = one.text.find(" if ");
      const bool opens = one.text.starts_with("if ") || one.text.starts_with("elif ");
      return (opens && names_adapters(one.text)) ||
             (condition != std::string_view::npos && names_adapters(one.text.substr(condition)));
    });
  }

  /// Returns whether the code loads the weights in few bits: `load_in_4bit=True`, under no
  /// condition or one that is known to hold.
  bool loads_in(std::string_view bits) const {
    constexpr std::string_view kIf = " if ", kElse = " else ";
    const std::string setting = fmt::format("{}=True", bits);
    for (std::size_t i = 0; i < statements_.size(); ++i) {
      const std::string_view text = statements_[i].text;
      const std::size_t at = text.find(setting);
      // TRL's ModelConfig only collects settings.
      if (at == std::string_view::npos || is_conditional(i) ||
          text.find("ModelConfig(") != std::string_view::npos)
        continue;
      const std::size_t condition = text.find(kIf, at);
      const std::size_t other = text.find(kElse, at);
      if (condition == std::string_view::npos || other == std::string_view::npos ||
          condition > other)
        return true;
      const std::string choice =
          fmt::format("True if {} else False",
                      text.substr(condition + kIf.size(), other - condition - kIf.size()));
      if (program_.resolve(flags_, choice) == "True") return true;
    }
    return false;
  }

  /// Returns whether the code has one of the names outside its imports.
  bool calls_any(std::span<const std::string_view> names) const {
    for (const PythonStatement& statement : statements_)
      if (!statement.text.starts_with("from ") && !statement.text.starts_with("import ") &&
          has_part(statement.text, names))
        return true;
    return false;
  }

  /// Returns the format that the whole model is cast to, whatever the arguments are; empty if there
  /// is none: `model = model.bfloat16()`.
  std::string find_cast() const {
    constexpr std::pair<std::string_view, const char*> kCasts[] = {
        {"model.bfloat16()", "bfloat16"},
        {"model.half()", "float16"},
        {"model.to(torch.bfloat16)", "bfloat16"},
        {"model.to(torch.float16)", "float16"}};
    for (std::size_t i = 0; i < statements_.size(); ++i) {
      const std::string_view text = statements_[i].text;
      for (const auto& [cast, format] : kCasts)
        if (trim(text.substr(text.find('=') + 1)) == cast && !is_conditional(i)) return format;
    }
    return {};
  }

  /// Returns whether a statement is under a condition.
  bool is_conditional(std::size_t at) const {
    std::size_t indent = statements_[at].indent;
    for (std::size_t i = at; i-- > 0 && indent > 0;) {
      const PythonStatement& one = statements_[i];
      if (one.indent >= indent) continue;
      indent = one.indent;
      if (one.text.starts_with("if ") || one.text.starts_with("elif ") ||
          one.text.starts_with("else"))
        return true;
    }
    return false;
  }

  /// Returns the implementation of attention that a model is loaded with, also by its older name.
  static std::string_view find_attention(const std::vector<PythonArgument>& arguments) {
    const std::string_view named = find_argument(arguments, "attn_implementation");
    return named.empty() ? find_argument(arguments, "_attn_implementation") : named;
  }

  /// Returns whether the class before `from_pretrained` is one of language models.
  static bool loads_language_model(std::string_view before) {
    constexpr std::string_view kClasses[] = {"CausalLM",  "ConditionalGeneration",
                                             "AutoModel", "LanguageModel",
                                             "FastModel", "FastVisionModel"};
    return has_part(before, kClasses);
  }

  /// Returns whether a flag abbreviates this option, as argparse allows.
  bool is_abbreviated(std::string_view option) const {
    constexpr std::size_t kShortest = 4;
    return std::any_of(flags_.map.entries.begin(), flags_.map.entries.end(),
                       [&](const YamlEntry& entry) {
                         const std::string_view flag = entry.key.scalar;
                         return flag.size() >= kShortest && option.starts_with(flag);
                       });
  }

  /// Returns what the stated flags decide, as keys of a plan.
  std::vector<std::string_view> list_stated() const {
    std::vector<std::string_view> stated;
    for (const ForeignKey& known : fine_tuning_keys())
      if (!known.plan_key.empty() && has_key(flags_, known.path)) stated.push_back(known.plan_key);
    return stated;
  }

  /// Returns whether a flag, or the default of an option, turns adapters on.
  bool turns_adapters_on() const {
    for (const ForeignKey& known : fine_tuning_keys()) {
      const bool rank =
          std::find(std::begin(kRankKeys), std::end(kRankKeys), known.path) != std::end(kRankKeys);
      if (known.plan_key != "job.lora_rank" || rank) continue;
      const YamlNode* const stated = flags_.map.find(known.path);
      const bool on = stated != nullptr && !is_off(*stated) && stated->scalar != "full" &&
                      !stated->scalar.starts_with("freeze");
      if (stated != nullptr ? on : program_.defaults().contains(known.path)) return true;
    }
    return false;
  }

  void add_resolved(std::string_view key, std::string_view expression,
                    std::vector<std::string>& added) {
    if (has_key(flags_, key)) return;
    const std::optional<std::string> value = program_.resolve(flags_, expression);
    if (!value) return open_setting(key, expression);
    add_key(flags_, key, *value);
    added.push_back(fmt::format("{} {}", key, make_excerpt(*value)));
  }

  /// Leaves a setting open that an expression states whose value is not known.
  void open_setting(std::string_view key, std::string_view expression) {
    constexpr std::string_view kOpened[] = {"per_device_train_batch_size",
                                            "gradient_accumulation_steps",
                                            "max_length",
                                            "max_seq_length",
                                            "max_prompt_length",
                                            "max_completion_length",
                                            "gradient_checkpointing",
                                            "optim"};
    const bool opened = std::find(std::begin(kOpened), std::end(kOpened), key) != std::end(kOpened);
    if (opened && !expression.empty() && expression != "None")
      flags_.unknown.push_back({std::string(key), "an expression", YamlNode{}});
  }

  void report(const std::vector<std::string>& added, const std::string& source) {
    if (!added.empty()) assume(fmt::format("{}, {}", fmt::join(added, ", "), source));
  }

  void assume(std::string text) {
    plan_.findings.push_back(make_assumption(std::move(text), "", {.file = plan_.name}));
  }

  ScriptFlags& flags_;
  const TrainerProgram& program_;
  PlanFile& plan_;
  std::vector<PythonStatement> statements_;  // of the program
};

}  // namespace

bool constructs_arguments(std::string_view code) {
  return find_arguments_class(blank_python_comments(std::string(code))) != nullptr;
}

bool runs_trainer_program(std::string_view text, const std::string& name, const FileReader& files,
                          ShellInput variables) {
  if (text.find(".py") == std::string_view::npos && text.find(" -m ") == std::string_view::npos)
    return false;
  variables.file = name;
  variables.files = files;
  const std::string program = read_script_flags(text, variables).module;
  if (program.empty()) return false;
  const Result<std::string> code =
      read_named_file(files, name, program.ends_with(".py") ? program : find_module_file(program));
  return code && constructs_arguments(*code);
}

bool add_code_settings(ScriptFlags& flags, const FileReader& files, PlanFile& plan) {
  const std::optional<TrainerProgram> program = TrainerProgram::read(flags, plan.name, files);
  if (!program) return false;
  CodeSettings settings(flags, *program, plan);
  settings.drop_unused_kernels();
  settings.add_adapters();
  settings.add_arguments();
  settings.add_defaults();
  settings.add_loaded_model();
  return true;
}

}  // namespace rankwright::importer
