// Reads programs for Megatron-Bridge that assign the settings of a config one by one
// ("cfg.train.global_batch_size = 64"), and those for NeMo 2.0 that change a recipe
// ("recipe.data.global_batch_size = 64"). The text is read statement by statement and never
// executed: literals and names that were assigned one, in the first function that has settings.
// Settings in loops, and under conditions of unknown value, are left open. Scripts that run such a
// program are read in bridge_script.cc.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "rankwright/base/format.h"
#include "rankwright/base/trim.h"
#include "rankwright/import/framework/recipes.h"
#include "rankwright/import/script/recipe_defaults.h"
#include "rankwright/import/script/script_flags.h"
#include "rankwright/import/syntax/lines.h"
#include "rankwright/import/syntax/python_calls.h"
#include "rankwright/import/syntax/python_text.h"
#include "rankwright/import/syntax/shell_evaluator.h"

namespace rankwright::importer {
namespace {

/// Sections of a config of Megatron-Bridge, and of a recipe of NeMo.
constexpr std::string_view kSections[] = {
    "model",        "train",   "dataset",   "optimizer", "optim",   "ddp", "mixed_precision",
    "comm_overlap", "profile", "tokenizer", "peft",      "trainer", "data"};

/// The functions of a module of NeMo that make a recipe, also as arguments of `partial`.
constexpr std::string_view kPretrain = ".pretrain_recipe(", kFinetune = ".finetune_recipe(";
constexpr std::string_view kPartial = "partial(", kPretrainPart = ".pretrain_recipe,";

/// An argument of such a function, and the setting that it states.
struct RecipeArgument {
  std::string_view name, setting;
};
constexpr RecipeArgument kRecipeArguments[] = {
    {"num_nodes", "trainer.num_nodes"},
    {"num_gpus_per_node", "trainer.devices"},
    {"seq_length", "data.seq_length"},
    {"tensor_parallelism", "trainer.strategy.tensor_model_parallel_size"},
    {"pipeline_parallelism", "trainer.strategy.pipeline_model_parallel_size"},
    {"context_parallelism", "trainer.strategy.context_parallel_size"},
    {"sequence_parallelism", "trainer.strategy.sequence_parallel"},
    {"expert_parallelism", "trainer.strategy.expert_model_parallel_size"},
    {"virtual_pipeline_parallelism", "trainer.strategy.virtual_pipeline_model_parallel_size"},
    {"tensor_model_parallel_size", "model.tensor_model_parallel_size"},
    {"pipeline_model_parallel_size", "model.pipeline_model_parallel_size"},
    {"context_parallel_size", "model.context_parallel_size"},
    {"expert_model_parallel_size", "model.expert_model_parallel_size"},
    {"sequence_parallel", "model.sequence_parallel"},
    {"recompute_granularity", "model.recompute_granularity"},
    {"recompute_method", "model.recompute_method"},
    {"recompute_num_layers", "model.recompute_num_layers"},
    {"global_batch_size", "data.global_batch_size"},
    {"micro_batch_size", "data.micro_batch_size"},
};

/// A class of NeMo 2.0 by the end of its name, the section that its arguments are settings of, and
/// the values of those that a program leaves out (nemo/collections/llm/gpt/data).
struct NemoClass {
  std::string_view name, section;
  bool model = false;
  std::pair<std::string_view, std::string_view> usual[3]{};
};
constexpr NemoClass kNemoClasses[] = {
    {"MegatronStrategy", "trainer.strategy."},
    {"DistributedDataParallelConfig", "trainer.strategy.ddp."},
    {"DataModule",
     "data.",
     false,
     {{"data.seq_length", "2048"},
      {"data.micro_batch_size", "4"},
      {"data.global_batch_size", "8"}}},
    {"Trainer", "trainer.", false, {{"trainer.num_nodes", "1"}}},
    {"MegatronMixedPrecision", "trainer.plugins."},
    {"OptimizerConfig", "optim.", false, {{"optim.use_distributed_optimizer", "false"}}},
    {"MockDataModule", "data.", false, {{"model.tokenizer_type", "GPT2BPETokenizer"}}},
    {"GPTConfig", "model.", true},
    {"Config1B", "model.", true},
    {"Config2B", "model.", true},
    {"Config3B", "model.", true},
    {"Config7B", "model.", true},
    {"Config8B", "model.", true},
    {"Config9B", "model.", true},
    {"Config12B", "model.", true},
    {"Config13B", "model.", true},
    {"Config14B", "model.", true},
    {"Config24B", "model.", true},
    {"Config27B", "model.", true},
    {"Config32B", "model.", true},
    {"Config70B", "model.", true},
    {"Config72B", "model.", true},
    {"Config405B", "model.", true},
    {"Config8x3B", "model.", true},
    {"Config8x7B", "model.", true},
    {"Config8x22B", "model.", true},
};

/// "a.b.c = value"
struct Assignment {
  std::string_view name, value;
};

std::optional<Assignment> parse_assignment(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || text.substr(equals).starts_with("=="))
    return std::nullopt;
  const std::string_view target = text.substr(0, equals);
  const std::string_view name = trim(target.substr(0, target.find(':')));  // without its type
  const std::string_view value = trim(text.substr(equals + 1));
  if (!is_dotted_name(name) || value.empty()) return std::nullopt;
  return Assignment{name, value};
}

/// Returns "train.global_batch_size" for "cfg.train.global_batch_size"; empty for any other name.
std::string_view find_setting(std::string_view name) {
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos) return {};
  const std::string_view path = name.substr(dot + 1);
  const std::string_view section = path.substr(0, path.find('.'));
  return std::find(std::begin(kSections), std::end(kSections), section) == std::end(kSections)
             ? std::string_view()
             : path;
}

