// Splits a text into lines and words, for formats that are read line by line.
#pragma once

#include <string_view>
#include <vector>

#include "rankwright/base/diagnostic.h"

namespace rankwright::importer {

/// One line without its line break; `number` counts from 1.
struct TextLine {
  int number = 0;
  std::string_view text{};
};

/// A word of a line; `column` counts from 1.
struct TextWord {
  int column = 0;
  std::string_view text{};
};

/// Returns the line and column of the character at `offset`.
Location to_location(std::string_view text, std::size_t offset, std::string_view file);

std::vector<TextLine> split_lines(std::string_view text);

/// Splits a line at blanks and tabs.
std::vector<TextWord> split_words(std::string_view line);

/// Splits a list at commas and removes the blanks before each part.
std::vector<std::string_view> split_at_commas(std::string_view list);

/// Returns the offset of the first of `stops` outside the brackets and strings of Python, else the
/// size.
std::size_t find_outside(std::string_view text, std::string_view stops, std::size_t from = 0);

}  // namespace rankwright::importer
