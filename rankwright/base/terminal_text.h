// Text that is safe to show, whatever the names and files that it was made from hold: escape
// sequences could move the cursor or set the title, C1 controls do the same in one character, and
// bidirectional and zero-width characters show a name as another one.
#pragma once

#include <string>
#include <string_view>

namespace rankwright {

/// Returns whether a terminal acts on this character or shows nothing for it: controls (C0, DEL,
/// C1), bidirectional marks, zero-width characters, line and paragraph separators, tags.
bool is_unsafe_to_show(char32_t code);

/// Escape sequences that cleaned text keeps: those that the program itself writes.
enum class KeptEscapes : unsigned char {
  none,
  color,               // ESC [ digits and semicolons m
  color_and_progress,  // also CR ESC [ K, which begins a line of progress anew
};

/// Returns the text with every other unsafe character written as JSON would, \u202e; line breaks
/// and tabs stay. What is not UTF-8 becomes U+FFFD. Cleaned text is returned unchanged.
std::string clean_text(std::string_view text, KeptEscapes kept = KeptEscapes::none);

/// Returns the text of a name: as above, and on one line.
std::string clean_name(std::string_view name);

}  // namespace rankwright
