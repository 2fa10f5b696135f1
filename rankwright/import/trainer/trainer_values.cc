// The values of expressions in a training program: literals, options, names that are assigned once
// or passed to a function, items of maps, and choices between these.
#include <algorithm>

#include "rankwright/base/trim.h"
#include "rankwright/import/syntax/python_calls.h"
#include "rankwright/import/syntax/python_text.h"
#include "rankwright/import/trainer/trainer_program.h"

namespace rankwright::importer {
namespace {

constexpr int kMaxItemSteps = 4;  // names of maps that name parts of others

/// Returns the first word behind the program of a command, unless it is the value of a flag;
/// nothing if there is none.
std::optional<std::string> find_first_argument(const ScriptFlags& flags) {
  const std::string_view command = flags.command;
  constexpr std::string_view kProgram = ".py ";
  const std::size_t at = command.find(kProgram);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = trim(command.substr(at + kProgram.size()));
  const std::string_view word = rest.substr(0, rest.find(' '));
  const bool of_flag =
      std::any_of(flags.map.entries.begin(), flags.map.entries.end(),
                  [&](const YamlEntry& entry) { return entry.value.scalar == word; });
  if (word.empty() || word.starts_with('-') || of_flag) return std::nullopt;
  return std::string(word);
}

/// Returns the argument of a cast: "x" for "int(x)".
std::string_view unwrap_cast(std::string_view expression) {
  for (const std::string_view cast : {"int(", "float(", "str(", "bool("})
    if (expression.starts_with(cast) && expression.ends_with(')'))
      return trim(expression.substr(cast.size(), expression.size() - cast.size() - 1));
  return expression;
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
      const std::string_view value = find_argument(list_map_items(made), path.front());
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
  constexpr int kMaxCalls = 64;  // each reads the whole program, and parses it
  if (++calls_read_ > kMaxCalls) return {};
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

std::optional<bool> TrainerProgram::test(const ScriptFlags& flags, std::string_view condition,
                                         int depth) const {
  constexpr std::string_view kOr = " or ", kAnd = " and ", kNot = "not ", kIn = " in ";
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
  if (const std::size_t in = condition.find(kIn); in != std::string_view::npos) {
    const std::string_view list = trim(condition.substr(in + kIn.size()));
    const std::optional<std::string> value = find_option(flags, condition.substr(0, in));
    if (!value || list.size() < 2 || list.find_first_of("[(") != 0) return std::nullopt;
    for (const std::string_view one : split_arguments(list.substr(1)))
      if (read_literal(one) == value) return true;
    return false;
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
  constexpr std::string_view kIf = " if ", kElse = " else ", kNot = "not ",
                             kArguments = "sys.argv[1]";
  const std::size_t condition = expression.find(kIf);
  const std::size_t other = expression.find(kElse);
  if (expression.starts_with(kArguments))  // "sys.argv[1] if len(sys.argv) > 1 else ..."
    if (std::optional<std::string> given = find_first_argument(flags)) return given;
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
  for (const std::string_view call : {"bf16_supported(", "bfloat16_supported("})
    if (const std::size_t at = expression.find(call); at != std::string_view::npos)
      return expression.substr(0, at).find(kNot) == std::string_view::npos ? "True" : "False";
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
    for (const YamlEntry& section : config_.entries)
      if (const YamlNode* const node = section.value.find(name);
          node != nullptr && node->kind == YamlNode::Kind::scalar)
        return node->scalar;
    const bool off = off_.contains(name) || std::find(std::begin(kSwitches), std::end(kSwitches),
                                                      name) != std::end(kSwitches);
    return off ? std::optional<std::string>("False") : std::nullopt;
  }
  constexpr int kMaxSearches = 256;  // each reads the whole program
  const auto statement = assigned_.find(name);
  if (statement == assigned_.end() && ++searches_ > kMaxSearches) return std::nullopt;
  const std::string_view assigned = statement != assigned_.end()
                                        ? std::string_view(statement->second)
                                        : find_assigned(code_, name);
  if (!assigned.empty()) return resolve(flags, assigned, depth - 1);
  const std::string_view passed = find_passed(name);
  return passed.empty() || passed == name ? std::nullopt : resolve(flags, passed, depth - 1);
}

}  // namespace rankwright::importer