/// Returns whether a text names a section of a config, or a part of one: "cfg.model".
bool names_section(std::string_view text) {
  return is_dotted_name(text) && !find_setting(text).empty();
}

/// Returns the flag of a setting; those of the nodes have the names that a launcher's have.
std::string name_setting(std::string_view setting) {
  if (setting == "trainer.num_nodes") return "nodes";
  if (setting == "trainer.devices") return "gpus-per-node";
  return name_flag(setting);
}

/// Returns the name of the function that a text calls, "a.b" for "a.b(c)"; empty for no call.
std::string_view find_callee(std::string_view text) {
  const std::string_view name = trim(text.substr(0, text.find('(')));
  return text.ends_with(')') && is_dotted_name(name) ? name : std::string_view();
}

/// Returns "a_b" for the option "--a-b".
std::string name_option(std::string text) {
  text.erase(0, std::min(text.find_first_not_of('-'), text.size()));
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
}

/// The settings that a call states by its arguments; nothing for those of unknown value.
using CallSettings = std::vector<std::pair<std::string_view, std::optional<PythonValue>>>;

/// Reads the statements of a program.
class ProgramReader {
 public:
  ProgramReader(ScriptFlags& flags, std::string_view text, const ShellInput& input)
      : flags_(flags), text_(text), input_(input) {
    flags.map.kind = YamlNode::Kind::map;
    scope_.set("__name__", PythonValue{"__main__", {}}, true);
  }

  /// Returns whether the settings are complete: another function follows.
  bool add(const PythonStatement& one) {
    if (one.indent == 0 && one.text.starts_with("def ")) {
      if (!flags_.map.entries.empty() && !has_one_recipe()) return true;
      begin_function(one.text);
      return false;
    }
    if (one.indent == 0) function_.clear();
    const std::optional<bool> runs = enter_block(one);
    if (runs == false) return false;
    if (one.text.starts_with("return ")) finish_function(trim(one.text.substr(7)));
    if (const std::optional<Assignment> assigned = parse_assignment(one.text))
      assign(*assigned, one, runs.value_or(false));
    return false;
  }

