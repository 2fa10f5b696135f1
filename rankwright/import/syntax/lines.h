// The lines of a text, for formats that are read line by line: numbered from 1, without the line
// break.
#pragma once

#include <string_view>
#include <vector>

#include "rankwright/base/diagnostic.h"

namespace rankwright::importer {

struct TextLine {
  int number = 0;
  std::string_view text{};
};

/// A word of a line, and where it begins, from 1.
struct TextWord {
  int column = 0;
  std::string_view text{};
};

/// Line and column of the character at `offset`.
Location place_of(std::string_view text, std::size_t offset, std::string_view file);

std::vector<TextLine> lines_of(std::string_view text);

/// What blanks and tabs separate.
std::vector<TextWord> words_of_line(std::string_view line);

}  // namespace rankwright::importer
