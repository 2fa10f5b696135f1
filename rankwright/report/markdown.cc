#include "rankwright/report/markdown.h"

#include <fmt/format.h>

#include <algorithm>

namespace rankwright {
namespace {

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

std::string on_one_line(std::string_view text) {
  std::string line(text);
  std::replace_if(line.begin(), line.end(), is_control, ' ');
  return line;
}

/// More backticks in a row than the text has anywhere, and no fewer than `least`.
std::string fence(std::string_view text, std::size_t least) {
  std::size_t longest = 0, run = 0;
  for (const char c : text) longest = std::max(longest, run = c == '`' ? run + 1 : 0);
  return std::string(std::max(least, longest + 1), '`');
}

}  // namespace

std::string markdown_text(std::string_view text) {
  std::string out;
  for (std::size_t k = 0; k < text.size(); ++k) {
    const char c = text[k];
    // "<0.1 %" is no tag, and is easier to read so.
    const bool number = k + 1 < text.size() && text[k + 1] >= '0' && text[k + 1] <= '9';
    if (is_control(c))
      out += ' ';
    else if (c == '&')
      out += "&amp;";
    else if (c == '<' && !number)
      out += "&lt;";
    else if (std::string_view("\\`[|").find(c) != std::string_view::npos)
      out += std::string("\\") + c;
    else
      out += c;
  }
  return out;
}

std::string markdown_code(std::string_view code) {
  const std::string ends = fence(code, 1);
  const bool apart = code.starts_with('`') || code.ends_with('`');
  return fmt::format("{0}{1}{2}{1}{0}", ends, apart ? " " : "", on_one_line(code));
}

std::string markdown_block(std::string_view language, std::string_view lines) {
  const std::string ends = fence(lines, 3);
  return fmt::format("{}{}\n{}{}\n", ends, language, lines, ends);
}

std::string markdown_target(std::string_view path) {
  std::string out = "<";
  for (const char c : on_one_line(path)) {
    if (std::string_view("<>\\").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out + ">";
}

}  // namespace rankwright
