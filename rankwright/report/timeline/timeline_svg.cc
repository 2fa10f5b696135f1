#include "rankwright/report/timeline/timeline_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rankwright/base/format.h"
#include "rankwright/report/render/svg.h"
#include "rankwright/report/render/table.h"
#include "rankwright/report/render/time_ticks.h"
#include "rankwright/report/timeline/timeline_drawing.h"
#include "rankwright/report/timeline/timeline_sentences.h"

namespace rankwright::report {
namespace {

using svg::escaped;
using svg::line;
using svg::px;
using svg::rect;
using svg::text;

constexpr i64 kMaxBins = 40'000;              // in all rows together
constexpr i64 kMaxDrawnRows = 128;            // of more ranks a sample is drawn
constexpr std::size_t kMaxDrawnRuns = 2'000;  // maximum length of a drawn critical path

constexpr double kDrawingWidth = 1280, kLeftEdge = 72, kRightEdge = 118, kTopEdge = 78;
constexpr double kChart = kDrawingWidth - kLeftEdge - kRightEdge;
constexpr std::size_t kCharacters = 160;  // per line of text

/// The layout of the picture, in pixels.
struct SvgLayout {
  std::vector<i64> ranks{};
  double pitch = 0;   // distance of rows
  double height = 0;  // of a row
  bool cells = true;
  Seconds end{};