  /// Sets a name of the module that is assigned a literal, which options may have for a default.
  void add_constant(std::string_view text) {
    if (const std::optional<Assignment> one = parse_assignment(text))
      if (std::optional<PythonValue> value = scope_.find(one->value))
        scope_.set(one->name, std::move(value), true);
  }

  bool assumes_adapters() const { return adapts_; }

  /// Returns whether the program makes one recipe of NeMo: all its functions are about it.
  bool has_one_recipe() const {
    const auto count_of = [&](std::string_view call) {
      std::size_t n = 0;
      for (std::size_t at = text_.find(call); at != std::string_view::npos;
           at = text_.find(call, at + 1))
        ++n;
      return n;
    };
    return count_of(kPretrain) + count_of(kFinetune) == 1;
  }

  /// Reads the calls of a program for NeMo 2.0 without a recipe: `nl.MegatronStrategy(...)`, or
  /// `run.Config(nl.MegatronStrategy, ...)`. The first call of a class counts.
  void add_nemo_calls() {
    YamlNode place;
    place.kind = YamlNode::Kind::scalar;
    for (const NemoClass& row : kNemoClasses) {
      const auto [name, arguments] = find_construction(row.name);
      if (name.empty()) continue;
      place.line =
          1 + int(std::count(text_.begin(), text_.begin() + (name.data() - text_.data()), '\n'));
      place.column = 1;
      if (row.model && name != "GPTConfig")
        put_text("model.hf_model_id", name_model_class(name), place);
      for (const auto& [argument, value] : row.usual)
        if (!argument.empty()) put_text(argument, std::string(value), place);
      for (const std::string_view one : split_arguments(arguments)) {
        const PythonArgument argument = parse_argument(one);
        if (argument.name.empty() || argument.value.empty()) continue;
        const std::string setting = fmt::format("{}{}", row.section, argument.name);
        std::optional<PythonValue> value = scope_.find(argument.value);
        if (!value && is_dotted_name(argument.value)) {  // a parameter with a default
          value = scope_.find(find_assigned(text_, argument.value));
          if (value) value->assumed = argument.value;
        }
        if (!value) value = find_passed_value(argument.value);
        if (value) {
          put_setting(setting, *value, place);
        } else {
          drop(setting);
          add_unknown(setting, "an expression", place);
        }
        // Learned positions are as many as a sequence has tokens.
        if (name == "GPTConfig" && argument.name == "seq_length")
          if (const std::optional<PythonValue> length = scope_.find(argument.value))
            put_text("model.max_position_embeddings", length->text, place);
      }
    }
  }

  /// Reads the first recipe of a table: `"8b": partial(llm.llama3_8b.pretrain_recipe,
  /// num_nodes=1)`.
  bool add_partial_recipe() {
    const std::size_t at = text_.find(kPretrainPart);
    if (at == std::string_view::npos) return false;
    const std::size_t open = text_.rfind(kPartial, at);
    if (open == std::string_view::npos) return false;
    YamlNode place;
    place.kind = YamlNode::Kind::scalar;
    place.line = 1 + int(std::count(text_.begin(), text_.begin() + std::ptrdiff_t(at), '\n'));
    place.column = 1;
    std::string call(text_.substr(open + kPartial.size(), at - open - kPartial.size()));
    call += kPretrain;
    call += text_.substr(at + kPretrainPart.size(), kLongestCall);
    read_nemo_recipe(call, place);
    return true;
  }

