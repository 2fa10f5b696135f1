#include "rankwright/import/recipe/trainer_program.h"

#include <algorithm>

#include "rankwright/base/trim.h"
#include "rankwright/import/syntax/python_calls.h"
#include "rankwright/import/syntax/python_text.h"

namespace rankwright::importer {
namespace {

constexpr std::size_t kMaxCode = 1 << 20;  // bytes of the program and its modules

/// Returns whether a name that a program imports may hold its arguments or run its training.
bool is_of_training(std::string_view name) {
  const auto ends = [&](std::string_view end) { return name.ends_with(end); };
  return name == "train" || name == "main" || ends("Arguments") || ends("Args") ||
         ends("arguments") || ends("args") || ends("_arg") || ends("Params") || ends("CONFIG");
}

/// A module that a program imports from: "from .arguments import ModelArguments, TrainArguments".
struct ImportedModule {
  std::string_view module;
  bool of_training;
};
std::optional<ImportedModule> parse_import(std::string_view statement) {
  constexpr std::string_view kFrom = "from ", kImport = " import ";
  const std::size_t at = statement.find(kImport);
  if (!statement.starts_with(kFrom) || at == std::string_view::npos) return std::nullopt;
  ImportedModule found{trim(statement.substr(kFrom.size(), at - kFrom.size())), false};
  std::string_view names = statement.substr(at + kImport.size());
  while (!names.empty()) {
    const std::size_t end = std::min(names.find_first_of(",() \n"), names.size());
    found.of_training |= is_of_training(names.substr(0, end));
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return found;
}

/// Returns the classes of arguments that a program parses, with those that they extend:
/// `HfArgumentParser((ModelArguments, TrainingArguments))`. Empty if it names none.
std::set<std::string_view> list_parsed_classes(std::string_view code,
                                               const std::vector<PythonStatement>& statements) {
  constexpr std::size_t kMaxClasses = 64;
  std::set<std::string_view> classes;
  const auto add = [&](std::string_view names) {
    for (const std::string_view one : split_arguments(names))
      if (const std::string_view name = trim(one);
          is_dotted_name(name) && classes.size() < kMaxClasses)
        classes.insert(name);
  };
  for (const char* const parser : {"HfArgumentParser", "TrlParser", "H4ArgumentParser"}) {
    std::string_view call = trim(find_python_call(code, parser));
    if (call.starts_with('(') || call.starts_with('[')) call.remove_prefix(1);
    add(call);
  }
  const std::set<std::string_view> named = classes;
  for (const PythonStatement& statement : statements) {  // bases stand before or after
    constexpr std::string_view kClass = "class ";
    if (!statement.text.starts_with(kClass)) continue;
    const std::string_view rest = statement.text.substr(kClass.size());
    const std::size_t open = rest.find('(');
    if (open != std::string_view::npos && named.contains(trim(rest.substr(0, open))))
      add(rest.substr(open + 1));
  }
  return classes;
}

constexpr int kMaxItemSteps = 4;

/// Returns the argument of a cast: "x" for "int(x)".
std::string_view unwrap_cast(std::string_view expression) {
  for (const std::string_view cast : {"int(", "float(", "str(", "bool("})
    if (expression.starts_with(cast) && expression.ends_with(')'))
      return trim(expression.substr(cast.size(), expression.size() - cast.size() - 1));
  return expression;
}

/// Returns the value of a key of `{"a": 1}` or `dict(a=1)`; empty if it has none.
std::string_view find_dict_item(std::string_view map, std::string_view key) {
  const bool call = !map.starts_with('{');
  for (const std::string_view item : split_arguments(map.substr(call ? map.find('(') + 1 : 1))) {
    if (call) {
      if (const PythonArgument one = parse_argument(item); one.name == key) return one.value;
      continue;
    }
    const std::size_t colon = item.find(':');
    if (colon != std::string_view::npos && read_literal(trim(item.substr(0, colon))) == key)
      return trim(item.substr(colon + 1));
  }
  return {};
}

bool is_truth(std::string_view value) {
  return value != "False" && value != "false" && value != "None" && value != "0" && !value.empty();
}

/// The formats of PyTorch, as flags name them.
struct TorchFormat {
  std::string_view expression, word;
};
constexpr TorchFormat kFormats[] = {
    {"torch.bfloat16", "bfloat16"}, {"torch.float16", "float16"}, {"torch.half", "float16"},
    {"torch.float32", "float32"},   {"torch.float", "float32"},
};

}  // namespace

std::string find_module_file(std::string_view module) {
  std::string file(module);
  std::replace(file.begin(), file.end(), '.', '/');
  return file + ".py";
}

std::optional<TrainerProgram> TrainerProgram::read(const ScriptFlags& flags,
                                                   const std::string& script,
                                                   const FileReader& files) {
  constexpr std::size_t kMaxModules = 4;
  TrainerProgram program;
  program.name_ = flags.program_file.empty() ? flags.module : flags.program_file;
  if (program.name_.empty()) return std::nullopt;
  const bool file = program.name_.ends_with(".py");
  const std::string path = file ? program.name_ : find_module_file(program.name_);
  const Result<std::string> text = read_named_config(files, script, path);  // or beside the script
  if (!text || text->size() > kMaxCode) return std::nullopt;
  program.code_ = blank_python_comments(*text);
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  // The text of a module is appended, so that its own imports follow.
  std::set<std::string, std::less<>> modules;
  for (std::size_t at = 0; at < program.code_.size() && modules.size() < kMaxModules;) {
    const std::string code = program.code_.substr(at);
    at += code.size();
    for (const PythonStatement& statement : split_statements(code)) {
      const std::optional<ImportedModule> found = parse_import(statement.text);
      if (!found || !found->of_training || modules.size() >= kMaxModules) continue;
      if (modules.emplace(found->module).second)
        program.add_module(files, script, folder, found->module);
    }
  }
  program.list_assigned();
  program.list_defaults();
  program.drop_branches(flags);
  program.list_assigned();  // without those of branches that do not run
  program.read_config(flags, script, files);
  return program;
}

void TrainerProgram::add_module(const FileReader& files, const std::string& script,
                                std::string_view folder, std::string_view module) {
  constexpr std::string_view kLibraries[] = {"transformers", "trl", "peft", "torch", "accelerate"};
  const std::string_view root = module.substr(0, module.find('.'));
  if (std::find(std::begin(kLibraries), std::end(kLibraries), root) != std::end(kLibraries)) return;
  while (module.starts_with('.')) module.remove_prefix(1);
  if (!is_dotted_name(module)) return;
  const std::string file = find_module_file(module);
  Result<std::string> text = read_named_file(files, script, std::string(folder) + file);
  if (!text) text = read_named_file(files, script, file);
  if (text && code_.size() + text->size() <= kMaxCode) code_ += "\n" + blank_python_comments(*text);
}

void TrainerProgram::list_defaults() {
  constexpr std::string_view kOption = ".add_argument(";
  constexpr std::size_t kMaxDefaults = 1000;
  std::optional<std::size_t> class_indent;  // of a class whose fields are options
  bool decorated = false;
  const auto add = [&](std::string_view name, std::string_view value, bool evaluated = false) {
    const std::optional<std::string> literal =
        evaluated ? std::optional(std::string(value)) : read_literal(value);
    if (literal && is_truth(*literal) && defaults_.size() < kMaxDefaults)
      defaults_.emplace(name, *literal);
    if (value == "False" && off_.size() < kMaxDefaults) off_.emplace(name);
  };
  const std::vector<PythonStatement> statements = split_statements(code_);
  const std::set<std::string_view> parsed = list_parsed_classes(code_, statements);
  parsed_.insert(parsed.begin(), parsed.end());
  const auto is_parsed = [&](std::string_view definition) {
    constexpr std::string_view kClass = "class ";
    const std::string_view rest = definition.substr(kClass.size());
    return parsed.empty() || parsed.contains(trim(rest.substr(0, rest.find_first_of("(:"))));
  };
  for (const PythonStatement& statement : statements) {
    if (class_indent && statement.indent <= *class_indent) class_indent.reset();
    if (const std::size_t at = statement.text.find(kOption); at != std::string_view::npos) {
      const std::string_view arguments = statement.text.substr(at + kOption.size());
      const std::vector<PythonArgument> named = list_named_arguments(arguments);
      std::string_view value = find_argument(named, "default");
      if (value.empty() && read_literal(find_argument(named, "action")) == "store_true")
        value = "False";
      const std::optional<std::string> item =
          read_literal(value) ? std::nullopt : resolve({}, value, kMaxItemSteps);
      if (item) value = *item;
      for (const std::string_view one : split_arguments(arguments))
        if (const std::optional<std::string> flag = read_literal(one);
            flag && flag->starts_with("--")) {
          std::string name = flag->substr(2);
          std::replace(name.begin(), name.end(), '-', '_');
          add(name, value, item.has_value());
        }
    } else if (statement.text.starts_with("class ")) {
      const bool extends = statement.text.find("Arguments)") != std::string_view::npos ||
                           statement.text.find("Config)") != std::string_view::npos;
      if ((decorated || extends) && is_parsed(statement.text)) class_indent = statement.indent;
    } else if (class_indent) {
      const PythonArgument field = parse_argument(statement.text);
      const bool typed = statement.text.substr(field.name.size()).find(':') <
                         statement.text.substr(field.name.size()).find('=');
      if (!field.name.empty() && is_dotted_name(field.name) && typed) {
        constexpr std::string_view kField = "field(";
        const bool described = field.value.starts_with(kField);
        const std::vector<PythonArgument> named =
            list_named_arguments(described ? field.value.substr(kField.size()) : "");
        std::string_view factory = find_argument(named, "default_factory");
        constexpr std::string_view kLambda = "lambda:";
        if (factory.starts_with(kLambda)) factory = trim(factory.substr(kLambda.size()));
        if (const std::string names = read_names(factory);
            factory.starts_with('[') && !names.empty())
          add(field.name, names, true);
        else
          add(field.name, described ? find_argument(named, "default") : field.value);
      }
    }
    decorated = statement.text.starts_with("@dataclass");
  }
}

void TrainerProgram::list_assigned() {
  constexpr std::size_t kMaxNames = 5000;
  assigned_.clear();
  for (const PythonStatement& statement : split_statements(code_))
    if (const PythonArgument one = parse_argument(statement.text);
        is_dotted_name(one.name) && !one.value.empty() && assigned_.size() < kMaxNames)
      assigned_.emplace(one.name, one.value);
}

void TrainerProgram::read_config(const ScriptFlags& flags, const std::string& script,
                                 const FileReader& files) {
  constexpr std::string_view kLoaders[] = {"yaml.safe_load", "yaml.load", "OmegaConf.load",
                                           "json.load(", "YAML("};
  constexpr std::size_t kMaxFiles = 4;
  if (std::none_of(std::begin(kLoaders), std::end(kLoaders), [&](std::string_view loader) {
        return code_.find(loader) != std::string::npos;
      }))
    return;
  std::vector<std::string> names;
  const auto add = [&](std::string_view name) {
    const bool file = is_yaml_file(name) || name.ends_with(".json");
    if (file && names.size() < kMaxFiles) names.emplace_back(name);
  };
  for (const YamlEntry& flag : flags.map.entries)
    if (flag.key.scalar.find("config") != std::string::npos) add(flag.value.scalar);
  for (const auto& [name, value] : defaults_)
    if (name.find("config") != std::string::npos) add(value);
  for (std::size_t at = code_.find_first_of("\"'"); at != std::string::npos;) {
    const std::size_t end = code_.find(code_[at], at + 1);
    if (end == std::string::npos) break;
    add(std::string_view(code_).substr(at + 1, end - at - 1));
    at = code_.find_first_of("\"'", end + 1);
  }
  for (const std::string& name : names) {
    const Result<std::string> text = read_named_config(files, script, name);
    Diagnostics ignored;
    Result<YamlNode> root =
        text ? read_python_yaml(*text, name, ignored) : Result<YamlNode>(fail(text.error()));
    if (!root || root->kind != YamlNode::Kind::map) continue;
    config_ = std::move(*root);
    return;
  }
}

std::optional<std::string> TrainerProgram::find_item(const ScriptFlags& flags,
                                                     std::string_view expression, int depth) const {
  constexpr std::string_view kGet = ".get(", kDict = "dict(";
  std::vector<std::string> path;
  std::string_view fallback;
  for (int step = 0; step < kMaxItemSteps; ++step) {
    // The names and keys in front of the last key come first.
    std::vector<std::string> keys;
    const std::size_t first = std::min(expression.find('['), expression.find(kGet));
    if (first == std::string_view::npos) return std::nullopt;
    const std::string_view base = trim(expression.substr(0, first));
    if (!is_dotted_name(base)) return std::nullopt;
    std::string_view rest = expression.substr(first);
    while (!rest.empty()) {
      const bool get = rest.starts_with(kGet);
      if (!get && !rest.starts_with('[')) return std::nullopt;
      const std::size_t close = rest.find(get ? ')' : ']');
      if (close == std::string_view::npos) return std::nullopt;
      const std::size_t open = get ? kGet.size() : 1;
      const std::vector<std::string_view> parts =
          split_arguments(rest.substr(open, close + 1 - open));
      const std::optional<std::string> key =
          parts.empty() ? std::nullopt : read_literal(trim(parts[0]));
      if (!key) return std::nullopt;
      if (parts.size() > 1) fallback = trim(parts[1]);
      keys.push_back(*key);
      rest = trim(rest.substr(close + 1));
    }
    path.insert(path.begin(), keys.begin(), keys.end());
    const auto statement = assigned_.find(base);
    const std::string_view made =
        statement == assigned_.end() ? std::string_view() : std::string_view(statement->second);
    if (made.starts_with('{') || made.starts_with(kDict)) {
      const std::string_view value = find_dict_item(made, path.front());
      if (path.size() == 1 && !value.empty()) return resolve(flags, value, depth - 1);
      break;
    }
    const bool part =
        made.find('[') != std::string_view::npos || made.find(kGet) != std::string_view::npos;
    if (!part || made == expression) break;
    expression = made;
  }
  // Functions pass parts of the config on: the longest end of the path that is there counts.
  for (std::size_t skipped = 0; skipped < path.size(); ++skipped) {
    const YamlNode* node = &config_;
    for (std::size_t i = skipped; i < path.size() && node != nullptr; ++i)
      node = node->find(path[i]);
    if (node != nullptr && node->kind == YamlNode::Kind::scalar) return node->scalar;
  }
  if (path.size() == 1)  // of a part that a function takes as its parameter
    for (const YamlEntry& section : config_.entries)
      if (const YamlNode* const node = section.value.find(path[0]);
          node != nullptr && node->kind == YamlNode::Kind::scalar)
        return node->scalar;
  return fallback.empty() ? std::nullopt : resolve(flags, fallback, depth - 1);
}

std::string_view TrainerProgram::find_passed(std::string_view parameter) const {
  constexpr std::string_view kDef = "def ";
  for (const PythonStatement& statement : split_statements(code_)) {
    if (!statement.text.starts_with(kDef)) continue;
    const std::size_t open = statement.text.find('(');
    if (open == std::string_view::npos) continue;
    const std::vector<std::string_view> parameters =
        split_arguments(statement.text.substr(open + 1));
    std::size_t position = 0;
    while (position < parameters.size()) {
      const std::string_view one = parameters[position];
      if (trim(one.substr(0, one.find_first_of(":="))) == parameter) break;
      ++position;
    }
    if (position == parameters.size()) continue;
    const std::string_view function = trim(statement.text.substr(kDef.size(), open - kDef.size()));
    const std::string defined = "def " + std::string(function);
    std::string_view code = code_;
    for (std::string_view call = find_python_call(code, function); !call.empty();
         call = find_python_call(code, function)) {
      const std::size_t at = std::size_t(call.data() - code_.data()) - 1;  // of the bracket
      code = std::string_view(code_).substr(at + 1);
      if (std::string_view(code_).substr(0, at).ends_with(defined)) continue;
      if (const std::string_view named = find_argument(list_named_arguments(call), parameter);
          !named.empty())
        return named;
      const std::vector<std::string_view> arguments = split_arguments(call);
      if (position < arguments.size() && parse_argument(arguments[position]).name.empty())
        return trim(arguments[position]);
    }
  }
  return {};
}

void TrainerProgram::drop_branches(const ScriptFlags& flags) {
  struct Chain {
    std::size_t indent;
    bool taken;  // a branch before is known to run
    bool sure;   // all conditions before are known
  };
  constexpr int kMaxDepth = 4;
  std::vector<Chain> chains;
  std::optional<std::size_t> dropped;  // the indent of the condition whose body does not run
  std::string kept = code_;
  const auto blank = [&](std::string_view text) {
    const std::size_t at = std::size_t(text.data() - code_.data());
    for (std::size_t i = at; i < at + text.size(); ++i)
      if (kept[i] != '\n') kept[i] = ' ';
  };
  for (const PythonStatement& statement : split_statements(code_)) {
    if (dropped && statement.indent > *dropped) {
      blank(statement.text);
      continue;
    }
    dropped.reset();
    while (!chains.empty() && chains.back().indent > statement.indent) chains.pop_back();
    const bool chained = !chains.empty() && chains.back().indent == statement.indent;
    const bool opens = statement.text.starts_with("if ");
    const bool follows = chained && statement.text.starts_with("elif ");
    const bool last = chained && statement.text.starts_with("else:");
    if (!opens && !follows && !last) {
      if (chained) chains.pop_back();
      continue;
    }
    if (!statement.text.ends_with(':')) continue;  // with its body on the same line
    if (opens && chained) chains.pop_back();
    if (opens) chains.push_back({statement.indent, false, true});
    Chain& chain = chains.back();
    const std::size_t word = opens ? 3 : 5;
    const std::optional<bool> holds =
        last
            ? std::optional(true)
            : test(flags, statement.text.substr(word, statement.text.size() - word - 1), kMaxDepth);
    if (chain.taken || holds == false) {
      dropped = statement.indent;
      if (chain.sure) blank(statement.text);
    } else if (holds && chain.sure) {
      blank(statement.text);  // what runs in any case is under no condition
      chain.taken = true;
    }
    chain.sure = chain.sure && holds.has_value();
  }
  code_ = std::move(kept);
}

std::optional<bool> TrainerProgram::test(const ScriptFlags& flags, std::string_view condition,
                                         int depth) const {
  constexpr std::string_view kOr = " or ", kAnd = " and ", kNot = "not ";
  condition = trim(condition);
  if (depth == 0 || condition.empty()) return std::nullopt;
  for (const std::string_view word : {kOr, kAnd}) {
    const std::size_t at = condition.find(word);
    if (at == std::string_view::npos) continue;
    const std::optional<bool> first = test(flags, condition.substr(0, at), depth - 1);
    const std::optional<bool> second = test(flags, condition.substr(at + word.size()), depth - 1);
    const bool decides = word == kOr;  // the value of one part that decides the whole
    if (first == decides || second == decides) return decides;
    return first && second ? std::optional(!decides) : std::nullopt;
  }
  if (condition.starts_with(kNot)) {
    const std::optional<bool> value = test(flags, condition.substr(kNot.size()), depth - 1);
    return value ? std::optional(!*value) : std::nullopt;
  }
  if (condition.find_first_of("([") != std::string_view::npos) return std::nullopt;
  for (const std::string_view equal : {" == ", " != "}) {
    const std::size_t at = condition.find(equal);
    if (at == std::string_view::npos) continue;
    const std::optional<std::string> left = find_option(flags, condition.substr(0, at));
    const std::optional<std::string> right =
        read_literal(trim(condition.substr(at + equal.size())));
    if (!left || !right) return std::nullopt;
    return (*left == *right) == (equal == " == ");
  }
  const std::optional<std::string> value = find_option(flags, condition);
  return value ? std::optional(is_truth(*value)) : std::nullopt;
}

std::optional<std::string> TrainerProgram::find_option(const ScriptFlags& flags,
                                                       std::string_view expression) const {
  expression = trim(expression);
  if (!is_dotted_name(expression)) return std::nullopt;
  const std::size_t dot = expression.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const std::string_view name = expression.substr(dot + 1);
  const bool unknown = std::any_of(flags.unknown.begin(), flags.unknown.end(),
                                   [&](const auto& one) { return one.flag == name; });
  if (unknown) return std::nullopt;
  if (const YamlNode* const stated = flags.map.find(name)) return stated->scalar;
  if (const auto found = defaults_.find(name); found != defaults_.end()) return found->second;
  return off_.contains(name) ? std::optional<std::string>("False") : std::nullopt;
}

std::optional<std::string> TrainerProgram::resolve(const ScriptFlags& flags,
                                                   std::string_view expression) const {
  constexpr int kMaxDepth = 4;
  return resolve(flags, expression, kMaxDepth);
}

std::optional<std::string> TrainerProgram::resolve(const ScriptFlags& flags,
                                                   std::string_view expression, int depth) const {
  expression = trim(expression);
  while (expression.size() > 1 && expression.front() == '(' && expression.back() == ')')
    expression = trim(expression.substr(1, expression.size() - 2));
  expression = unwrap_cast(expression);
  if (expression.empty() || depth == 0) return std::nullopt;
  if (std::optional<std::string> literal = read_literal(expression)) return literal;
  for (const TorchFormat& row : kFormats)
    if (row.expression == expression) return std::string(row.word);
  constexpr std::string_view kIf = " if ", kElse = " else ", kNot = "not ";
  const std::size_t condition = expression.find(kIf);
  const std::size_t other = expression.find(kElse);
  if (condition != std::string_view::npos && other != std::string_view::npos && condition < other) {
    const std::string_view tested =
        expression.substr(condition + kIf.size(), other - condition - kIf.size());
    const std::optional<std::string> holds = resolve(flags, tested, depth - 1);
    if (!holds) return std::nullopt;
    return resolve(flags,
                   is_truth(*holds) ? expression.substr(0, condition)
                                    : expression.substr(other + kElse.size()),
                   depth - 1);
  }
  if (expression.starts_with(kNot)) {
    const std::optional<std::string> value =
        resolve(flags, expression.substr(kNot.size()), depth - 1);
    return value ? std::optional<std::string>(is_truth(*value) ? "False" : "True") : std::nullopt;
  }
  // The GPUs that large models are trained on support it.
  if (expression.find("bf16_supported(") != std::string_view::npos ||
      expression.find("bfloat16_supported(") != std::string_view::npos)
    return "True";
  constexpr std::string_view kArithmetic = "0123456789+-*/() ";
  if (expression.find_first_not_of(kArithmetic) == std::string_view::npos) {
    const std::optional<PythonValue> value = PythonScope().find(expression);
    return value ? std::optional(value->text) : std::nullopt;
  }
  if (!is_dotted_name(expression)) return find_item(flags, expression, depth);
  const std::string_view name = expression.substr(expression.rfind('.') + 1);
  if (const YamlNode* const stated = flags.map.find(name)) return stated->scalar;
  for (const ScriptFlags::Unknown& one : flags.unknown)
    if (one.flag == name) return std::nullopt;
  if (const auto found = defaults_.find(name); found != defaults_.end()) return found->second;
  const bool option = name.size() != expression.size();
  if (option) {
    // An option without a default, or one that is off.
    constexpr std::string_view kSwitches[] = {"bf16", "fp16"};
    const auto owner = assigned_.find(expression.substr(0, expression.rfind('.')));
    if (owner != assigned_.end() && owner->second.find("Config(") != std::string::npos)
      if (const std::string_view given = find_argument(
              list_named_arguments(
                  std::string_view(owner->second).substr(owner->second.find('(') + 1)),
              name);
          !given.empty())
        return resolve(flags, given, depth - 1);
    for (std::size_t dot = expression.find('.'); dot != std::string_view::npos;
         dot = expression.find('.', dot + 1))
      if (const YamlNode* const node = find_path(config_, expression.substr(dot + 1));
          node != nullptr && node->kind == YamlNode::Kind::scalar)
        return node->scalar;
    const bool off = off_.contains(name) || std::find(std::begin(kSwitches), std::end(kSwitches),
                                                      name) != std::end(kSwitches);
    return off ? std::optional<std::string>("False") : std::nullopt;
  }
  const auto statement = assigned_.find(name);
  const std::string_view assigned = statement != assigned_.end()
                                        ? std::string_view(statement->second)
                                        : find_assigned(code_, name);
  if (!assigned.empty()) return resolve(flags, assigned, depth - 1);
  const std::string_view passed = find_passed(name);
  return passed.empty() || passed == name ? std::nullopt : resolve(flags, passed, depth - 1);
}

}  // namespace rankwright::importer
