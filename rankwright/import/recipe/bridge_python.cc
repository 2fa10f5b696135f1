// Reads programs for Megatron-Bridge that assign the settings of a config one by one
// ("cfg.train.global_batch_size = 64"), and those for NeMo 2.0 that change a recipe
// ("recipe.data.global_batch_size = 64"). The text is read line by line and never executed:
// literals, and names that were assigned one, in the first function that has settings. Conditions
// and loops are not followed; what is set in them is left open.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "rankwright/base/format.h"
#include "rankwright/base/trim.h"
#include "rankwright/import/framework/megatron_flags.h"
#include "rankwright/import/framework/recipes.h"
#include "rankwright/import/syntax/lines.h"

namespace rankwright::importer {
namespace {

/// Sections of a config of Megatron-Bridge, and of a recipe of NeMo.
constexpr std::string_view kSections[] = {
    "model",        "train",   "dataset",   "optimizer", "optim",   "ddp", "mixed_precision",
    "comm_overlap", "profile", "tokenizer", "peft",      "trainer", "data"};

/// The functions of a module of NeMo that make a recipe.
constexpr std::string_view kPretrain = ".pretrain_recipe(", kFinetune = ".finetune_recipe(";

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
    {"global_batch_size", "data.global_batch_size"},
    {"micro_batch_size", "data.micro_batch_size"},
};

/// Splits the arguments of a call at the commas outside brackets and texts, up to its end.
std::vector<std::string_view> split_arguments(std::string_view text) {
  constexpr std::size_t kMaxArguments = 100;
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; parts.size() < kMaxArguments;) {
    const std::size_t end = find_outside(text, ",)]}", begin);
    if (end == text.size()) break;
    parts.push_back(trim(text.substr(begin, end - begin)));
    if (text[end] != ',') break;
    begin = end + 1;
  }
  return parts;
}

/// Returns how many parentheses a line opens that it does not close, outside texts.
int count_open(std::string_view text) {
  int open = 0;
  char quote = 0;
  for (const char c : text) {
    if (quote != 0) {
      if (c == quote) quote = 0;
      continue;
    }
    if (c == '"' || c == '\'') quote = c;
    if (c == '(') ++open;
    if (c == ')') --open;
  }
  return open;
}

/// "a.b.c = value", without its comment.
struct Assignment {
  std::size_t indent = 0;
  std::string_view name, value;
  int column = 1;  // of the value
};

std::optional<Assignment> parse_assignment(std::string_view line) {
  const std::size_t indent = line.find_first_not_of(" \t");
  const std::size_t equals = line.find('=');
  if (indent == std::string_view::npos || equals == std::string_view::npos || equals <= indent)
    return std::nullopt;
  if (line.substr(equals).starts_with("==")) return std::nullopt;
  const std::string_view name = trim(line.substr(indent, equals - indent));
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.';
  });
  std::string_view value = line.substr(equals + 1);
  value = trim(value.substr(0, value.find('#')));
  if (!plain || name.empty() || value.empty()) return std::nullopt;
  return Assignment{indent, name, value, int(value.data() - line.data()) + 1};
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

/// Returns the value of a literal: a number, a text or a constant.
std::optional<std::string> parse_literal(std::string_view text) {
  if (text.size() > 1 && (text[0] == '"' || text[0] == '\'') && text.back() == text[0] &&
      text.find(text[0], 1) == text.size() - 1)
    return std::string(text.substr(1, text.size() - 2));
  if (text == "True" || text == "False" || text == "None") return std::string(text);
  std::string number(text);
  std::erase(number, '_');
  const bool plain = !number.empty() && number.find_first_not_of("0123456789") == std::string::npos;
  return plain ? std::optional(std::move(number)) : std::nullopt;
}

/// Reads the lines of a program.
class ProgramReader {
 public:
  explicit ProgramReader(MegatronFlags& flags) : flags_(flags) {
    flags.map.kind = YamlNode::Kind::map;
  }