  /// Reads "parser.add_argument('--tp', type=int, default=2)": args.tp is 2 unless it is given.
  void add_option(std::string_view text) {
    const std::size_t call = text.find(".add_argument(");
    if (call == std::string_view::npos) return;
    std::string name;
    std::vector<std::string> spellings;
    std::optional<PythonValue> value;
    for (const std::string_view argument : split_arguments(text.substr(text.find('(', call) + 1))) {
      const PythonArgument one = parse_argument(argument);
      const std::optional<PythonValue> literal = scope_.find(one.value);
      if (!literal) continue;
      const bool flag = one.name.empty() && literal->text.starts_with("--");
      if (one.name == "dest" || (flag && name.empty())) name = literal->text;
      if (flag) spellings.push_back(name_option(literal->text));
      if (one.name == "default") value = literal;
      if (one.name == "action" && literal->text == "store_true" && !value)
        value = PythonValue{"False", {}};
    }
    name = name_option(std::move(name));
    if (name.empty()) return;
    if (value) value->assumed = name;
    for (const std::string& spelling : spellings) set_given(spelling, value);
    if (value) scope_.set("args." + name, std::move(value), true);
  }

 private:
  static constexpr std::size_t kMaxSettings = 1000, kLongestCall = 1000;

  /// A statement with a body, and whether the body runs; nothing if that is unknown.
  struct Block {
    std::size_t indent = 0;
    std::optional<bool> runs{};
    std::optional<bool> decided{};  // whether this or an earlier branch of the statement runs
  };

  /// Sets the parameters of a function: what the only call in the file passes by name, or their
  /// defaults.
  void begin_function(std::string_view text) {
    scope_.leave_function();
    calls_.clear();
    blocks_.clear();
    const std::size_t open = std::min(text.find('('), text.size() - 1);
    function_ = trim(text.substr(4, open - 4));
    for (const std::string_view parameter : split_arguments(text.substr(open + 1))) {
      const PythonArgument one = parse_argument(parameter);
      if (one.name.empty()) continue;
      std::optional<PythonValue> value = scope_.find(one.value);
      if (value) value->assumed = one.name;
      if (const std::optional<std::string_view> passed = find_passed(one.name))
        value = scope_.find(*passed);
      set_given(one.name, value);
      scope_.set(one.name, std::move(value), false);
    }
  }

  /// Takes the value of a parameter or an option from --set.
  void set_given(std::string_view name, std::optional<PythonValue>& value) {
    const auto given = input_.variables.find(std::string(name));
    if (given == input_.variables.end()) return;
    flags_.used.insert(given->first);
    value = PythonValue{given->second, {}};
  }

  /// Returns the value that a call of the function passes to a parameter by its name.
  std::optional<std::string_view> find_passed(std::string_view parameter) const {
    const std::string call = fmt::format("{}(", function_);
    for (std::size_t at = text_.find(call); at != std::string_view::npos;
         at = text_.find(call, at + call.size())) {
      const char before = at == 0 ? ' ' : text_[at - 1];
      const bool defined = at >= 4 && text_.substr(at - 4, 4) == "def ";
      if (defined || is_dotted_name(std::string_view(&before, 1))) continue;
      for (const std::string_view argument : split_arguments(text_.substr(at + call.size())))
        if (const PythonArgument one = parse_argument(argument); one.name == parameter)
          return one.value;
    }
    return std::nullopt;
  }

  /// Returns the value that any call passes to a parameter of this name; nothing if none is known.
  std::optional<PythonValue> find_passed_value(std::string_view parameter) const {
    constexpr int kMaxSearches = 100;  // each reads the whole program
    if (!is_dotted_name(parameter) || parameter.find('.') != std::string_view::npos ||
        ++searches_ > kMaxSearches)
      return std::nullopt;
    const std::string argument = fmt::format("{}=", parameter);
    for (std::size_t at = text_.find(argument); at != std::string_view::npos;
         at = text_.find(argument, at + 1)) {
      if (at > 0 && shell::is_name(text_[at - 1])) continue;
      const std::string_view rest = text_.substr(at + argument.size());
      const std::string_view value = trim(rest.substr(0, rest.find_first_of(",)\n")));
      if (value == parameter) continue;
      if (std::optional<PythonValue> found = scope_.find(value)) return found;
    }
    return std::nullopt;
  }

