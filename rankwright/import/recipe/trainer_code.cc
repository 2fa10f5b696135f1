// Settings that only the code of a training program states: its adapters, and settings of its own
// that no table knows.
#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/base/quantity.h"
#include "rankwright/base/trim.h"
#include "rankwright/import/framework/unknown_keys.h"
#include "rankwright/import/recipe/python_text.h"
#include "rankwright/import/recipe/trainer_parts.h"
#include "rankwright/import/syntax/shell_evaluator.h"

namespace rankwright::importer {
namespace {

/// Flags that decide whether a program trains adapters, whatever its code has.
constexpr std::string_view kAdapterFlags[] = {"lora", "peft", "adapter", "finetuning_type",
                                              "train_type"};

/// Returns the offset behind a word of its own; npos if the text has none.
std::size_t find_behind(std::string_view text, std::string_view word, std::size_t from = 0) {
  for (std::size_t at = text.find(word, from); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool begins = at == 0 || !shell::is_name(text[at - 1]);
    if (begins && (end >= text.size() || !shell::is_name(text[end]))) return end;
  }
  return std::string_view::npos;
}

/// Returns the value that a program assigns to a name, or has as the default of a parameter:
/// `lora_r: int = 8`. Empty if there is none.
std::string_view find_assigned(std::string_view code, std::string_view name) {
  for (std::size_t at = find_behind(code, name); at != std::string_view::npos;
       at = find_behind(code, name, at)) {
    std::string_view rest = trim(code.substr(at, code.find('\n', at) - at));
    if (rest.starts_with(": int")) rest = trim(rest.substr(5));
    if (!rest.starts_with('=') || rest.starts_with("==")) continue;
    return trim(rest.substr(1, rest.find_first_of(",)", 1) - 1));
  }
  return {};
}

/// Returns the named arguments at the beginning of a text, up to the end of their call.
std::vector<PythonArgument> list_arguments(std::string_view text) {
  std::vector<PythonArgument> all;
  for (const std::string_view one : split_arguments(text))
    if (const PythonArgument argument = parse_argument(one);
        !argument.name.empty() && !argument.value.empty())
      all.push_back(argument);
  return all;
}

std::string_view find_argument(const std::vector<PythonArgument>& arguments,
                               std::string_view name) {
  const auto found = std::find_if(arguments.begin(), arguments.end(),
                                  [&](const PythonArgument& one) { return one.name == name; });
  return found == arguments.end() ? std::string_view() : found->value;
}

/// Returns whether the code decides by a condition whether there are adapters.
bool has_adapter_condition(std::string_view code) {
  while (!code.empty()) {
    const std::size_t end = std::min(code.find('\n'), code.size());
    const std::string_view line = trim(code.substr(0, end));
    code.remove_prefix(std::min(end + 1, code.size()));
    const std::string words = lower(line);
    const bool condition = line.starts_with("if ") || line.starts_with("elif ") ||
                           line.find(" if ") != std::string_view::npos;
    if (condition &&
        (words.find("lora") != std::string::npos || words.find("peft") != std::string::npos))
      return true;
  }
  return false;
}

/// Joins the names of a list in Python: ["q_proj", "v_proj"]. Empty if it is another expression.
std::string join_names(std::string_view list) {
  std::string names;
  for (const char c : list) {
    if (shell::is_name(c) || c == '-' || c == ',')
      names += c;
    else if (std::string_view("[]\"' \n\t").find(c) == std::string_view::npos)
      return {};
  }
  while (names.ends_with(',')) names.pop_back();
  return names;
}

/// Parts of names that speak of memory or of time: settings with them are named first.
constexpr std::string_view kWeighty[] = {
    "lora",   "adapter", "peft",    "freez",      "froz",   "tune_",  "trainable",
    "bit",    "quant",   "offload", "checkpoint", "dpo",    "expert", "moe",
    "sparse", "vision",  "encoder", "optim",      "fp8",    "fused",  "parallel",
    "batch",  "accum",   "attn",    "attention",  "memory", "length"};

/// Parts of names that speak of data, of files and of logs.
constexpr std::string_view kLight[] = {
    "path",  "dir",   "folder",   "file",      "data",   "eval",   "test",       "valid",
    "log",   "wandb", "prompt",   "image",     "video",  "audio",  "seed",       "save",
    "print", "name",  "template", "tokenizer", "url",    "warmup", "lr",         "rate",
    "decay", "port",  "host",     "key",       "column", "epoch",  "temperature"};

bool has_part(std::string_view name, std::span<const std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) {
    return name.find(part) != std::string_view::npos;
  });
}

