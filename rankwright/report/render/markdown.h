// Escapes text from outside for Markdown: names of models, levels and files appear literally and
// never act as markup.
#pragma once

#include <string>
#include <string_view>

namespace rankwright::report {

/// Escapes text for a heading, a paragraph or a table cell. Line breaks become blanks.
std::string escape_markdown(std::string_view text);

/// Formats text as inline code.
std::string format_markdown_code(std::string_view code);

/// Formats a fenced code block. Requires: `lines` ends with a line break.
std::string format_markdown_block(std::string_view language, std::string_view lines);

/// Formats the target of a link or an image, which may contain blanks and brackets.
std::string format_markdown_target(std::string_view path);

}  // namespace rankwright::report
