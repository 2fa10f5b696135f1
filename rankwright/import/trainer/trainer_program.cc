#include "rankwright/import/trainer/trainer_program.h"

#include <fmt/format.h>

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
  const bool loads = name.find("model") != std::string_view::npos &&
                     (name.starts_with("load_") || name.starts_with("get_") ||
                      name.starts_with("build_") || name.starts_with("create_"));
  return loads || name == "train" || name == "main" || ends("Arguments") || ends("Args") ||
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
  // Packages beside that of the program: "training.params" of src/training/train.py.
  for (int above = 0; !text && above < 3 && folder.size() > 1; ++above) {
    folder = folder.substr(0, folder.rfind('/', folder.size() - 2) + 1);
    text = read_named_file(files, script, std::string(folder) + file);
  }
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
          read_literal(value) ? std::nullopt : resolve({}, value);
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
                                           "json.load(",     "YAML(",     "hydra.main("};
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
  // Hydra's config is a name, in a folder beside the program.
  const std::vector<PythonArgument> hydra = list_named_arguments(find_python_call(code_, "main"));
  const std::string folder = read_literal(find_argument(hydra, "config_path")).value_or("");
  std::string config = read_literal(find_argument(hydra, "config_name")).value_or("");
  if (const YamlNode* const named = flags.map.find("config_name")) config = named->scalar;
  if (!config.empty() && (!folder.empty() || flags.map.find("config_name") != nullptr))
    names.push_back(fmt::format("{}{}{}/{}{}", name_.substr(0, name_.rfind('/') + 1), folder,
                                folder.empty() ? "." : "", config,
                                is_yaml_file(config) ? "" : ".yaml"));
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

}  // namespace rankwright::importer
