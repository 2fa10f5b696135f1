// How the events of a timeline look: per kind of work the name, the character and the color that
// every drawing uses. The colors are those of Okabe and Ito, which are safe for color-blind
// readers; the chunks of a rank are shades of one color.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "rankwright/planner/timeline/event_kind.h"

namespace rankwright::report {

/// A color, 0 to 255 per channel.
struct Rgb {
  int red = 0, green = 0, blue = 0;

  friend constexpr bool operator==(const Rgb&, const Rgb&) = default;
};

/// The look of one kind of work.
struct EventColor {
  planner::EventKind kind;
  std::string_view name;      // "input gradient"
  std::string_view category;  // "input_grad": in traces and JSON
  char fill;                  // fills its cells where there is no color
  Rgb color;
};
const EventColor& row(planner::EventKind kind);

/// Returns the color of a chunk: the kind's own for the first, increasingly lighter for the
/// others.
Rgb shade(planner::EventKind kind, i64 chunk, i64 chunks);

/// Returns black or white, whichever is easier to read on `ground`.
Rgb choose_text_color(Rgb ground);

/// Formats a color for CSS: "#0072b2".
std::string hex(Rgb color);

/// Returns the nearest of the 6 x 6 x 6 colors that terminals number from 16.
int find_terminal_color(Rgb color);

}  // namespace rankwright::report
