#include "rankwright/import/syntax/python_text.h"

#include <algorithm>
#include <functional>

#include "rankwright/base/trim.h"
#include "rankwright/import/syntax/lines.h"
#include "rankwright/import/syntax/shell_evaluator.h"

namespace rankwright::importer {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Returns a number that stands for a text: equal texts have equal ones, which are not small.
i64 number_text(std::string_view text) {
  constexpr std::size_t kRange = std::size_t{1} << 40;
  return text.empty() ? 0 : i64(std::hash<std::string_view>{}(text) % kRange + kRange);
}

/// Returns a text in quotes without them; nothing for other expressions.
std::optional<std::string_view> strip_quotes(std::string_view text) {
  if (text.size() < 2 || (text[0] != '"' && text[0] != '\'') || text.back() != text[0] ||
      text.find(text[0], 1) != text.size() - 1)
    return std::nullopt;
  return text.substr(1, text.size() - 2);
}

/// A constant of Python or PyTorch, and how recipes write it.
struct Constant {
  std::string_view name, text;
};
constexpr Constant kConstants[] = {
    {"True", "True"},          {"False", "False"},      {"None", "None"},
    {"torch.float32", "fp32"}, {"torch.float", "fp32"}, {"torch.bfloat16", "bf16"},
    {"torch.float16", "fp16"}, {"torch.half", "fp16"},
};

/// Words of conditions, and the operators that they are.
struct Operator {
  std::string_view word, symbol;
};
constexpr Operator kOperators[] = {{"or", "||"}, {"and", "&&"}, {"not", "!"}, {"is", "=="}};

/// A number that no setting has, for None where a condition compares with it.
constexpr i64 kNone = -(i64{1} << 41);

std::string strip_underscores(std::string_view digits) {
  std::string text(digits);
  std::erase(text, '_');
  return text;
}

}  // namespace

std::string blank_python_comments(std::string text) {
  char quote = 0;
  const auto blank = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i)
      if (text[i] != '\n') text[i] = ' ';
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == '\\')
        ++i;
      else if (c == quote || c == '\n')
        quote = 0;
      continue;
    }
    const std::string_view rest = std::string_view(text).substr(i);
    if (rest.starts_with("\"\"\"") || rest.starts_with("'''")) {
      const std::size_t end = text.find(rest.substr(0, 3), i + 3);
      const std::size_t after = end == std::string::npos ? text.size() : end + 3;
      blank(i, after);
      i = after - 1;
    } else if (c == '#') {
      const std::size_t end = std::min(text.find('\n', i), text.size());
      blank(i, end);
      i = end - 1;
    } else if (c == '"' || c == '\'') {
      quote = c;
    }
  }
  return text;
}

bool is_dotted_name(std::string_view text) {
  return !text.empty() && !is_digit(text[0]) && std::all_of(text.begin(), text.end(), [](char c) {
    return shell::is_name(c) || c == '.';
  });
}

std::vector<PythonStatement> split_statements(std::string_view text) {
  constexpr std::size_t kMaxStatements = 20000;
  std::vector<PythonStatement> statements;
  int line = 1;
  for (std::size_t at = 0; at < text.size() && statements.size() < kMaxStatements;) {
    const std::size_t begin = std::min(text.find_first_not_of(" \t\r", at), text.size());
    const std::size_t end = find_outside(text, "\n", begin);
    const std::string_view one = text.substr(begin, end - begin);
    if (!trim(one).empty()) statements.push_back({begin - at, trim(one), line});
    line += 1 + int(std::count(one.begin(), one.end(), '\n'));
    at = end + 1;
  }
  return statements;
}

std::vector<std::string_view> split_arguments(std::string_view text) {
  constexpr std::size_t kMaxArguments = 100;
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; parts.size() < kMaxArguments;) {
    const std::size_t end = find_outside(text, ",)]}", begin);
    if (end == text.size()) break;
    if (const std::string_view one = trim(text.substr(begin, end - begin)); !one.empty())
      parts.push_back(one);
    if (text[end] != ',') break;
    begin = end + 1;
  }
  return parts;
}

PythonArgument parse_argument(std::string_view text) {
  const std::size_t equals = find_outside(text, "=");
  if (equals == text.size() || text.substr(equals).starts_with("==")) {
    const std::string_view name = trim(text.substr(0, text.find(':')));
    return is_dotted_name(name) && text.find(':') != std::string_view::npos
               ? PythonArgument{name, {}}
               : PythonArgument{{}, text};
  }
  const std::string_view name = text.substr(0, std::min(equals, text.find(':')));
  return {trim(name), trim(text.substr(equals + 1))};
}

