#include "rankwright/import/syntax/lines.h"

#include <algorithm>

namespace rankwright::importer {

Location to_location(std::string_view text, std::size_t offset, std::string_view file) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  return {.file = std::string(file),
          .line = int(std::count(before.begin(), before.end(), '\n')) + 1,
          .column = int(before.size() - line_start) + 1};
}

std::vector<TextLine> split_lines(std::string_view text) {
  std::vector<TextLine> lines;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back({number, line});
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

std::vector<TextWord> split_words(std::string_view line) {
  constexpr std::string_view kBlanks = " \t\r\n\f\v";
  std::vector<TextWord> words;
  for (std::size_t at = line.find_first_not_of(kBlanks); at != std::string_view::npos;) {
    const std::size_t end = line.find_first_of(kBlanks, at);
    words.push_back({int(at) + 1, line.substr(at, end - at)});
    at = line.find_first_not_of(kBlanks, end);
  }
  return words;
}

std::vector<std::string_view> split_at_commas(std::string_view list) {
  std::vector<std::string_view> parts;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    std::string_view part = list.substr(0, comma);
    while (part.starts_with(' ')) part.remove_prefix(1);
    parts.push_back(part);
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return parts;
}

std::size_t find_outside(std::string_view text, std::string_view stops, std::size_t from) {
  int depth = 0;
  char quote = 0;
  for (std::size_t i = from; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == '\\')
        ++i;
      else if (c == quote || c == '\n')
        quote = 0;
      continue;
    }
    if (depth == 0 && stops.find(c) != std::string_view::npos) return i;
    if (c == '"' || c == '\'') quote = c;
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
  }
  return text.size();
}

}  // namespace rankwright::importer