/// Names of further models: a role, and how a flag names a model.
constexpr std::string_view kRoles[] = {"reward", "critic",   "reference", "teacher",  "draft",
                                       "value",  "verifier", "diffusion", "assistant"};
constexpr std::string_view kModelEnds[] = {"_model",    "_model_name",   "_model_path",
                                           "_model_id", "_name_or_path", "_pretrained"};

bool names_second_model(std::string_view key) {
  const auto begins = [&](std::string_view role) { return key.starts_with(role); };
  const auto ends = [&](std::string_view end) { return key.ends_with(end); };
  return std::any_of(std::begin(kRoles), std::end(kRoles), begins) &&
         std::any_of(std::begin(kModelEnds), std::end(kModelEnds), ends);
}

/// The classes of arguments that programs construct, and the methods of TRL's.
struct ArgumentsClass {
  std::string_view name, method{};
};
constexpr ArgumentsClass kArgumentsClasses[] = {
    {"GRPOConfig", "grpo"}, {"DPOConfig", "dpo"},         {"ORPOConfig", "orpo"},
    {"SFTConfig"},          {"Seq2SeqTrainingArguments"}, {"TrainingArguments"}};

/// Returns the arguments of the first call of `name`, and what follows; empty if there is none.
std::string_view find_call(std::string_view code, std::string_view name) {
  constexpr std::size_t kLongest = 1 << 14;
  std::size_t at = find_behind(code, name);
  while (at != std::string_view::npos && (at >= code.size() || code[at] != '('))
    at = find_behind(code, name, at);
  return at == std::string_view::npos ? std::string_view() : code.substr(at + 1, kLongest);
}

/// Returns the first class of arguments that a program constructs; nullptr if there is none.
const ArgumentsClass* find_arguments_class(std::string_view code) {
  for (const ArgumentsClass& row : kArgumentsClasses)
    if (!list_arguments(find_call(code, row.name)).empty()) return &row;
  return nullptr;
}

/// Returns the value of a number, a word of Python or a text; nothing for other expressions.
std::optional<std::string> read_literal(std::string_view value) {
  if (value.empty()) return std::nullopt;
  if (value == "True" || value == "False") return std::string(value);
  const char quote = value.front();
  if ((quote == '"' || quote == '\'') && value.size() > 1 && value.back() == quote &&
      value.find(quote, 1) == value.size() - 1)
    return std::string(value.substr(1, value.size() - 2));
  const bool number = value.find_first_not_of("0123456789.e-") == std::string_view::npos;
  return number ? std::optional(std::string(value)) : std::nullopt;
}

/// Adds the adapters of the code, if no flag decides about them.
void add_adapters(ScriptFlags& flags, const std::string& code, const std::string& program,
                  PlanFile& plan) {
  constexpr std::string_view kConfig = "LoraConfig";
  const bool decided =
      std::any_of(flags.map.entries.begin(), flags.map.entries.end(),
                  [](const YamlEntry& entry) { return has_part(entry.key.scalar, kAdapterFlags); });
  if (decided || has_adapter_condition(code)) return;
  const std::vector<PythonArgument> arguments = list_arguments(find_call(code, kConfig));
  std::string_view rank = find_argument(arguments, "r");
  const auto is_number = [](std::string_view value) { return parse_count(value, 1).has_value(); };
  if (!rank.empty() && !is_number(rank)) rank = find_assigned(code, rank);
  if (!is_number(rank)) return;
  const std::string modules = join_names(find_argument(arguments, "target_modules"));
  add_key(flags, "use_lora", "true");
  add_key(flags, "lora_r", rank);
  if (!modules.empty()) add_key(flags, "lora_target_modules", modules);
  for (const char* const bits : {"load_in_4bit", "load_in_8bit"})
    if (!has_key(flags, bits) && find_assigned(code, bits) == "True") add_key(flags, bits, "true");
  plan.findings.push_back(
      make_assumption(fmt::format("adapters of rank {}{}, as {} in {} has them", rank,
                                  modules.empty() ? "" : " on " + make_excerpt(modules), kConfig,
                                  make_path_excerpt(program)),
                      "", {.file = plan.name}));
}

