#include "rankwright/base/terminal_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/utf8.h"

namespace rankwright {
namespace {

struct CodeRange {
  char32_t first, last;
};

// Sorted by code, for the binary search.
constexpr CodeRange kUnsafe[] = {
    {0x00, 0x1F},        // C0 controls
    {0x7F, 0x9F},        // DEL, C1 controls
    {0xAD, 0xAD},        // soft hyphen
    {0x61C, 0x61C},      // Arabic letter mark
    {0x180E, 0x180E},    // Mongolian vowel separator
    {0x200B, 0x200F},    // zero-width space, joiners, left-to-right and right-to-left marks
    {0x2028, 0x202E},    // line and paragraph separators, embeddings and overrides
    {0x2060, 0x206F},    // word joiner, invisible operators, isolates, deprecated controls
    {0xFEFF, 0xFEFF},    // zero-width no-break space
    {0xFFF9, 0xFFFB},    // interlinear annotations
    {0xE0000, 0xE0FFF},  // tags and variation selectors
};

std::string escaped(char32_t code) {
  if (code <= 0xFFFF) return fmt::format("\\u{:04x}", unsigned(code));
  const unsigned rest = unsigned(code) - 0x10000;
  return fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (rest >> 10), 0xDC00 + (rest & 0x3FF));
}

/// Returns the length of the escape sequence at the beginning of `text` if it may be kept, else 0.
std::size_t kept_escape(std::string_view text, KeptEscapes kept) {
  constexpr std::string_view kProgress = "\r\033[K";
  if (kept == KeptEscapes::color_and_progress && text.starts_with(kProgress))
    return kProgress.size();
  if (kept == KeptEscapes::none || !text.starts_with("\033[")) return 0;
  const std::size_t end = text.find_first_not_of("0123456789;", 2);
  return end < text.size() && text[end] == 'm' ? end + 1 : 0;
}

std::string clean(std::string_view text, KeptEscapes kept, std::string_view kept_controls) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    if (const std::size_t sequence = kept_escape(text, kept); sequence > 0) {
      out += text.substr(0, sequence);
      text.remove_prefix(sequence);
      continue;
    }
    const Character c = decode_character(text);
    const std::size_t bytes = std::max<std::size_t>(c.bytes, 1);
    if (c.bytes == 0)
      out += "\xEF\xBF\xBD";
    else if (is_unsafe_to_show(c.code) && kept_controls.find(text[0]) == std::string_view::npos)
      out += escaped(c.code);
    else
      out += text.substr(0, bytes);
    text.remove_prefix(bytes);
  }
  return out;
}

}  // namespace

bool is_unsafe_to_show(char32_t code) {
  const auto after = std::upper_bound(
      std::begin(kUnsafe), std::end(kUnsafe), code,
      [](char32_t wanted, const CodeRange& range) { return wanted < range.first; });
  return after != std::begin(kUnsafe) && code <= std::prev(after)->last;
}

std::string clean_text(std::string_view text, KeptEscapes kept) {
  return clean(text, kept, "\n\t");
}

std::string clean_name(std::string_view name) { return clean(name, KeptEscapes::none, ""); }

}  // namespace rankwright
