// Reads torchtitan's configs of 2026, which are Python functions that return a `Trainer.Config`.
// The text is parsed and never executed: calls with named arguments, numbers, names of functions of
// the same file, and assignments to their fields. One function is read, --set config=NAME selects
// it.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "rankwright/base/format.h"
#include "rankwright/base/quantity.h"
#include "rankwright/base/trim.h"
#include "rankwright/import/framework/recipes.h"
#include "rankwright/import/framework/torchtitan.h"
#include "rankwright/import/framework/torchtitan_facts.h"
#include "rankwright/import/plan/plan_format.h"
#include "rankwright/import/syntax/lines.h"
#include "rankwright/import/syntax/python_text.h"

namespace rankwright::importer {
namespace {

constexpr std::string_view kCallee = "()";     // key of a call's function
constexpr std::string_view kFunction = "(f)";  // key of the function of this file that was called

void set_entry(YamlNode& map, std::string_view key, YamlNode value) {
  map.kind = YamlNode::Kind::map;
  for (YamlEntry& entry : map.entries)
    if (entry.key.scalar == key) {
      entry.value = std::move(value);
      return;
    }
  YamlNode name;
  name.kind = YamlNode::Kind::scalar;
  name.scalar = key;
  name.line = value.line;
  name.column = value.column;
  map.entries.push_back({std::move(name), std::move(value)});
}

/// One file of config functions.
class PythonConfigs {
 public:
  explicit PythonConfigs(std::string_view text) : text_(blank_python_comments(std::string(text))) {
    constexpr std::size_t kMaxFunctions = 500;
    for (std::size_t at = 0; at < text_.size() && functions_.size() < kMaxFunctions;) {
      const std::size_t end = std::min(text_.find('\n', at), text_.size());
      const std::string_view line = std::string_view(text_).substr(at, end - at);
      if (line.starts_with("def ")) {
        const std::string name(trim(line.substr(4, line.find('(') - 4)));
        functions_.push_back({name, find_parameters(at), find_body(end)});
      }
      at = end + 1;
    }
  }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const Function& one : functions_)
      if (one.body.find("Config") != std::string_view::npos ||
          one.body.find("config.") != std::string_view::npos)
        names.push_back(one.name);
    return names;
  }

  /// Returns the value that a function returns; a map for a config.
  YamlNode call(std::string_view name) {
    calls_ = 0;
    return call(name, {}, 0);
  }

 private:
  using Variables = std::map<std::string, YamlNode>;

  struct Function {
    std::string name;
    std::vector<std::string_view> parameters;  // "flavor: str", "size=8"
    std::string_view body;
  };

