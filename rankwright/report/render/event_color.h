// The looks of events in a timeline: one row per kind of work, with the words, the
// character and the colour that stand for it in every drawing. Colours are those of Okabe and Ito,
// which people with colour-blindness can tell apart; a rank's chunks are shades of one colour.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "rankwright/planner/timeline/event_kind.h"

namespace rankwright::report {

struct Rgb {
  int red = 0, green = 0, blue = 0;

  friend constexpr bool operator==(const Rgb&, const Rgb&) = default;
};

struct EventColor {
  planner::EventKind kind;
  std::string_view name;      // "input gradient"
  std::string_view category;  // "input_grad": in traces and JSON
  char fill;                  // fills its cells where there is no colour
  Rgb color;
};
const EventColor& row(planner::EventKind kind);

/// The first chunk in the kind's own colour, the others ever lighter.
Rgb shade(planner::EventKind kind, i64 chunk, i64 chunks);

/// Black or white, whichever is easier to read on `ground`.
Rgb text_on(Rgb ground);

std::string hex(Rgb color);  // "#0072b2"

/// The nearest of the 6 x 6 x 6 colours that terminals number from 16.
int terminal_color(Rgb color);

}  // namespace rankwright::report