  double x(Seconds t) const { return kLeftEdge + (end.value > 0 ? t / end * kChart : 0); }
  double y(std::size_t row) const { return kTopEdge + double(row) * pitch; }
  double bottom() const { return y(ranks.size()); }
};

SvgLayout make_layout(const planner::SimulatedStep& p, const planner::TimelineSummary& s) {
  SvgLayout where{.end = s.end};
  where.ranks = select_ranks_to_draw(p.program.pp(), kMaxDrawnRows);
  const std::size_t rows = where.ranks.size();
  where.pitch = rows <= 16 ? 30 : rows <= 32 ? 20 : rows <= 64 ? 14 : 9;
  where.height = where.pitch - (rows <= 16 ? 4 : rows <= 64 ? 2 : 1);
  where.cells = can_draw_each(p.program, s.cells);
  return where;
}

/// Returns the CSS class of a color: "f0" is the forward of the first chunk.
std::string name_color_class(planner::EventKind kind, i64 shade) {
  return fmt::format("{}{}", "fbiwco"[std::size_t(kind)], shade);
}

std::string write_style(const planner::SimulatedStep& p) {
  std::string css =
      "text{font-family:system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;"
      "font-size:13px;fill:#1b1f23}\n"
      ".h{font-size:17px;font-weight:600}.e{text-anchor:end}.m{text-anchor:middle}"
      ".n{font-weight:600}.q{fill:#57606a}\n"
      ".l{text-anchor:middle;dominant-baseline:central;pointer-events:none}\n"
      ".k{fill:#000}.v{fill:#fff}\n"
      ".g{fill:#fff}.r{fill:#eef0f2}.z0{fill:#1b7fbd;fill-opacity:.07}"
      ".z1{fill:#808080;fill-opacity:.13}.z2{fill:#d55e00;fill-opacity:.07}"
      ".z3{fill:#b25f95;fill-opacity:.1}\n"
      ".a{stroke:#8c959f;stroke-width:1}.d{stroke:#57606a;stroke-width:1;stroke-dasharray:4 3}\n"
      ".p{fill:none;stroke:#1b1f23;stroke-width:1.6;stroke-linejoin:round;pointer-events:none}\n";
  const i64 max = count_shades(p.shape);
  for (std::size_t i = 0; i < planner::kEventKinds; ++i)
    for (i64 chunk = 0; chunk < (i < 4 ? max : 1); ++chunk)
      css += fmt::format(".{}{{fill:{}}}", name_color_class(planner::EventKind(i), chunk),
                         hex(shade(planner::EventKind(i), chunk, i < 4 ? max : 1)));
  css +=
      "\n@media (prefers-color-scheme:dark){text{fill:#e6edf3}.q{fill:#9da7b1}.g{fill:#0d1117}"
      ".r{fill:#1d232b}.k{fill:#000}.v{fill:#fff}.z0,.z2,.z3{fill-opacity:.16}.z1{fill-opacity:.2}"
      ".a{stroke:#6e7681}.d{stroke:#9da7b1}.p{stroke:#fff}}\n";
  return "<style>" + css + "</style>\n";
}

/// Draws one cell or step with its tooltip and, if it fits, its microbatch.
std::string draw_cell(const planner::SimulatedStep& p, i64 rank, const program::Event& e,
                      const SvgLayout& where, double y) {
  constexpr double kGap = 0.7;               // between cells that are wide enough
  constexpr double kOverlappedHeight = 0.2;  // height of overlapped steps, relative to the row
  const bool beside = planner::is_beside(p.program, rank, e.action);
  const double x = where.x(e.start);
  const double width = where.x(e.end) - x;
  const double height = beside ? kOverlappedHeight * where.height : where.height;
  const planner::EventKind kind = planner::classify_event(p.program, rank, e.action);
  const i64 shade_index = find_shade(p.shape, rank, e.action);
  std::string out = rect(x, y + where.height - height, width > 4 * kGap ? width - kGap : width,
                         height, name_color_class(kind, shade_index));
  out += fmt::format("><title>{}: {}, {} to {}</title></rect>\n",
                     escaped(name_event(p.program, rank, e.action)), row(kind).name, show(e.start),
                     show(e.end));
  const std::string label = is_cell(e.action.kind) ? std::to_string(e.action.microbatch) : "";
  if (label.empty()) return out;
  constexpr double kDigitWidth = 0.62;    // relative to the font size
  constexpr double kSmallestLabel = 7.5;  // pixels, still readable
  const double fits = (width - 2) / (kDigitWidth * double(label.size()));
  const double size = std::min({12.0, where.height * 0.7, fits});
  if (size < kSmallestLabel) return out;
  const bool black =
      choose_text_color(shade(kind, shade_index, count_shades(p.shape))) == Rgb{0, 0, 0};
  return out +
         fmt::format("<text x=\"{}\" y=\"{}\" class=\"l {}\" style=\"font-size:{}px\">{}</text>\n",
                     px(x + width / 2), px(y + height / 2), black ? "k" : "v", px(size), label);
}

/// Draws a row as stacked columns, backward below forward. One path per kind of work; equal
/// adjacent columns are merged.
std::string draw_columns(const planner::SimulatedStep& p, i64 rank, std::size_t bins,
                         const SvgLayout& where, double y) {
  constexpr planner::EventKind kOrder[] = {
      planner::EventKind::weight_grad, planner::EventKind::input_grad,
      planner::EventKind::backward,    planner::EventKind::forward,
      planner::EventKind::collective,  planner::EventKind::optimizer};
  const std::vector<Column> all = columns(p, rank, bins);
  const double width = kChart / double(bins);
  std::vector<double> base(bins, 0.0);  // top of what is drawn so far, as a share of the height
  std::string out;
  const auto quarter = [&](double share) { return std::round(share * where.height * 4) / 4; };
  for (const planner::EventKind kind : kOrder) {
    std::string d;
    for (std::size_t c = 0; c < bins;) {
      const double low = quarter(base[c]);
      const double high = quarter(base[c] + all[c].of(kind));
      std::size_t end = c;
      for (; end < bins && quarter(base[end]) == low &&
             quarter(base[end] + all[end].of(kind)) == high;
           ++end)
        base[end] += all[end].of(kind);
      if (high > low)
        d += fmt::format("M{} {}h{}v{}h-{}z", px(kLeftEdge + double(c) * width),
                         px(y + where.height - high), px(double(end - c) * width), px(high - low),
                         px(double(end - c) * width));
      c = end;
    }
    if (!d.empty())
      out += fmt::format("<path class=\"{}\" d=\"{}\"/>\n", name_color_class(kind, 0), d);
  }
  return out;
}

/// Draws the background of the rows and of the phases.
std::string draw_background(const planner::TimelineSummary& s, const SvgLayout& where) {
  constexpr double kLetter = 8;  // width of a letter in pixels
  std::string out;
  for (std::size_t i = 0; i < where.ranks.size(); ++i)
    out += rect(kLeftEdge, where.y(i), kChart, where.height, "r") + "/>\n";
  for (const planner::Band& band : s.bands) {
    const double begin = where.x(band.begin), end = where.x(band.end);
    const int index = band.name == "warm-up"  ? 0
                      : band.name == "steady" ? 1
                      : band.name == "drain"  ? 2
                                              : 3;
    out += rect(begin, kTopEdge - 24, end - begin, where.bottom() - kTopEdge + 26,
                fmt::format("z{}", index)) +
           "/>\n";
    if (begin > kLeftEdge) out += line(begin, kTopEdge - 24, begin, where.bottom() + 2, "d");
    std::string words = fmt::format("{} {}", band.name, show(band.length()));
    if (kLetter * double(words.size()) > end - begin) words = band.name;
    if (kLetter * double(words.size()) <= end - begin)
      out += text((begin + end) / 2, kTopEdge - 9, "m n", words);
  }
  return out;
}

std::string draw_rows(const planner::SimulatedStep& p, const planner::TimelineSummary& s,
                      const SvgLayout& where) {
  const std::size_t bins =
      std::size_t(std::min<i64>(i64(kChart), kMaxBins / i64(where.ranks.size())));
  // If rows are narrow, only every second one has a number.
  const std::size_t every = where.pitch >= 14 ? 1 : 2;
  std::string out;
  for (std::size_t i = 0; i < where.ranks.size(); ++i) {
    const i64 rank = where.ranks[i];
    const planner::RankSummary& of = s.ranks[std::size_t(rank)];
    const double y = where.y(i), middle = y + where.height / 2 + 4.5;
    const std::size_t left = where.ranks.size() - i - 1;
    if (left == 0 || (i % every == 0 && left >= every)) {
      out += text(kLeftEdge - 8, middle, "e", fmt::format("PP {}", rank));
      out +=
          text(kDrawingWidth - 62, middle, "e", fmt::format("{:.0f} %", 100 * s.share(of.cells)));
      out += text(kDrawingWidth - 16, middle, "e", count(of.held));
    }
    if (!where.cells) {
      out += draw_columns(p, rank, bins, where, y);
      continue;
    }
    const std::vector<program::Event> line = events(p, rank);
    for (const bool beside : {false, true})
      for (const program::Event& e : line)
        if (planner::is_beside(p.program, rank, e.action) == beside)
          out += draw_cell(p, rank, e, where, y);
  }
  return out;
}

/// Draws the critical path as a line; empty if it is too long or not all ranks are drawn.
std::string draw_path(const planner::SimulatedStep& p, const planner::TimelineSummary& s,
                      const SvgLayout& where) {
  if (s.path.size() > kMaxDrawnRuns || i64(where.ranks.size()) < p.program.pp() ||
      p.program.pp() < 2)
    return "";
  std::string points;
  for (const planner::CriticalPathRun& run : s.path) {
    const double y = where.y(std::size_t(run.pp_rank)) + where.height - 2;
    points +=
        fmt::format("{},{} {},{} ", px(where.x(run.begin)), px(y), px(where.x(run.end)), px(y));
  }
  return fmt::format("<polyline class=\"p\" points=\"{}\"/>\n", points);
}

std::string draw_axis(const SvgLayout& where) {
  const double y = where.bottom() + 2;
  std::string out = line(kLeftEdge, y, kLeftEdge + kChart, y, "a");
  for (const Seconds t : place_ticks(where.end, 12)) {
    out += line(where.x(t), y, where.x(t), y + 5, "a");
    out += text(where.x(t), y + 19, "m q", t.value == 0 ? "0" : show(t));
  }
  return out;
}

/// Draws samples of the colors in one line at `y`.
std::string draw_legend(const planner::SimulatedStep& p, const planner::TimelineSummary& s,
                        const SvgLayout& where, double y) {
  std::string out;
  double x = kLeftEdge;
  const auto sample = [&](std::string_view name, auto draw) {
    out += draw(x);
    out += text(x + 26, y, "q", name);
    x += 26 + 7.2 * double(name.size()) + 22;
  };
  const i64 max = count_shades(p.shape);
  for (const planner::EventKind kind : find_used_kinds(p.program))
    sample(row(kind).name, [&](double at) {
      std::string boxes;
      const i64 parts =
          where.cells && kind < planner::EventKind::collective ? std::min<i64>(max, 5) : 1;
      for (i64 i = 0; i < parts; ++i)
        boxes += rect(at + 20.0 * double(i) / double(parts), y - 11, 20.0 / double(parts), 13,
                      name_color_class(kind, parts < 2 ? 0 : i * (max - 1) / (parts - 1))) +
                 "/>\n";
      return boxes;
    });
  sample("idle", [&](double at) { return rect(at, y - 11, 20, 13, "r") + "/>\n"; });
  if (!draw_path(p, s, where).empty())
    sample("critical path", [&](double at) { return line(at, y - 4, at + 20, y - 4, "p"); });
  return out;
}

/// Explains how to read the picture.
std::string write_caption(const planner::SimulatedStep& p, const planner::TimelineSummary& s,
                          const SvgLayout& where) {
  std::string words;
  if (where.cells) {
    words = "Numbers are micro-batches, where they fit.";
    if (count_shades(p.shape) > 1)
      words += row(p.shape.schedule).stage_order == pipeline::StageOrder::mirror
                   ? " Lighter actions entered at the other end."
                   : " Lighter actions belong to later virtual stages.";
  } else {
    words = fmt::format(
        "{} actions are too many to draw one by one: columns show how time is spent, backward "
        "below, forward above.",
        count(s.cells));
  }
  if (i64(where.ranks.size()) < p.program.pp())
    words +=
        fmt::format(" {} of {} PP ranks are shown.", where.ranks.size(), count(p.program.pp()));
  return words;
}

/// Writes the text below the picture and moves `y` down.
std::string write_text(const planner::SimulatedStep& p, const planner::TimelineSummary& s,
                       const SvgLayout& where, double& y) {
  constexpr double kLine = 19;
  std::string out = text(kLeftEdge, y, "q", write_caption(p, s, where));
  y += kLine + 8;
  for (const Remark& remark : write_remarks(p, s)) {
    out += text(kLeftEdge, y, "n", remark.name);
    std::string lines = wrap_text(remark.text, kCharacters, "");
    for (std::size_t at = 0; at < lines.size(); y += kLine) {
      const std::size_t end = lines.find('\n', at);
      out += text(kLeftEdge + 100, y, "", lines.substr(at, end - at));
      at = end + 1;
    }
  }
  return out;
}

}  // namespace

std::string draw_timeline_svg(const planner::SimulatedStep& p, const planner::TimelineSummary& s,
                              std::string_view heading) {
  const SvgLayout where = make_layout(p, s);
  double y = where.bottom() + 48;
  const std::string legend = draw_legend(p, s, where, y);
  y += 24;
  const std::string words = write_text(p, s, where, y);
  const std::string title = write_timeline_title(p, s);
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" "
      "role=\"img\">\n<title>{2}</title>\n<desc>{3}</desc>\n",
      px(kDrawingWidth), px(y), escaped(title), escaped(heading));
  out += write_style(p) + rect(0, 0, kDrawingWidth, y, "g") + "/>\n";
  out += text(kLeftEdge, 22, "h", title) +
         text(kLeftEdge, 41, "q", make_excerpt(heading, kCharacters));
  out += text(kDrawingWidth - 62, kTopEdge - 9, "e q", "busy") +
         text(kDrawingWidth - 16, kTopEdge - 9, "e q", "held");
  out += draw_background(s, where) + draw_rows(p, s, where) + draw_path(p, s, where) +
         draw_axis(where) + legend + words;
  return out + "</svg>\n";
}

}  // namespace rankwright::report
