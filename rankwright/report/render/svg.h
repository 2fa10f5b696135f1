// The SVG elements that all drawings use, as text. Each drawing decides what it draws and in which
// colors.
#pragma once

#include <string>
#include <string_view>

namespace rankwright::report::svg {

/// Escapes text for XML: markup characters become entities, control characters blanks, and invalid
/// UTF-8 '?'.
std::string escaped(std::string_view text);

/// Formats a length in pixels with at most two decimals.
std::string px(double value);

/// Returns a text element.
std::string text(double x, double y, std::string_view classes, std::string_view words);

/// Returns a rectangle without the closing "/>", so that a title can follow.
std::string rect(double x, double y, double width, double height, std::string_view classes);

/// Closes such an element with a title, which viewers show on hover.
std::string titled(std::string_view element, std::string_view words);

/// Returns a line element.
std::string line(double x1, double y1, double x2, double y2, std::string_view classes);

}  // namespace rankwright::report::svg
