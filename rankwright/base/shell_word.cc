#include "rankwright/base/shell_word.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/terminal_text.h"
#include "rankwright/base/utf8.h"

namespace rankwright {
namespace {

bool needs_no_quotes(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_-./:@%+,=").find(c) != std::string_view::npos;
}

/// Returns `word` in the form $'...' of bash, zsh and POSIX 2024.
std::string quote_bytes(std::string_view word) {
  std::string out = "$'";
  while (!word.empty()) {
    const Character c = decode_character(word);
    const std::size_t bytes = std::max<std::size_t>(c.bytes, 1);
    if (c.bytes == 0 || is_unsafe_to_show(c.code)) {
      for (const char byte : word.substr(0, bytes))
        out += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
    } else {
      if (word[0] == '\'' || word[0] == '\\') out += '\\';
      out += word.substr(0, bytes);
    }
    word.remove_prefix(bytes);
  }
  return out + "'";
}

}  // namespace

std::string quote_shell(std::string_view word) {
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string shell_word(std::string_view word) {
  if (clean_name(word) != word) return quote_bytes(word);
  if (!word.empty() && std::all_of(word.begin(), word.end(), needs_no_quotes))
    return std::string(word);
  const bool fits_double = word.find_first_of("\"$`\\!") == std::string_view::npos;
  return fits_double ? fmt::format("\"{}\"", word) : quote_shell(word);
}

std::string quote_shell_path(std::string_view path) {
  const bool like_a_flag = path.size() > 1 && path[0] == '-';
  return shell_word(like_a_flag ? "./" + std::string(path) : std::string(path));
}

}  // namespace rankwright
