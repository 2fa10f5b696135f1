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

}  // namespace rankwright::importer
