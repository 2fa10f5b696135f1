#include "rankwright/import/syntax/shell_parameters.h"

#include <algorithm>
#include <string>

namespace rankwright::importer::shell {
namespace {

/// The longest value that an operator is applied to: the work grows with its square.
constexpr std::size_t kLongest = 256;

Text slice(const Text& text, std::size_t from, std::size_t count) {
  Text part;
  const std::size_t end = from + std::min(count, text.chars.size() - from);
  for (std::size_t i = from; i < end; ++i) part.add(text.chars[i], text.at[i], text.origin[i]);
  return part;
}

/// Removes the shortest or longest beginning that has the form of the pattern.
Text remove_prefix(const Text& text, std::string_view pattern, bool longest) {
  const std::size_t n = text.chars.size();
  for (std::size_t i = 0; i <= n; ++i) {
    const std::size_t size = longest ? n - i : i;
    if (matches_pattern(pattern, std::string_view(text.chars).substr(0, size)))
      return slice(text, size, n);
  }
  return text;
}

Text remove_suffix(const Text& text, std::string_view pattern, bool longest) {
  const std::size_t n = text.chars.size();
  for (std::size_t i = 0; i <= n; ++i) {
    const std::size_t from = longest ? i : n - i;
    if (matches_pattern(pattern, std::string_view(text.chars).substr(from)))
      return slice(text, 0, from);
  }
  return text;
}

/// Replaces literal text, once or everywhere.
Text replace(const Text& text, std::string_view old, std::string_view other, bool everywhere) {
  Text out;
  bool replaced = false;
  for (std::size_t i = 0; i < text.chars.size();) {
    if ((everywhere || !replaced) && std::string_view(text.chars).substr(i).starts_with(old)) {
      for (const char c : other) out.add(c, text.at[i], text.origin[i]);
      i += old.size();
      replaced = true;
      continue;
    }
    out.add(text.chars[i], text.at[i], text.origin[i]);
    ++i;
  }
  return out;
}

/// Applies "/old/new" or "//old/new". A backslash before a slash is gone: "////_" replaces slashes.
std::optional<Text> apply_replacement(const Text& text, std::string_view op) {
  const bool everywhere = op.starts_with("//");
  op.remove_prefix(everywhere ? 2 : 1);
  const std::size_t end = std::min(op.find('/', op.starts_with('/') ? 1 : 0), op.size());
  const std::string_view old = op.substr(0, end);
  if (old.empty() || old.find_first_of("*?[#%") != std::string_view::npos) return std::nullopt;
  return replace(text, old, op.substr(std::min(end + 1, op.size())), everywhere);
}

/// Applies ":from" or ":from:count".
std::optional<Text> apply_slice(const Text& text, std::string_view op) {
  const i64 size = i64(text.chars.size());
  const std::size_t colon = op.find(':', 1);
  i64 from = 0, count = size;
  if (!evaluate_arithmetic(op.substr(1, colon - 1), from) ||
      (colon != std::string_view::npos && !evaluate_arithmetic(op.substr(colon + 1), count)))
    return std::nullopt;
  if (from < 0) from += size;  // from the end
  if (from < 0 || from > size) return Text{};
  if (count < 0) count += size - from;
  return slice(text, std::size_t(from), std::size_t(std::max<i64>(0, count)));
}

/// Changes the case of the first letter, or with a doubled operator of all letters.
Text change_case(Text text, std::string_view op) {
  const bool up = op[0] == '^';
  const std::size_t size =
      op.size() > 1 ? text.chars.size() : std::min<std::size_t>(1, text.chars.size());
  for (std::size_t i = 0; i < size; ++i) {
    char& c = text.chars[i];
    if (up && c >= 'a' && c <= 'z') c = char(c - 'a' + 'A');
    if (!up && c >= 'A' && c <= 'Z') c = char(c - 'A' + 'a');
  }
  return text;
}

}  // namespace

bool matches_pattern(std::string_view pattern, std::string_view text) {
  std::size_t at = 0, i = 0, star = std::string_view::npos, retry = 0;
  while (i < text.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      retry = i;
    } else if (at < pattern.size() && (pattern[at] == '?' || pattern[at] == text[i])) {
      ++at;
      ++i;
    } else if (star != std::string_view::npos) {  // the last star takes one character more
      at = star + 1;
      i = ++retry;
    } else {
      return false;
    }
  }
  while (at < pattern.size() && pattern[at] == '*') ++at;
  return at == pattern.size();
}

std::optional<Text> apply_operator(const Text& value, std::string_view op) {
  constexpr std::size_t kLongestOperator = 64;
  const bool unknown = value.chars.find(kUnknown) != std::string::npos;
  if (op.empty() || op.size() > kLongestOperator || value.chars.size() > kLongest ||
      op.find(kUnknown) != std::string_view::npos)
    return std::nullopt;
  const bool twice = op.size() > 1 && op[1] == op[0];
  const std::string_view pattern = op.substr(twice ? 2 : 1);
  switch (op[0]) {
    case '#':
      return remove_prefix(value, pattern, twice);
    case '%':
      return remove_suffix(value, pattern, twice);
    case '/':
      return apply_replacement(value, op);
    case ':':
      return unknown ? std::nullopt : apply_slice(value, op);
    case '^':
    case ',':
      return unknown || op.size() > 2 ? std::nullopt : std::optional(change_case(value, op));
    default:
      return std::nullopt;
  }
}

}  // namespace rankwright::importer::shell