  /// Returns whether a statement runs, after leaving the blocks that end before it; opens the block
  /// that it begins.
  std::optional<bool> enter_block(const PythonStatement& one) {
    std::optional<bool> decided = false;
    while (!blocks_.empty() && blocks_.back().indent >= one.indent) {
      decided = blocks_.back().indent == one.indent ? blocks_.back().decided : false;
      blocks_.pop_back();
    }
    std::optional<bool> runs = true;
    for (const Block& block : blocks_)
      if (runs != false && block.runs != true) runs = block.runs;
    constexpr std::size_t kMaxBlocks = 50;
    if (one.text.ends_with(':') && blocks_.size() < kMaxBlocks)
      blocks_.push_back(make_block(one, decided));
    return runs;
  }

  /// `decided` is that of the branch before this one, if any.
  Block make_block(const PythonStatement& one, std::optional<bool> decided) const {
    const std::string_view word = one.text.substr(0, one.text.find_first_of(" :("));
    if (word == "with" || word == "try" || word == "finally") return {one.indent, true, true};
    if (word != "if" && word != "elif" && word != "else") return {one.indent, {}, {}};
    if (word == "if") decided = false;
    std::optional<bool> holds = true;
    if (word != "else")
      holds = scope_.test(one.text.substr(word.size(), one.text.size() - word.size() - 1));
    if (decided == true) return {one.indent, false, true};
    if (!decided && holds != false) return {one.indent, {}, {}};
    if (!decided) return {one.indent, false, {}};
    return {one.indent, holds, holds};
  }

  /// Records the settings of a call that a function returns, or of a name that was assigned one.
  void finish_function(std::string_view value) {
    if (function_.empty()) return;
    if (const CallSettings* const call = find_call(value))
      returned_[function_] = *call;
    else if (!find_callee(value).empty())
      returned_[function_] = read_arguments(value);
  }

  /// Returns the settings of a name that was assigned a call, or of a call of a function of this
  /// file.
  const CallSettings* find_call(std::string_view value) const {
    if (const auto named = calls_.find(value); named != calls_.end()) return &named->second;
    const auto function = returned_.find(find_callee(value));
    return function == returned_.end() ? nullptr : &function->second;
  }

  CallSettings read_arguments(std::string_view call) const {
    CallSettings settings;
    for (const std::string_view argument : split_arguments(call.substr(call.find('(') + 1))) {
      const PythonArgument one = parse_argument(argument);
      for (const RecipeArgument& row : kRecipeArguments)
        if (row.name == one.name) {
          std::optional<PythonValue> value = scope_.find(one.value);
          if (!value) value = find_passed_value(one.value);
          settings.emplace_back(row.setting, std::move(value));
        }
    }
    return settings;
  }

  /// Reads the arguments that a program collects: {"tensor_model_parallel_size": 2}.
  CallSettings read_pairs(std::string_view pairs) const {
    CallSettings settings;
    for (const std::string_view pair : split_arguments(pairs)) {
      const std::size_t colon = std::min(pair.find(':'), pair.size());
      const std::optional<PythonValue> name = scope_.find(trim(pair.substr(0, colon)));
      const std::string_view value = trim(pair.substr(std::min(colon + 1, pair.size())));
      for (const RecipeArgument& row : kRecipeArguments)
        if (name && row.name == name->text) settings.emplace_back(row.setting, scope_.find(value));
    }
    return settings;
  }

