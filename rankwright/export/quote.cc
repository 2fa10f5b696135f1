#include "rankwright/export/quote.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/utf8.h"

namespace rankwright::exporter {
namespace {

/// Returns `text` in double quotes, with the escapes that Python and TOML share.
std::string quote_ascii(std::string_view text) {
  constexpr char32_t kReplacement = 0xFFFD;
  std::string out = "\"";
  while (!text.empty()) {
    const Character c = decode_character(text);
    const char32_t code = c.bytes == 0 ? kReplacement : c.code;
    if (code == '"' || code == '\\')
      out += {'\\', char(code)};
    else if (code >= ' ' && code <= '~')
      out += char(code);
    else if (code <= 0xFFFF)
      out += fmt::format("\\u{:04x}", unsigned(code));
    else
      out += fmt::format("\\U{:08x}", unsigned(code));
    text.remove_prefix(std::max<std::size_t>(1, c.bytes));
  }
  return out + "\"";
}

}  // namespace

std::string quote_python(std::string_view text) { return quote_ascii(text); }

std::string quote_toml(std::string_view text) { return quote_ascii(text); }

std::string quote_script_word(std::string_view word) {
  const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-./,:+@%").find(c) != std::string_view::npos;
  });
  return plain ? std::string(word) : quote_shell(word);
}

}  // namespace rankwright::exporter