/// Adds the literals that the code gives to a class of arguments, where no flag states them.
void add_arguments(ScriptFlags& flags, const std::string& code, const std::string& program,
                   PlanFile& plan) {
  const ArgumentsClass* const row = find_arguments_class(code);
  if (row == nullptr) return;
  const std::vector<PythonArgument> arguments = list_arguments(find_call(code, row->name));
  std::vector<std::string> added;
  for (const ForeignKey& known : fine_tuning_keys()) {
    const std::optional<std::string> literal = read_literal(find_argument(arguments, known.path));
    if (!literal || has_key(flags, known.path)) continue;
    add_key(flags, known.path, *literal);
    added.push_back(fmt::format("{} {}", known.path, make_excerpt(*literal)));
  }
  if (!row->method.empty() && !has_key(flags, "rl")) add_key(flags, "rl", row->method);
  if (added.empty()) return;
  plan.findings.push_back(
      make_assumption(fmt::format("{}, as {} in {} has them", fmt::join(added, ", "), row->name,
                                  make_path_excerpt(program)),
                      "", {.file = plan.name}));
}

}  // namespace

bool runs_trainer_program(std::string_view text, const std::string& name, const FileReader& files,
                          ShellInput variables) {
  if (text.find(".py") == std::string_view::npos) return false;
  variables.file = name;
  variables.files = files;
  const std::string program = read_script_flags(text, variables).module;
  if (!program.ends_with(".py")) return false;
  const Result<std::string> code = read_named_file(files, name, program);
  return code && find_arguments_class(blank_python_comments(*code)) != nullptr;
}

void add_code_settings(ScriptFlags& flags, const FileReader& files, PlanFile& plan) {
  constexpr std::size_t kLongest = 1 << 20;
  const std::string& program = flags.program_file.empty() ? flags.module : flags.program_file;
  if (!program.ends_with(".py")) return;
  const Result<std::string> text = read_named_file(files, plan.name, program);
  if (!text || text->size() > kLongest) return;
  const std::string code = blank_python_comments(*text);
  add_adapters(flags, code, program, plan);
  add_arguments(flags, code, program, plan);
}

void report_unread_settings(ForeignReading& r, std::span<const ForeignKey> rows) {
  constexpr std::size_t kMaxListed = 16;
  const KnownKeys& known = KnownKeys::find("fine-tuning");
  std::vector<std::string> weighty, others;
  const YamlNode* first = nullptr;
  for (const YamlEntry& entry : r.root.entries) {
    const std::string_view key = entry.key.scalar;
    const bool section = entry.value.kind == YamlNode::Kind::map;
    if (section || has_row(rows, key) || known.contains(key) || is_off(entry.value)) continue;
    const std::string name = lower(key.substr(0, kLongestLabel));
    if (names_second_model(name)) {
      report_left_out(r, entry.value, "only the trained model is counted, without this one");
      continue;
    }
    const bool weighs = has_part(name, kWeighty);
    if (!weighs && has_part(name, kLight)) continue;
    if (first == nullptr) first = &entry.key;
    (weighs ? weighty : others).push_back(fmt::format("{}{}", r.dashes, make_excerpt(key)));
  }
  if (first == nullptr) return;
  weighty.insert(weighty.end(), others.begin(), others.end());
  report_ignored_names(r, *first, weighty, kMaxListed);
}

}  // namespace rankwright::importer