  /// Returns whether the settings are complete: another function follows.
  bool add(const TextLine& line) {
    const std::string_view text = line.text;
    const std::size_t marks = text.find("\"\"\"");
    if (marks != std::string_view::npos && text.find("\"\"\"", marks + 3) == std::string_view::npos)
      in_text_ = !in_text_;
    if (in_text_) return false;
    if (open_ > 0) {
      add_to_call(text);
      return false;
    }
    if (text.starts_with("def ")) {
      body_ = 0;
      return !flags_.map.entries.empty();
    }
    const std::size_t indent = text.find_first_not_of(" \t\r");
    if (indent == std::string_view::npos || text[indent] == '#') return false;
    if (body_ == 0 && indent > 0) body_ = indent;
    const std::optional<Assignment> one = parse_assignment(text);
    if (one) assign(*one, line.number);
    return false;
  }

  bool assumes_adapters() const { return adapts_; }

 private:
  static constexpr std::size_t kMaxSettings = 1000;

  void assign(const Assignment& one, int line) {
    YamlNode value;
    value.kind = YamlNode::Kind::scalar;
    value.line = line;
    value.column = one.column;
    value.width = int(std::min<std::size_t>(one.value.size(), 100));
    const bool certain = one.indent == 0 || one.indent == body_;
    const std::optional<std::string> literal = find_value(one.value);
    const std::string_view setting = find_setting(one.name);
    const bool makes = one.value.find(kPretrain) != std::string_view::npos ||
                       one.value.find(kFinetune) != std::string_view::npos;
    if (certain && ((setting.empty() && makes) ||
                    (setting == "data" && one.value.find("Config(") != std::string_view::npos))) {
      place_ = value;
      call_ = one.value;
      open_ = count_open(one.value);
      if (open_ <= 0) read_call();
      return;
    }
    if (setting.empty()) {
      if (certain && literal) known_[std::string(one.name)] = *literal;
      return;
    }
    if (setting == "model") return assign_model(one.value, std::move(value));
    if (!certain || !literal) {
      if (flags_.unknown.size() >= kMaxSettings) return;
      flags_.unknown.push_back(
          {name_flag(setting), certain ? "an expression" : "a branch", std::move(value)});
      return;
    }
    value.scalar = *literal;
    if (setting == "peft.dim") {
      adapts_ = false;  // the rank is stated
      return put("lora_rank", std::move(value));
    }
    if (setting == "trainer.plugins.grad_reduce_in_fp32") {
      if (*literal == "False") value.scalar = "True";
      if (*literal == "False") put("grad_reduce_in_bf16", std::move(value));
      return;
    }
    put(setting, std::move(value));
  }

  /// Adds a line to the call that is not closed yet.
  void add_to_call(std::string_view line) {
    constexpr std::size_t kMaxCall = 20000;
    line = line.substr(0, line.find('#'));
    call_ += " ";
    call_ += line;
    open_ += count_open(line);
    if (open_ > 0 && call_.size() < kMaxCall) return;
    open_ = 0;
    read_call();
  }

  /// Reads the arguments of "llm.llama3_8b.pretrain_recipe(...)" and "run.Config(Data, ...)".
  void read_call() {
    const bool tunes = call_.find(kFinetune) != std::string::npos;
    const bool makes = tunes || call_.find(kPretrain) != std::string::npos;
    const std::size_t at = call_.find(tunes ? kFinetune : makes ? kPretrain : "Config(");
    const std::string_view arguments = std::string_view(call_).substr(call_.find('(', at) + 1);
    if (makes) {
      if (!flags_.recipe_name.empty()) return;
      std::string_view module = std::string_view(call_).substr(0, at);
      module.remove_prefix(module.find_last_of(". ") + 1);
      flags_.recipe_name =
          fmt::format("{}.{}", module, tunes ? "finetune_recipe" : "pretrain_recipe");
      put_text("model.hf_model_id", std::string(module));
      put_text("trainer.num_nodes", "1");
    }
    std::optional<std::string> scheme = tunes ? std::optional<std::string>("lora") : std::nullopt;
    for (const std::string_view argument : split_arguments(arguments)) {
      const std::size_t equals = argument.find('=');
      if (equals == std::string_view::npos) continue;
      const std::string_view name = trim(argument.substr(0, equals));
      const std::optional<std::string> literal = find_value(trim(argument.substr(equals + 1)));
      if (name == "peft_scheme" && tunes) scheme = literal;
      for (const RecipeArgument& row : kRecipeArguments) {
        if (row.name != name) continue;
        if (literal) {
          put_text(row.setting, *literal);
          continue;
        }
        drop(row.setting);
        if (flags_.unknown.size() < kMaxSettings)
          flags_.unknown.push_back({name_flag(row.setting), "an expression", place_});
      }
    }
    // The rank is 8 in most recipes, whose adapters are on all linear layers.
    if (scheme && *scheme == "lora") {
      adapts_ = true;
      put_text("lora_rank", "8");
      put_text("target_modules", "linear_qkv linear_proj linear_fc1 linear_fc2");
    }
  }