  void assign(const Assignment& one, const PythonStatement& at, bool certain) {
    YamlNode value;
    value.kind = YamlNode::Kind::scalar;
    value.line = at.line;
    value.column = int(at.indent + std::size_t(one.value.data() - at.text.data())) + 1;
    value.width = int(std::clamp<std::size_t>(one.value.find('\n'), 1,
                                              std::min<std::size_t>(one.value.size(), 100)));
    const std::string resolved = resolve_alias(one.name);
    // The length of NeMo's model is that of its data.
    if (resolved.ends_with(".config.seq_length") && certain)
      if (const std::optional<PythonValue> length = scope_.find(one.value))
        put_setting("data.seq_length", *length, value);
    const std::string_view setting = find_setting(resolved);
    if (setting.empty()) return assign_name(one, std::move(value), certain);
    if (setting == "data" || setting == "trainer") return assign_data(one.value, value, certain);
    if (setting == "model") return assign_model(one.value, std::move(value));
    std::optional<PythonValue> literal = scope_.find(one.value);
    // A section that is replaced: "cfg.optimizer = make_optimizer()".
    const bool section = setting.find('.') == std::string_view::npos;
    if (section && !literal && setting == "mixed_precision")
      literal = PythonValue{std::string(find_callee(one.value)), {}};
    if (section && !literal) return;
    if (!certain || !literal) {
      add_unknown(setting, certain ? "an expression" : "a branch", value);
      return;
    }
    put_setting(setting, *literal, std::move(value));
  }

  /// Returns "config.model.a" for "model_cfg.a" after "model_cfg = config.model".
  std::string resolve_alias(std::string_view name) const {
    const std::size_t dot = name.find('.');
    const auto alias = aliases_.find(name.substr(0, dot));
    if (dot == std::string_view::npos || alias == aliases_.end()) return std::string(name);
    return alias->second + std::string(name.substr(dot));
  }

  /// Reads a name that is assigned a literal, a recipe or another call.
  void assign_name(const Assignment& one, YamlNode value, bool certain) {
    if (!certain) return scope_.set(one.name, std::nullopt, function_.empty());
    if (names_section(one.value) && aliases_.size() < kMaxSettings)
      aliases_[std::string(one.name)] = one.value;
    if (one.value.find(kPretrain) != std::string_view::npos ||
        one.value.find(kFinetune) != std::string_view::npos)
      return read_nemo_recipe(one.value, value);
    const std::string_view callee = find_callee(one.value);
    const std::string_view name = callee.substr(callee.rfind('.') + 1);
    if (!find_recipe_model(name).empty() && !name.starts_with('_') && !returned_.contains(name))
      return read_bridge_recipe(name, one.value, value);
    if (one.value.starts_with('{') && one.name.find("kwargs") != std::string_view::npos)
      put_arguments(read_pairs(one.value.substr(1)), value);
    if (!callee.empty()) {
      const CallSettings* const known = find_call(one.value);
      calls_[std::string(one.name)] = known != nullptr ? *known : read_arguments(one.value);
    }
    scope_.set(one.name, scope_.find(one.value), function_.empty());
  }

  /// Reads the data that a recipe gets: a call, here or where its name was assigned.
  void assign_data(std::string_view text, const YamlNode& place, bool certain) {
    if (!certain) return;
    const CallSettings* const known = find_call(text);
    // A parameter, which is the data module that the program constructs elsewhere.
    const auto [module, arguments] = is_dotted_name(text) && known == nullptr
                                         ? find_construction("DataModule")
                                         : std::pair<std::string_view, std::string_view>();
    put_arguments(known != nullptr  ? *known
                  : !module.empty() ? read_arguments(fmt::format("({}", arguments))
                                    : read_arguments(text),
                  place);
  }

  /// Reads the arguments of "llama3_8b_pretrain_config(...)".
  void read_bridge_recipe(std::string_view name, std::string_view call, const YamlNode& place) {
    constexpr std::string_view kUsualRank = "32";  // of Megatron-Bridge's recipes for adapters
    if (!flags_.recipe_name.empty()) return;
    flags_.recipe_name = name;
    put_text("model.hf_model_id", std::string(find_recipe_model(name)), place);
    if (name.ends_with("_peft_config")) put_text("lora_rank", std::string(kUsualRank), place);
    put_arguments(read_arguments(call), place);
  }

