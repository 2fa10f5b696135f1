#include "rankwright/report/render/bars.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rankwright/report/render/table.h"

namespace rankwright::report {
namespace {

constexpr std::size_t kShortest = 12, kLongest = 40;  // columns of the longest bar
constexpr std::size_t kNarrowest = 26;                // columns of a remark
constexpr std::string_view kIndent = "  ", kColumnGap = "  ", kBelow = "      ";

std::string apply_tone(const std::string& text, BarLine::Tone tone, const Paint& paint) {
  constexpr i64 kYellow = 1;
  if (tone == BarLine::Tone::wait) return paint.group(kYellow, text);
  return tone == BarLine::Tone::work ? paint.blue(text) : paint.bold(text);
}

std::string pad_to(std::size_t width, const std::string& text) {
  return std::string(width - std::min(width, display_width(text)), ' ');
}

struct Columns {
  std::size_t name = 0, bar = 0, remark = 0;
  bool below = false;  // remarks are on lines of their own
  std::vector<std::size_t> figures{};

  std::size_t before_remark() const {
    std::size_t sum = kIndent.size() + name + kColumnGap.size() + bar;
    for (const std::size_t figure : figures) sum += kColumnGap.size() + figure;
    return sum + kColumnGap.size();
  }
};

Columns measure_columns(const std::vector<BarLine>& lines, std::size_t width) {
  Columns c;
  std::size_t longest = 0;
  for (const BarLine& line : lines) {
    c.name = std::max(c.name, display_width(line.name));
    longest = std::max(longest, display_width(line.remark));
    c.figures.resize(std::max(c.figures.size(), line.figures.size()));
    for (std::size_t i = 0; i < line.figures.size(); ++i)
      c.figures[i] = std::max(c.figures[i], display_width(line.figures[i]));
  }
  const std::size_t fixed = c.before_remark();
  const std::size_t room = width > fixed ? width - fixed : 0;
  c.bar = std::clamp(room > longest ? room - longest : 0, kShortest, kLongest);
  c.remark = room > c.bar ? room - c.bar : 0;
  if (c.remark < std::min(longest, kNarrowest)) {  // below the bar, over the whole width
    c.below = true;
    c.bar = std::clamp(room + kColumnGap.size(), kShortest, kLongest);
    c.remark = width - kBelow.size();
  }
  return c;
}

}  // namespace

std::string bar(double fraction, std::size_t columns, const Paint& paint) {
  if (!(fraction > 0)) return {};
  const double length = std::min(1.0, fraction) * double(columns);
  if (!paint.on) return length < 0.5 ? "." : std::string(std::size_t(std::lround(length)), '#');
  constexpr std::string_view kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const long eighths = std::max(1L, std::lround(8 * length));
  std::string text;
  for (long i = 0; i < eighths / 8; ++i) text += "█";
  return text + std::string(kEighths[std::size_t(eighths % 8)]);
}

std::string draw_difference_bar(double fraction, std::size_t columns, const Paint& paint) {
  const std::string line = paint.on ? "│" : "|";
  if (fraction > 0)
    return std::string(columns, ' ') + line +
           apply_tone(bar(fraction, columns, paint), BarLine::Tone::wait, paint);
  // Partial blocks are left-aligned, so a bar that grows leftwards has only whole and half
  // blocks.
  const double length = std::min(1.0, -fraction) * double(columns);
  std::string drawn;
  if (!paint.on) {
    drawn = bar(-fraction, columns, paint);
  } else if (length > 0) {
    const long halves = std::max(1L, std::lround(2 * length));
    if (halves % 2 == 1) drawn = "▐";
    for (long i = 0; i < halves / 2; ++i) drawn += "█";
  }
  return pad_to(columns, drawn) + (drawn.empty() ? "" : paint.green(drawn)) + line;
}

std::string format_share(double share) {
  if (share > 0 && share < 0.0005) return "<0.1 %";
  return fmt::format("{:.1f} %", 100 * share);
}

std::string draw_bar_lines(const std::vector<BarLine>& lines, const Paint& paint,
                           std::size_t width) {
  const Columns c = measure_columns(lines, width);
  std::string out;
  for (const BarLine& line : lines) {
    const std::string drawn = bar(line.fraction, c.bar, paint);
    std::string text = std::string(kIndent) + line.name + pad_to(c.name, line.name);
    text += std::string(kColumnGap) + apply_tone(drawn, line.tone, paint) + pad_to(c.bar, drawn);
    for (std::size_t i = 0; i < line.figures.size(); ++i)
      text += std::string(kColumnGap) + pad_to(c.figures[i], line.figures[i]) + line.figures[i];
    if (!line.remark.empty() && c.below) {
      text += "\n" + wrap_text(line.remark, c.remark, kBelow);
      text.pop_back();
    } else if (!line.remark.empty()) {
      const std::string indent(c.before_remark(), ' ');
      const std::string remark = wrap_text(line.remark, c.remark, indent);
      text +=
          remark.substr(indent.size() - kColumnGap.size());  // the first line continues this one
      text.pop_back();
    }
    out += text.erase(text.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

}  // namespace rankwright::report
