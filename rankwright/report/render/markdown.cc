#include "rankwright/report/render/markdown.h"

#include <fmt/format.h>

#include <algorithm>

namespace rankwright::report {
namespace {

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_word(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Returns whether GitHub would recognize an address at text[k]: "://", "www." or "@".
bool begins_address(std::string_view text, std::size_t k) {
  return text[k] == '@' || text.substr(k).starts_with("://") ||
         (text[k] == '.' && text.substr(0, k).ends_with("www"));
}

std::string join_lines(std::string_view text) {
  std::string line(text);
  std::replace_if(line.begin(), line.end(), is_control, ' ');
  return line;
}

/// Returns a run of backticks longer than any in the text, at least `min` of them.
std::string make_fence(std::string_view text, std::size_t min) {
  std::size_t longest = 0, run = 0;
  for (const char c : text) longest = std::max(longest, run = c == '`' ? run + 1 : 0);
  return std::string(std::max(min, longest + 1), '`');
}

}  // namespace

std::string escape_markdown(std::string_view text) {
  std::string out;
  for (std::size_t k = 0; k < text.size(); ++k) {
    const char c = text[k];
    const char before = k > 0 ? text[k - 1] : ' ';
    const char after = k + 1 < text.size() ? text[k + 1] : ' ';
    if (is_control(c))
      out += ' ';
    else if (c == '&')
      out += "&amp;";
    else if (c == '<' && !is_digit(after))  // "<0.1 %" is not a tag, and easier to read as it is
      out += "&lt;";
    else if (std::string_view("\\`[|*").find(c) != std::string_view::npos)
      out += std::string("\\") + c;
    else if (c == '_' && !(is_word(before) && is_word(after)))  // not markup inside a word
      out += "\\_";
    else if (c == '~' && (before == '~' || after == '~'))
      out += "&#126;";
    else if (begins_address(text, k))
      out += fmt::format("&#{};", int(c));
    else
      out += c;
  }
  return out;
}

std::string format_markdown_code(std::string_view code) {
  const std::string ends = make_fence(code, 1);
  const bool apart = code.starts_with('`') || code.ends_with('`');
  return fmt::format("{0}{1}{2}{1}{0}", ends, apart ? " " : "", join_lines(code));
}

std::string format_markdown_block(std::string_view language, std::string_view lines) {
  const std::string ends = make_fence(lines, 3);
  return fmt::format("{}{}\n{}{}\n", ends, language, lines, ends);
}

std::string format_markdown_target(std::string_view path) {
  std::string out = "<";
  for (const char c : join_lines(path)) {
    if (std::string_view("<>\\").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out + ">";
}

}  // namespace rankwright::report