  /// Reads the arguments of "llm.llama3_8b.pretrain_recipe(...)".
  void read_nemo_recipe(std::string_view call, const YamlNode& place) {
    if (!flags_.recipe_name.empty()) return;
    const bool tunes = call.find(kFinetune) != std::string_view::npos;
    const std::size_t at = call.find(tunes ? kFinetune : kPretrain);
    std::string_view module = call.substr(0, at);
    module.remove_prefix(module.find_last_of(". ") + 1);
    flags_.recipe_name =
        fmt::format("{}.{}", module, tunes ? "finetune_recipe" : "pretrain_recipe");
    put_text("model.hf_model_id", std::string(module), place);
    put_arguments(read_arguments(call.substr(at)), place);
    if (tunes) read_scheme(call.substr(call.find('(', at) + 1), place);
  }

  /// Reads the adapters of a recipe, which are LoRA's unless stated. The rank is 8 in most recipes,
  /// whose adapters are on all linear layers.
  void read_scheme(std::string_view arguments, const YamlNode& place) {
    std::optional<PythonValue> scheme = PythonValue{"lora", {}};
    for (const std::string_view argument : split_arguments(arguments))
      if (const PythonArgument one = parse_argument(argument); one.name == "peft_scheme")
        scheme = scope_.find(one.value);
    // An unknown scheme is that of the recipe; None is full fine-tuning.
    if (scheme && scheme->text != "lora") return;
    adapts_ = true;
    put_text("lora_rank", "8", place);
    put_text("target_modules", "linear_qkv linear_proj linear_fc1 linear_fc2", place);
  }

  void put_arguments(const CallSettings& settings, const YamlNode& place) {
    for (const auto& [setting, value] : settings) {
      if (value) {
        put_setting(setting, *value, place);
        continue;
      }
      drop(setting);
      add_unknown(setting, "an expression", place);
    }
  }

  /// Returns the first class with this end that the program constructs, and its arguments: behind
  /// the bracket, or behind the name in `run.Config(Class, ...)`.
  std::pair<std::string_view, std::string_view> find_construction(std::string_view end) const {
    for (std::size_t at = text_.find(end); at != std::string_view::npos;
         at = text_.find(end, at + 1)) {
      std::size_t begin = at, after = at + end.size();
      const auto is_part = [&](std::size_t i) {
        return i < text_.size() && shell::is_name(text_[i]);
      };
      while (begin > 0 && is_part(begin - 1)) --begin;
      while (is_part(after)) ++after;
      const bool called = after < text_.size() &&
                          (text_[after] == '(' || text_[after] == ',' || text_[after] == ')');
      const std::string_view line = text_.substr(text_.rfind('\n', begin) + 1);
      const bool imported = trim(line).starts_with("from ") || trim(line).starts_with("import ") ||
                            trim(line).starts_with("class ");
      if (called && !imported) return {text_.substr(begin, after - begin), text_.substr(after + 1)};
    }
    return {};
  }

  /// Returns "llama3_8b" for "Llama3Config8B".
  static std::string name_model_class(std::string_view name) {
    constexpr std::string_view kConfig = "Config";
    const std::size_t at = name.find(kConfig);
    return fmt::format("{}_{}", name.substr(0, at), name.substr(at + kConfig.size()));
  }

  /// "AutoBridge.from_hf_pretrained(NAME)...": the model of a hub.
  void assign_model(std::string_view call, YamlNode value) {
    const std::size_t open = call.find("from_hf_pretrained(");
    if (open == std::string_view::npos) return;
    const std::string_view arguments = call.substr(call.find('(', open) + 1);
    const std::optional<PythonValue> name =
        scope_.find(arguments.substr(0, arguments.find_first_of(",)")));
    if (name) put_setting("model.hf_model_id", *name, std::move(value));
  }

  void put_setting(std::string_view setting, const PythonValue& literal, YamlNode value) {
    value.scalar = literal.text;
    if (!literal.assumed.empty() && flags_.defaults.size() < kMaxSettings)
      flags_.defaults.push_back({name_setting(setting), literal.assumed, value});
    if (setting == "peft.dim") {
      adapts_ = false;  // the rank is stated
      return put("lora_rank", std::move(value));
    }
    if (setting == "trainer.plugins.grad_reduce_in_fp32") {
      if (literal.text == "False") value.scalar = "True";
      if (literal.text == "False") put("grad_reduce_in_bf16", std::move(value));
      return;
    }
    put(setting, std::move(value));
  }

