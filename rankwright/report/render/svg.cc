#include "rankwright/report/render/svg.h"

#include <fmt/format.h>

#include <cstddef>

#include "rankwright/base/utf8.h"

namespace rankwright::report::svg {
namespace {

/// Returns the number of bytes of the first character; 0 if it is invalid UTF-8 or not allowed in
/// XML.
std::size_t measure_character(std::string_view text) {
  const Character first = decode_character(text);
  return first.code == 0xFFFE || first.code == 0xFFFF ? 0 : first.bytes;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t size = measure_character(text);
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

}  // namespace rankwright::report::svg