  void put_text(std::string_view key, std::string text) {
    YamlNode value = place_;
    value.scalar = std::move(text);
    put(key, std::move(value));
  }

  void drop(std::string_view key) {
    std::erase_if(flags_.map.entries,
                  [&](const YamlEntry& entry) { return entry.key.scalar == key; });
  }

  /// "AutoBridge.from_hf_pretrained(NAME)...": the model of a hub.
  void assign_model(std::string_view call, YamlNode value) {
    const std::size_t open = call.find("from_hf_pretrained(");
    if (open == std::string_view::npos) return;
    const std::string_view arguments = call.substr(call.find('(', open) + 1);
    const std::optional<std::string> name =
        find_value(trim(arguments.substr(0, arguments.find_first_of(",)"))));
    if (!name) return;
    value.scalar = *name;
    put("model.hf_model_id", std::move(value));
  }

  std::optional<std::string> find_value(std::string_view text) const {
    const auto named = known_.find(std::string(text));
    return named == known_.end() ? parse_literal(text) : std::optional(named->second);
  }

  void put(std::string_view key, YamlNode value) {
    drop(key);
    YamlEntry entry{value, std::move(value)};
    entry.key.scalar = key;
    if (flags_.map.entries.size() < kMaxSettings) flags_.map.entries.push_back(std::move(entry));
  }

  MegatronFlags& flags_;
  std::map<std::string, std::string> known_{};  // names that were assigned a literal
  std::size_t body_ = 0;                        // indentation of the function
  bool in_text_ = false;
  bool adapts_ = false;  // adapters of the usual rank are assumed
  std::string call_{};   // a call whose arguments are read, as far as it was read
  int open_ = 0;         // brackets of it that are not closed
  YamlNode place_{};     // of it
};

}  // namespace

bool is_bridge_program(std::string_view file, std::string_view text) {
  const auto has = [&](std::string_view mark) { return text.find(mark) != std::string_view::npos; };
  if (!file.ends_with(".py")) return false;
  if (has("megatron.bridge") &&
      (has(".train.micro_batch_size =") || has(".train.global_batch_size =")))
    return true;
  return has("nemo.collections") && (has(kPretrain) || has(kFinetune));
}

MegatronFlags read_bridge_program(std::string_view text, const std::string& file,
                                  Diagnostics& findings) {
  MegatronFlags flags;
  ProgramReader reader(flags);
  bool complete = false;
  for (const TextLine& line : split_lines(text)) {
    if (!complete) {
      complete = reader.add(line);
      continue;
    }
    const std::optional<Assignment> one = parse_assignment(line.text);
    if (!one || find_setting(one->name).empty()) continue;
    findings.push_back(make_assumption("the file has several configs: using the first", "",
                                       {.file = file, .line = line.number}));
    break;
  }
  if (reader.assumes_adapters())
    findings.push_back(
        make_assumption("adapters of rank 8 on all linear layers, as most recipes "
                        "of NeMo have",
                        "set recipe.peft.dim", {.file = file}));
  return flags;
}

}  // namespace rankwright::importer
