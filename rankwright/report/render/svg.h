// The few elements that drawings here are made of, as text of SVG. What is drawn, and in which
// colours, is up to the drawing.
#pragma once

#include <string>
#include <string_view>

namespace rankwright::report::svg {

/// Without what XML would read as markup, and what it cannot hold: control characters, bytes that
/// are no UTF-8.
std::string escaped(std::string_view text);

/// Two digits are a hundredth of a pixel.
std::string px(double value);

std::string text(double x, double y, std::string_view classes, std::string_view words);

/// Left open, so that it can hold a title: ends without "/>".
std::string rect(double x, double y, double width, double height, std::string_view classes);

/// What ends such an element and is said when it is pointed at.
std::string titled(std::string_view element, std::string_view words);

std::string line(double x1, double y1, double x2, double y2, std::string_view classes);

}  // namespace rankwright::report::svg