  void put_text(std::string_view key, std::string text, YamlNode value) {
    value.scalar = std::move(text);
    put(key, std::move(value));
  }

  void add_unknown(std::string_view setting, std::string reason, const YamlNode& place) {
    if (flags_.unknown.size() < kMaxSettings)
      flags_.unknown.push_back({name_setting(setting), std::move(reason), place});
  }

  void drop(std::string_view key) {
    std::erase_if(flags_.map.entries,
                  [&](const YamlEntry& entry) { return entry.key.scalar == key; });
  }

  void put(std::string_view key, YamlNode value) {
    drop(key);
    YamlEntry entry{value, std::move(value)};
    entry.key.scalar = key;
    if (flags_.map.entries.size() < kMaxSettings) flags_.map.entries.push_back(std::move(entry));
  }

  using Calls = std::map<std::string, CallSettings, std::less<>>;

  ScriptFlags& flags_;
  std::string_view text_;  // of the whole program, without comments
  const ShellInput& input_;
  PythonScope scope_{};
  Calls calls_{}, returned_{};  // by the names that were assigned them, and by function
  std::string function_{};      // that is read; empty for the module
  std::map<std::string, std::string, std::less<>> aliases_{};  // of sections
  std::vector<Block> blocks_{};
  bool adapts_ = false;       // adapters of the usual rank are assumed
  mutable int searches_ = 0;  // for what calls pass to parameters
};

}  // namespace

bool is_bridge_program(std::string_view file, std::string_view text) {
  const auto has = [&](std::string_view mark) { return text.find(mark) != std::string_view::npos; };
  if (!file.ends_with(".py")) return false;
  if (has("megatron.bridge") &&
      (has(".train.micro_batch_size =") || has(".train.global_batch_size =") ||
       (has("megatron.bridge.recipes") && (has("pretrain(") || has("finetune(")))))
    return true;
  return has("nemo.collections") && (has(kPretrain) || has(kFinetune) || has("MegatronStrategy") ||
                                     (has(kPretrainPart) && has(kPartial)));
}

ScriptFlags read_bridge_program(std::string_view text, const ShellInput& input,
                                Diagnostics& findings) {
  ScriptFlags flags;
  const std::string plain = blank_python_comments(std::string(text));
  ProgramReader reader(flags, plain, input);
  bool complete = false;
  const std::vector<PythonStatement> statements = split_statements(plain);
  for (const PythonStatement& statement : statements)
    if (statement.indent == 0) reader.add_constant(statement.text);
  for (const PythonStatement& statement : statements) reader.add_option(statement.text);
  for (const PythonStatement& statement : statements) {
    if (!complete) {
      complete = reader.add(statement);
      continue;
    }
    const std::optional<Assignment> one = parse_assignment(statement.text);
    if (!one || find_setting(one->name).empty()) continue;
    findings.push_back(make_assumption("the file has several configs: using the first", "",
                                       {.file = input.file, .line = statement.line}));
    break;
  }
  if (flags.recipe_name.empty() && reader.add_partial_recipe())
    findings.push_back(
        make_assumption("the file has several recipes: using the first", "", {.file = input.file}));
  if (flags.recipe_name.empty()) {
    if (plain.find("nemo.collections") != std::string::npos)
      reader.add_nemo_calls();
    else
      flags.recipe_name = "of this program";
  }
  if (reader.assumes_adapters())
    findings.push_back(
        make_assumption("adapters of rank 8 on all linear layers, as most recipes "
                        "of NeMo have",
                        "set recipe.peft.dim", {.file = input.file}));
  return flags;
}

}  // namespace rankwright::importer