  /// Returns the parameters of the function that begins at `from`.
  std::vector<std::string_view> find_parameters(std::size_t from) const {
    constexpr std::size_t kMaxParameters = 32;
    const std::size_t open = text_.find('(', from);
    if (open == std::string::npos) return {};
    const std::size_t close = find_outside(text_, ")", open + 1);
    std::string_view rest = tail(open + 1, close);
    std::vector<std::string_view> parameters;
    while (!trim(rest).empty() && parameters.size() < kMaxParameters) {
      const std::size_t end = find_outside(rest, ",");
      const std::string_view one = trim(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (!one.empty() && one != "*") parameters.push_back(one);
    }
    return parameters;
  }

  static std::string name_parameter(std::string_view parameter) {
    return std::string(trim(parameter.substr(0, parameter.find_first_of(":="))));
  }

  /// Binds the arguments of a call to the parameters of a function, and the defaults of others.
  Variables bind(const Function& function, const YamlNode& arguments, Variables& outer, int depth) {
    Variables bound;
    for (std::size_t i = 0; i < function.parameters.size(); ++i) {
      const std::string_view parameter = function.parameters[i];
      const std::string name = name_parameter(parameter);
      const YamlNode* given = arguments.find(name);
      if (given == nullptr) given = arguments.find(std::to_string(i));
      const std::size_t equals = find_outside(parameter, "=");
      if (given != nullptr)
        bound[name] = *given;
      else if (equals < parameter.size())
        bound[name] = evaluate(parameter.substr(equals + 1), outer, depth + 1);
    }
    return bound;
  }

  /// Returns the text up to the next statement at the start of a line. The end of the arguments is
  /// part of it, if they span lines.
  std::string_view find_body(std::size_t from) const {
    std::size_t at = from;
    while (at < text_.size()) {
      const std::size_t next = text_.find('\n', at);
      if (next == std::string::npos || next + 1 >= text_.size()) return tail(from, text_.size());
      const char c = text_[next + 1];
      if (c != ' ' && c != '\t' && c != '\n' && c != '\r' && c != ')') return tail(from, next);
      at = next + 1;
    }
    return {};
  }
  std::string_view tail(std::size_t from, std::size_t to) const {
    return std::string_view(text_).substr(from, to - from);
  }

  YamlNode place(std::string_view slice) const {
    YamlNode node;
    const std::size_t at = std::size_t(slice.data() - text_.data());
    const std::string_view before = std::string_view(text_).substr(0, std::min(at, text_.size()));
    const std::size_t start = before.rfind('\n');
    node.line = int(std::count(before.begin(), before.end(), '\n')) + 1;
    node.column = int(start == std::string_view::npos ? at : at - start - 1) + 1;
    node.width = int(std::clamp<std::size_t>(slice.find('\n'), 1, 80));
    return node;
  }

  YamlNode call(std::string_view name, Variables variables, int depth) {
    constexpr int kMaxDepth = 8;
    constexpr int kMaxCalls = 64;
    const auto found = std::find_if(functions_.begin(), functions_.end(),
                                    [&](const Function& one) { return one.name == name; });
    if (found == functions_.end() || depth > kMaxDepth || ++calls_ > kMaxCalls) return {};
    std::string_view rest = found->body;
    while (!rest.empty()) {
      const std::size_t end = find_outside(rest, "\n");
      const std::string_view line = trim(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (line.starts_with("return ")) return evaluate(line.substr(7), variables, depth);
      const std::size_t equals = find_outside(line, "=");
      if (equals == line.size() || line.substr(equals).starts_with("==")) continue;
      std::string_view target = trim(line.substr(0, equals));
      target = trim(target.substr(0, target.find(':')));
      if (!is_dotted_name(target)) continue;
      assign(variables, target, evaluate(line.substr(equals + 1), variables, depth));
    }
    return {};
  }

  static void assign(Variables& variables, std::string_view target, YamlNode value) {
    constexpr std::size_t kMaxVariables = 200;
    const std::size_t dot = target.find('.');
    const std::string root(target.substr(0, dot));
    if (variables.size() >= kMaxVariables && !variables.contains(root)) return;
    YamlNode* node = &variables[root];
    if (dot == std::string_view::npos) {
      *node = std::move(value);
      return;
    }
    std::string_view path = target.substr(dot + 1);
    while (true) {
      const std::size_t end = path.find('.');
      const std::string_view key = path.substr(0, end);
      if (end == std::string_view::npos) return set_entry(*node, key, std::move(value));
      if (node->find(key) == nullptr || node->find(key)->kind != YamlNode::Kind::map) {
        YamlNode empty = value;
        empty.kind = YamlNode::Kind::map;
        empty.scalar.clear();
        empty.entries.clear();
        set_entry(*node, key, std::move(empty));
      }
      for (YamlEntry& entry : node->entries)
        if (entry.key.scalar == key) node = &entry.value;
      path.remove_prefix(end + 1);
    }
  }

  YamlNode evaluate(std::string_view text, Variables& variables, int depth) {
    constexpr int kMaxNesting = 24;
    text = trim(text);
    YamlNode node = place(text);
    node.kind = YamlNode::Kind::scalar;
    if (text.empty() || depth > kMaxNesting) return node;
    const char quote = text.front();
    if ((quote == '"' || quote == '\'') && text.find(quote, 1) == text.size() - 1) {
      node.scalar = text.substr(1, text.size() - 2);
      return node;
    }
    if (text == "True" || text == "False" || text == "None") {
      node.scalar = text == "None" ? "null" : lower(text);
      return node;
    }
    if (is_dotted_name(text)) {
      const auto found = variables.find(std::string(text));
      if (found != variables.end()) return found->second;
      node.scalar = text;
      return node;
    }
    if (text.front() >= '0' && text.front() <= '9') {
      std::string digits(text);
      std::erase(digits, '_');
      i64 n = 0;
      node.scalar = evaluate_arithmetic(digits, n) ? std::to_string(n) : digits;
      return node;
    }
    const std::size_t open = text.find('(');
    if (open == std::string_view::npos || text.back() != ')' ||
        !is_dotted_name(text.substr(0, open))) {
      constexpr std::size_t kLongest = 2000;
      node.scalar = text.substr(0, kLongest);
      return node;
    }
    return evaluate_call(text.substr(0, open), text.substr(open + 1, text.size() - open - 2),
                         std::move(node), variables, depth);
  }

  YamlNode evaluate_call(std::string_view callee, std::string_view arguments, YamlNode node,
                         Variables& variables, int depth) {
    const auto ours = std::find_if(functions_.begin(), functions_.end(),
                                   [&](const Function& one) { return one.name == callee; });
    node.kind = YamlNode::Kind::map;
    YamlNode name = node;
    name.kind = YamlNode::Kind::scalar;
    name.scalar = callee;
    set_entry(node, kCallee, std::move(name));
    constexpr int kMaxArguments = 200;
    for (int i = 0; !trim(arguments).empty() && i < kMaxArguments; ++i) {
      const std::size_t end = find_outside(arguments, ",");
      const std::string_view one = arguments.substr(0, end);
      arguments.remove_prefix(std::min(end + 1, arguments.size()));
      const std::size_t equals = find_outside(one, "=");
      const bool named = equals < one.size() && is_dotted_name(trim(one.substr(0, equals)));
      set_entry(node, named ? std::string(trim(one.substr(0, equals))) : std::to_string(i),
                evaluate(named ? one.substr(equals + 1) : one, variables, depth + 1));
    }
    if (ours == functions_.end()) return node;
    YamlNode result = call(callee, bind(*ours, node, variables, depth), depth + 1);
    YamlNode function = *node.find(kCallee);
    if (result.kind == YamlNode::Kind::map) set_entry(result, kFunction, std::move(function));
    return result;
  }

  std::string text_;
  std::vector<Function> functions_{};
  int calls_ = 0;
};

/// Copies values of a config to a table of the TOML config.
void copy_to(YamlNode& tree, std::string_view table, std::string_view key, const YamlNode& value) {
  if (value.kind != YamlNode::Kind::scalar || is_null(value)) return;
  YamlNode inner;
  if (const YamlNode* const found = tree.find(table)) inner = *found;
  set_entry(inner, key, value);
  inner.line = value.line;
  inner.column = value.column;
  set_entry(tree, table, std::move(inner));
}

std::optional<i64> number_at(const YamlNode& config, std::string_view path) {
  const YamlNode* const node = find_path(config, path);
  const Result<i64> n = parse_count(node == nullptr ? "" : node->scalar, 1);
  return n ? std::optional(*n) : std::nullopt;
}

/// Batches are stated in sequences, or in tokens.
void copy_training(YamlNode& tree, const YamlNode& config) {
  const YamlNode* const training = find_path(config, "training");
  if (training == nullptr) return;
  for (const char* const key :
       {"local_batch_size", "global_batch_size", "seq_len", "dtype", "mixed_precision_param",
        "mixed_precision_reduce", "enable_cpu_offload"})
    if (const YamlNode* const node = training->find(key)) copy_to(tree, "training", key, *node);
  const std::optional<i64> context = number_at(config, "training.max_context_length");
  if (!context) return;
  constexpr std::pair<const char*, const char*> kTokens[] = {
      {"num_tokens_per_microbatch_per_dp_rank", "local_batch_size"},
      {"num_tokens_per_train_step", "global_batch_size"}};
  copy_to(tree, "training", "seq_len", *training->find("max_context_length"));
  for (const auto& [tokens, sequences] : kTokens) {
    const std::optional<i64> n = number_at(config, fmt::format("training.{}", tokens));
    if (!n) continue;
    YamlNode value = *training->find(tokens);
    value.scalar = std::to_string(std::max<i64>(1, *n / *context));
    copy_to(tree, "training", sequences, value);
  }
}

void copy_recomputation(YamlNode& tree, const YamlNode& config, bool by_class) {
  const YamlNode* const node = find_path(config, "activation_checkpoint");
  YamlNode mode = node == nullptr ? config : *node;
  mode.kind = YamlNode::Kind::scalar;
  mode.entries.clear();
  const YamlNode* const callee = node == nullptr ? nullptr : node->find(kCallee);
  const YamlNode* const stated = node == nullptr ? nullptr : node->find("mode");
  if (stated != nullptr)
    mode.scalar = stated->scalar;
  else if (callee != nullptr && callee->scalar.starts_with("Full"))
    mode.scalar = "full";
  else if (callee != nullptr && callee->scalar.starts_with("MemoryBudget"))
    mode.scalar = "memory_budget";
  else
    mode.scalar = callee == nullptr && by_class ? "none" : "selective";
  copy_to(tree, "activation_checkpoint", "mode", mode);
}

/// The flavor is the argument of model_registry; the family is in the names of function and file.
void copy_model(YamlNode& tree, const YamlNode& config, const std::string& function,
                const std::string& file) {
  const YamlNode* const spec = find_path(config, "model_spec");
  const YamlNode* flavor = spec == nullptr ? nullptr : spec->find("0");
  if (flavor == nullptr && spec != nullptr) flavor = spec->find("flavor");
  if (flavor == nullptr || flavor->kind != YamlNode::Kind::scalar) return;
  if (flavor->scalar.starts_with("flux")) return copy_to(tree, "model", "flavor", *flavor);
  for (const TorchtitanFlavor& one : torchtitan_flavors()) {
    const std::string family(one.name);
    if (function.find(family + "_") == std::string::npos &&
        file.find("/" + family + "/") == std::string::npos)
      continue;
    YamlNode name = *flavor;
    name.scalar = family;
    copy_to(tree, "model", "name", name);
    copy_to(tree, "model", "flavor", *flavor);
    break;
  }
}

/// Returns the converters of a config, which are an argument of the model or a setting of their
/// own; nullptr if there are none.
const YamlNode* find_converters(const YamlNode& config) {
  for (const char* const path : {"model_spec.converters", "model_converters.converters"})
    if (const YamlNode* const node = find_path(config, path); node && node->scalar.size() > 2)
      return node;
  return nullptr;
}

void copy_converters(YamlNode& tree, const YamlNode& config) {
  const YamlNode* const converters = find_converters(config);
  if (converters == nullptr) return;
  const auto has = [&](std::string_view word) {
    return converters->scalar.find(word) != std::string::npos;
  };
  YamlNode format = *converters;
  format.scalar = has("MXFP8") ? "mx" : has("Float8") ? "float8" : has("LoRA") ? "" : "other";
  copy_to(tree, "model", "converters", format);
}

/// Sets the rank of a converter that trains adapters: "LoRAConverter.Config(rank=8)".
void read_lora_converter(Draft& draft, const YamlNode& config) {
  constexpr i64 kUsualRank = 8;
  constexpr std::string_view kRank = "rank=";
  const YamlNode* const converters = find_converters(config);
  const std::size_t lora =
      converters == nullptr ? std::string::npos : converters->scalar.find("LoRA");
  if (lora == std::string::npos) return;
  draft.lora_rank = kUsualRank;
  const std::size_t at = converters->scalar.find(kRank, lora);
  if (at == std::string::npos) return;
  const std::string_view digits = std::string_view(converters->scalar).substr(at + kRank.size());
  const Result<i64> n = parse_count(digits.substr(0, digits.find_first_not_of("0123456789")), 1);
  if (n && *n <= kMaxLoraRank) draft.lora_rank = *n;
}

/// The optimizer is named, or its function is ("_muon_optimizer(...)").
void copy_optimizer(YamlNode& tree, const YamlNode& config) {
  if (const YamlNode* const node = find_path(config, "optimizer.name"))
    return copy_to(tree, "optimizer", "name", *node);
  const YamlNode* const optimizer = find_path(config, "optimizer");
  if (optimizer == nullptr) return;
  for (const std::string_view key : {kFunction, kCallee})
    if (const YamlNode* const node = optimizer->find(key);
        node != nullptr && lower(node->scalar).find("muon") != std::string::npos)
      return copy_to(tree, "optimizer", "name", *node);
}

/// Returns the config of the trainer: that of reinforcement learning is part of another.
const YamlNode& find_trainer(const YamlNode& config) {
  const YamlNode* const trainer = find_path(config, "trainer");
  const bool nested = find_path(config, "training") == nullptr && trainer != nullptr &&
                      find_path(*trainer, "training") != nullptr;
  return nested ? *trainer : config;
}

/// Returns the first call of a function in the arguments of a config; nullptr if there is none.
const YamlNode* find_call(const YamlNode& config, std::string_view function, int depth = 0) {
  constexpr int kMaxDepth = 24;
  const YamlNode* const callee = config.find(kCallee);
  if (callee != nullptr && callee->scalar == function) return &config;
  for (const YamlEntry& entry : config.entries)
    if (depth < kMaxDepth)
      if (const YamlNode* const found = find_call(entry.value, function, depth + 1)) return found;
  return nullptr;
}

/// The backend of transformers names a model on a hub; its flavors for tests are smaller.
void copy_hub_model(YamlNode& tree, const YamlNode& config, const std::string& function) {
  const YamlNode* const hub = find_path(config, "hf_model");
  if (hub == nullptr || find_path(tree, "model.flavor") != nullptr ||
      function.find("debug") != std::string::npos)
    return;
  copy_to(tree, "model", "name", *hub);
}

/// Returns the first function that returns a config, other than those for tests; empty if there is
/// none.
std::string choose_function(PythonConfigs& configs, const std::vector<std::string>& names) {
  std::string first;
  for (const std::string& name : names) {
    if (name.starts_with("_") || find_path(find_trainer(configs.call(name)), "training") == nullptr)
      continue;
    if (name.find("debug") == std::string::npos) return name;
    if (first.empty()) first = name;
  }
  return first;
}

/// Returns the settings of the config `whole`, which the function `name` of `file` returns, as the
/// tables of a TOML config.
YamlNode make_tree(const YamlNode& whole, const std::string& name, std::string_view text,
                   const std::string& file) {
  const YamlNode config = find_trainer(whole);
  YamlNode tree;
  tree.kind = YamlNode::Kind::map;
  copy_training(tree, config);
  const bool responses = find_path(whole, "training") == nullptr;
  if (const YamlNode* const batch = responses ? find_call(whole, "BatchConfig") : nullptr)
    for (const char* const key : {"local_batch_size", "global_batch_size", "seq_len"})
      if (const YamlNode* const node = batch->find(key)) copy_to(tree, "training", key, *node);
  if (const YamlNode* const node = find_path(config, "parallelism"))
    for (const YamlEntry& entry : node->entries)
      if (!entry.key.scalar.starts_with('('))
        copy_to(tree, "parallelism", entry.key.scalar, entry.value);
  copy_recomputation(tree, config, text.find("SelectiveAC") != std::string_view::npos);
  if (const YamlNode* const node = find_path(config, "compile.enable"))
    copy_to(tree, "compile", "enable", *node);
  copy_model(tree, whole, name, file);
  copy_hub_model(tree, config, name);
  copy_converters(tree, whole);
  copy_optimizer(tree, config);
  return tree;
}

}  // namespace

bool claims_torchtitan_python(std::string_view file, std::string_view text) {
  const auto has = [&](std::string_view mark) { return text.find(mark) != std::string_view::npos; };
  return file.ends_with(".py") && has("torchtitan") && has("TrainingConfig(") && has("\ndef ");
}

std::optional<YamlNode> read_torchtitan_function(std::string_view text, const std::string& name,
                                                 const std::string& file) {
  constexpr std::size_t kMaxBytes = 1 << 20;
  if (text.size() > kMaxBytes) return std::nullopt;
  PythonConfigs configs{std::string(text)};
  const YamlNode whole = configs.call(name);
  YamlNode tree = make_tree(whole, name, text, file);
  return tree.find("training") == nullptr ? std::nullopt : std::optional(std::move(tree));
}

void read_torchtitan_python(PlanFile& plan, const FileReader& files) {
  constexpr std::size_t kMaxBytes = 1 << 20;
  if (plan.text.size() > kMaxBytes)
    return plan.findings.push_back({.code = "RW0906",
                                    .message = "the file is too large or too deeply nested",
                                    .detail = "a Python config may have 1 MiB",
                                    .where = {.file = plan.name}});
  PythonConfigs configs(plan.text);
  const std::vector<std::string> names = configs.names();
  const auto chosen = plan.variables.variables.find("config");
  const std::string name =
      chosen != plan.variables.variables.end() ? chosen->second : choose_function(configs, names);
  const YamlNode whole = configs.call(name);
  const YamlNode tree = make_tree(whole, name, plan.text, plan.name);
  if (tree.find("training") == nullptr)
    return plan.findings.push_back(
        {.code = "RW0603",
         .message = "unrecognized file format",
         .detail = fmt::format("no function that returns a config with `training`: {}",
                               name.empty() ? "none was found" : make_excerpt(name)),
         .hint = "--set config=NAME, to read another function",
         .where = {.file = plan.name}});
  if (names.size() > 1 && chosen == plan.variables.variables.end())
    plan.findings.push_back(make_assumption(
        fmt::format("the file has {} configs: using {}", names.size(), make_excerpt(name)),
        "--set config=NAME", {.file = plan.name}));
  read_torchtitan_tree(plan, tree, files, nullptr);
  plan.draft.overlap_ep = false;  // a setting of the TOML files only
  read_lora_converter(plan.draft, whole);
  if (find_path(whole, "training") == nullptr) plan.draft.method = plan::Method::grpo;
}

}  // namespace rankwright::importer
