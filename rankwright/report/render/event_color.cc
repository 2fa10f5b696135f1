#include "rankwright/report/render/event_color.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "rankwright/base/check.h"

namespace rankwright::report {
namespace {

// The hues of Okabe and Ito, "Color Universal Design", 2008, darkened or lightened where needed for
// a contrast of 3 : 1 on light and dark ground. web/src/palette.ts has the same.
constexpr EventColor kEventColors[] = {
    {planner::EventKind::forward, "forward", "forward", '-', {0x1B, 0x7F, 0xBD}},
    {planner::EventKind::backward, "backward", "backward", '=', {0xD5, 0x5E, 0x00}},
    {planner::EventKind::input_grad, "input gradient", "input_grad", '<', {0xA8, 0x79, 0x00}},
    {planner::EventKind::weight_grad, "weight gradient", "weight_grad", '+', {0x00, 0x91, 0x6A}},
    {planner::EventKind::collective, "collective", "collective", '*', {0xB2, 0x5F, 0x95}},
    {planner::EventKind::optimizer, "optimizer", "optimizer", '@', {0x80, 0x80, 0x80}},
};
static_assert(std::size(kEventColors) == planner::kEventKinds);

constexpr double kLightest = 0.6;  // share of white in the last chunk's color

int mix(int one, int other, double share) {
  return int(std::lround(one * (1 - share) + other * share));
}

/// Computes the relative luminance of WCAG 2.1, 0 for black and 1 for white.
double compute_luminance(Rgb c) {
  const auto linear = [](int value) {
    const double v = value / 255.0;
    return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(c.red) + 0.7152 * linear(c.green) + 0.0722 * linear(c.blue);
}

}  // namespace

const EventColor& row(planner::EventKind kind) {
  const EventColor& found = kEventColors[std::size_t(kind)];
  RW_CHECK(found.kind == kind);
  return found;
}

Rgb shade(planner::EventKind kind, i64 chunk, i64 chunks) {
  const Rgb c = row(kind).color;
  const double white = chunks < 2 ? 0 : kLightest * double(chunk) / double(chunks - 1);
  return {mix(c.red, 255, white), mix(c.green, 255, white), mix(c.blue, 255, white)};
}

Rgb choose_text_color(Rgb ground) {
  // Contrast is (lighter + 0.05) / (darker + 0.05).
  const double light = compute_luminance(ground) + 0.05;
  return light / 0.05 >= 1.05 / light ? Rgb{0, 0, 0} : Rgb{255, 255, 255};
}

std::string hex(Rgb c) { return fmt::format("#{:02x}{:02x}{:02x}", c.red, c.green, c.blue); }

int find_terminal_color(Rgb c) {
  constexpr std::array<int, 6> kLevels = {0, 95, 135, 175, 215, 255};
  const auto nearest = [&](int value) {
    const auto at = std::min_element(kLevels.begin(), kLevels.end(), [&](int a, int b) {
      return std::abs(a - value) < std::abs(b - value);
    });
    return int(at - kLevels.begin());
  };
  return 16 + 36 * nearest(c.red) + 6 * nearest(c.green) + nearest(c.blue);
}

}  // namespace rankwright::report
