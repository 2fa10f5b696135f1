#include "rankwright/report/catalog/collective_svg.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/check.h"
#include "rankwright/report/render/chart.h"
#include "rankwright/report/render/event_color.h"
#include "rankwright/report/render/svg.h"

namespace rankwright::report {
namespace {

constexpr i64 kPictureRanks = 4;
constexpr double kEdge = 24, kRankNames = 62, kGap = 76;  // pixels
constexpr double kCellHeight = 34, kCellGap = 4, kRowPitch = 42;
constexpr double kMinCell = 46, kCellMargin = 14, kMinWidth = 620;
constexpr double kTextLine = 19;

/// The color of each part, from dark to light.
constexpr Rgb kPartColors[kPictureRanks] = {
    {0x08, 0x3A, 0x72}, {0xD5, 0x5E, 0x00}, {0x56, 0xB4, 0xE9}, {0xF0, 0xE4, 0x42}};

constexpr std::string_view kPictureStyle =
    "text{font-family:system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;"
    "font-size:13px;fill:#1b1f23}\n"
    ".h{font-size:16px;font-weight:600}.n{font-weight:600}.e{text-anchor:end}"
    ".m{text-anchor:middle}.q{fill:#57606a}.k{fill:#000}.v{fill:#fff}\n"
    ".g{fill:#fff}.o{fill:none;stroke:#8c959f;stroke-width:1;stroke-dasharray:3 3}"
    ".a{stroke:#57606a;stroke-width:2;fill:none}\n";
constexpr std::string_view kDarkPicture =
    "@media (prefers-color-scheme:dark){text{fill:#e6edf3}.q{fill:#9da7b1}.g{fill:#0d1117}"
    ".k{fill:#000}.v{fill:#fff}.a{stroke:#9da7b1}.o{stroke:#6e7681}}\n";

/// One side of the picture.
struct BufferGrid {
  planner::Buffers buffers;
  double cell = kMinCell;  // width of a cell

  explicit BufferGrid(planner::Buffers of) : buffers(std::move(of)) {
    for (const planner::Buffer& buffer : buffers)
      for (const planner::Slot& slot : buffer)
        cell = std::max(cell, measure_text_width(planner::format_slot(slot)) + kCellMargin);
  }

  double width() const { return double(buffers.front().size()) * (cell + kCellGap) - kCellGap; }

  std::string draw(double left, double top) const {
    std::string out;
    for (std::size_t r = 0; r < buffers.size(); ++r)
      for (std::size_t k = 0; k < buffers[r].size(); ++k) {
        const planner::Slot& slot = buffers[r][k];
        const double x = left + double(k) * (cell + kCellGap), y = top + double(r) * kRowPitch;
        if (slot.empty()) {
          out += svg::rect(x, y, cell, kCellHeight, "o") + "/>\n";
          continue;
        }
        const std::size_t color = std::size_t(slot.front().part);
        out += svg::rect(x, y, cell, kCellHeight, fmt::format("f{}", color)) + "/>\n" +
               svg::text(x + cell / 2, y + kCellHeight / 2 + 4.5,
                         fmt::format("m {}", choose_text_class(kPartColors[color])),
                         planner::format_slot(slot));
      }
    return out;
  }
};

std::string draw_arrow(double from, double to, double y) {
  constexpr double kHead = 7;
  return svg::line(from, y, to, y, "a") +
         fmt::format("<path d=\"M{} {}L{} {}L{} {}\" class=\"a\"/>\n", svg::px(to - kHead),
                     svg::px(y - kHead), svg::px(to), svg::px(y), svg::px(to - kHead),
                     svg::px(y + kHead));
}

}  // namespace

std::string draw_collective_svg(const planner::ConceptPage& page) {
  RW_CHECK(page.collective.has_value());
  const planner::Buffers input = make_input(*page.collective, kPictureRanks);
  const BufferGrid before(input), after(apply_collective(*page.collective, input));
  const double left = kEdge + kRankNames, right = left + before.width() + kGap;
  const double width = std::max(kMinWidth, right + after.width() + kEdge);
  std::string body;
  double y = 32;
  const auto write = [&](std::string_view words, std::string_view classes) {
    for (const std::string& line : break_text(words, width - 2 * kEdge, classes)) {
      body += svg::text(kEdge, y, classes, line);
      y += kTextLine;
    }
  };
  write(page.term, "h");
  y += 3;
  write(page.entry().definition, "");
  y += 14;
  body += svg::text(left, y, "n", "before") + svg::text(right, y, "n", "after");
  y += 10;
  for (i64 r = 0; r < kPictureRanks; ++r)
    body += svg::text(kEdge, y + double(r) * kRowPitch + kCellHeight / 2 + 4.5, "q",
                      fmt::format("rank {}", r));
  const double middle = y + (double(kPictureRanks - 1) * kRowPitch + kCellHeight) / 2;
  body += before.draw(left, y) + draw_arrow(right - kGap + 16, right - 16, middle) +
          after.draw(right, y);
  y += double(kPictureRanks) * kRowPitch + 18;
  write(page.bytes, "q");
  y += 4;

  std::string css(kPictureStyle);
  for (i64 k = 0; k < kPictureRanks; ++k)
    css += fmt::format(".f{}{{fill:{}}}", k, hex(kPartColors[k]));
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 "
             "{0} {1}\" role=\"img\">\n<title>{2} on {3} ranks</title>\n<desc>{4}</desc>\n",
             svg::px(width), svg::px(y), svg::escaped(page.term), kPictureRanks,
             svg::escaped(page.entry().definition)) +
         "<style>" + css + "\n" + std::string(kDarkPicture) + "</style>\n" +
         svg::rect(0, 0, width, y, "g") + "/>\n" + body + "</svg>\n";
}

}  // namespace rankwright::report
