// Text that somebody else may have written, inside Markdown: names of models, levels and files are
// shown as they are, and are no markup.
#pragma once

#include <string>
#include <string_view>

namespace rankwright::report {

/// In a heading, a paragraph or the cell of a table; on one line.
std::string markdown_text(std::string_view text);

/// `code` inside a line.
std::string markdown_code(std::string_view code);

/// Lines of code, which end with a line break, below each other.
std::string markdown_block(std::string_view language, std::string_view lines);

/// What a link or a picture points to: blanks and brackets may be in it.
std::string markdown_target(std::string_view path);

}  // namespace rankwright::report
