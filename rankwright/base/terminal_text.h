// Makes text safe to print, whatever its source. Escape sequences and C1 controls could move the
// cursor or set the window title; bidirectional and zero-width characters can disguise one name as
// another.
#pragma once

#include <string>
#include <string_view>

namespace rankwright {

/// Returns whether a terminal interprets this character or shows nothing for it: controls (C0, DEL,
/// C1), bidirectional marks, zero-width characters, line and paragraph separators, tags.
bool is_unsafe_to_show(char32_t code);

/// The escape sequences that clean_text() keeps: those that the program itself writes.
enum class KeptEscapes : unsigned char {
  none,
  color,               // ESC [ digits and semicolons m
  color_and_progress,  // also CR ESC [ K, which redraws a progress line
};

/// Returns the text with every other unsafe character escaped as in JSON (\u202e); line breaks and
/// tabs are kept. Bytes that are not UTF-8 become U+FFFD. Cleaning twice changes nothing.
std::string clean_text(std::string_view text, KeptEscapes kept = KeptEscapes::none);

/// Returns a name cleaned as by clean_text(), with line breaks and tabs escaped too.
std::string clean_name(std::string_view name);

}  // namespace rankwright