void PythonScope::set(std::string_view name, std::optional<PythonValue> value, bool global) {
  constexpr std::size_t kMaxNames = 2000;
  Names& names = global ? globals_ : locals_;
  if (const auto old = names.find(name); old != names.end()) names.erase(old);
  if (value && names.size() < kMaxNames) names.emplace(name, std::move(*value));
}

const PythonValue* PythonScope::find_name(std::string_view name) const {
  for (const Names* const names : {&locals_, &globals_})
    if (const auto found = names->find(name); found != names->end()) return &found->second;
  return nullptr;
}

std::optional<PythonValue> PythonScope::find(std::string_view text) const {
  text = trim(text);
  if (const PythonValue* const named = find_name(text)) return *named;
  if (const std::optional<std::string_view> plain = strip_quotes(text))
    return PythonValue{std::string(*plain), {}};
  for (const Constant& one : kConstants)
    if (one.name == text) return PythonValue{std::string(one.text), {}};
  constexpr std::string_view kCompares = "<>=!\"'";
  if (text.find_first_of(kCompares) != std::string_view::npos) return std::nullopt;
  Evaluation state;
  const std::optional<i64> number = evaluate(text, state);
  if (!number) return std::nullopt;
  return PythonValue{std::to_string(*number), std::move(state.assumed)};
}

std::optional<bool> PythonScope::test(std::string_view condition) const {
  Evaluation state{.texts = true,
                   .compares_none = condition.find(" is ") != std::string_view::npos};
  const std::optional<i64> value = evaluate(condition, state);
  return value ? std::optional(*value != 0) : std::nullopt;
}

std::optional<i64> PythonScope::evaluate_name(std::string_view name, Evaluation& state) const {
  std::string text(name);
  if (const PythonValue* const named = find_name(name)) {
    text = named->text;
    if (state.assumed.empty()) state.assumed = named->assumed;
  } else if (name != "True" && name != "False" && name != "None") {
    return std::nullopt;
  }
  if (text == "None") return state.compares_none ? kNone : 0;
  if (text == "True" || text == "False") return text == "True" ? 1 : 0;
  i64 number = 0;
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_digit) &&
      evaluate_arithmetic(text, number))
    return number;
  return state.texts ? std::optional(number_text(text)) : std::nullopt;
}

/// Writes the expression as one of numbers, which the evaluator of scripts understands.
std::optional<i64> PythonScope::evaluate(std::string_view text, Evaluation& state) const {
  constexpr std::size_t kLongest = 500;
  if (text.size() > kLongest || text.empty()) return std::nullopt;
  std::string numbers;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (shell::is_name(c)) {
      std::size_t end = at;
      while (end < text.size() && (shell::is_name(text[end]) || text[end] == '.')) ++end;
      const std::string_view word = text.substr(at, end - at);
      const auto* const symbol =
          std::find_if(std::begin(kOperators), std::end(kOperators),
                       [&](const Operator& one) { return one.word == word; });
      at = end;
      if (symbol != std::end(kOperators)) {
        const bool negates = word == "is" && text.substr(at).starts_with(" not ");
        if (negates) at += std::string_view(" not").size();
        numbers += negates ? "!=" : symbol->symbol;
      } else if (is_digit(c)) {
        if (word.find_first_not_of("0123456789_") != std::string_view::npos) return std::nullopt;
        numbers += strip_underscores(word);
      } else {
        const std::optional<i64> value = evaluate_name(word, state);
        if (!value) return std::nullopt;
        numbers += "(" + std::to_string(*value) + ")";
      }
    } else if (c == '"' || c == '\'') {
      const std::size_t end = text.find(c, at + 1);
      if (end == std::string_view::npos) return std::nullopt;
      numbers += std::to_string(number_text(text.substr(at + 1, end - at - 1)));
      at = end + 1;
    } else if (text.substr(at).starts_with("//")) {
      numbers += '/';
      at += 2;
    } else if (std::string_view("+-*%()<>=! \n").find(c) != std::string_view::npos) {
      numbers += c == '\n' ? ' ' : c;
      ++at;
    } else {
      return std::nullopt;
    }
  }
  i64 value = 0;
  return evaluate_arithmetic(numbers, value) ? std::optional(value) : std::nullopt;
}

}  // namespace rankwright::importer
