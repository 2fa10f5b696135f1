#include "rankwright/report/svg.h"

#include <fmt/format.h>

#include <cstddef>

namespace rankwright::svg {
namespace {

/// Bytes of the UTF-8 character that begins `text`; 0 where none does.
std::size_t character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t size = byte(0) < 0x80   ? 1
                           : byte(0) < 0xC2 ? 0
                           : byte(0) < 0xE0 ? 2
                           : byte(0) < 0xF0 ? 3
                           : byte(0) < 0xF5 ? 4
                                            : 0;
  if (size == 0 || size > text.size()) return 0;
  for (std::size_t i = 1; i < size; ++i)
    if ((byte(i) & 0xC0u) != 0x80u) return 0;
  if (byte(0) == 0xE0 && byte(1) < 0xA0) return 0;                     // longer than it need be
  if (byte(0) == 0xED && byte(1) > 0x9F) return 0;                     // half of a pair
  if (byte(0) == 0xEF && byte(1) == 0xBF && byte(2) > 0xBD) return 0;  // no character at all
  if (byte(0) == 0xF0 && byte(1) < 0x90) return 0;
  if (byte(0) == 0xF4 && byte(1) > 0x8F) return 0;
  return size;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t size = character(text);
    const char c = text[0];
    if (size == 0)
      out += '?';
    else if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (static_cast<unsigned char>(c) < ' ')
      out += ' ';
    else
      out += text.substr(0, size);
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return out;
}

std::string px(double value) {
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string text(double x, double y, std::string_view classes, std::string_view words) {
  return fmt::format("<text x=\"{}\" y=\"{}\" class=\"{}\">{}</text>\n", px(x), px(y), classes,
                     escaped(words));
}

std::string rect(double x, double y, double width, double height, std::string_view classes) {
  return fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" class=\"{}\"", px(x),
                     px(y), px(width), px(height), classes);
}

std::string titled(std::string_view element, std::string_view words) {
  return fmt::format("><title>{}</title></{}>\n", escaped(words), element);
}

std::string line(double x1, double y1, double x2, double y2, std::string_view classes) {
  return fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" class=\"{}\"/>\n", px(x1),
                     px(y1), px(x2), px(y2), classes);
}

}  // namespace rankwright::svg
