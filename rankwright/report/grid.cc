#include "rankwright/report/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "rankwright/base/format.h"
#include "rankwright/report/table.h"

namespace rankwright {
namespace {

constexpr i64 kMostNodes = 16;    // drawn; the rest is counted
constexpr i64 kRanksPerLine = 8;  // in a box
constexpr i64 kMostRanksInBox = 72;

struct Lines {
  std::string_view horizontal, vertical, top_left, top_right, bottom_left, bottom_right;
};
constexpr Lines kDrawn{"─", "│", "┌", "┐", "└", "┘"};
constexpr Lines kAscii{"-", "|", "+", "+", "+", "+"};

/// A box as lines of text. `width` is what a terminal shows; colour codes make lines longer.
struct Box {
  std::vector<std::string> lines;
  std::size_t width = 0;
};

std::string repeated(std::string_view text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

/// "pp 0", "pp 0-3": the coordinates on `axis` of the ranks in a node.
std::string coordinates(const Mesh& mesh, Axis axis, const std::vector<i64>& ranks) {
  std::set<i64> seen;
  for (const i64 rank : ranks) seen.insert(mesh.coordinate(rank, axis));
  const bool range = seen.size() > 1 && *seen.rbegin() - *seen.begin() + 1 == i64(seen.size());
  if (seen.size() == 1) return fmt::format("{} {}", name(axis), *seen.begin());
  if (range) return fmt::format("{} {}-{}", name(axis), *seen.begin(), *seen.rbegin());
  return fmt::format("{} {},{}..{}", name(axis), *seen.begin(), *std::next(seen.begin()),
                     *seen.rbegin());
}

/// What tells this node from the others: its coordinates on the axes that are split.
std::string title(const Setup& setup, i64 node, const std::vector<i64>& ranks) {
  const Mesh mesh = setup.plan.meshes().dense;
  std::string text = fmt::format("node {}", count(node));
  for (const Axis axis : {Axis::pp, Axis::dp, Axis::cp})
    if (mesh.degree(axis) > 1) text += " · " + coordinates(mesh, axis, ranks);
  return text;
}

Box draw(const Setup& setup, i64 node, i64 per_node, const Paint& paint, std::size_t digits) {
  const Mesh mesh = setup.plan.meshes().dense;
  const Lines& lines = paint.on ? kDrawn : kAscii;
  std::vector<i64> ranks;
  for (i64 slot = 0; slot < per_node && node * per_node + slot < setup.world; ++slot)
    ranks.push_back(setup.plan.placement.rank(node * per_node + slot));

  Box box;
  const std::string head = title(setup, node, ranks);
  const std::size_t per_line = std::size_t(std::min(per_node, kRanksPerLine));
  // A wider gap between two tensor-parallel groups.
  const std::size_t inner = per_line * (digits + 1) + per_line / 2 + 1;
  box.width = std::max(inner + 2, display_width(head));
  box.lines.push_back(paint.bold(head) + std::string(box.width - display_width(head), ' '));
  const std::size_t bar = box.width - 2;
  box.lines.push_back(std::string(lines.top_left) + repeated(lines.horizontal, bar) +
                      std::string(lines.top_right));
  for (std::size_t first = 0; first < ranks.size(); first += per_line) {
    std::string text;
    std::size_t shown = 0;
    for (std::size_t i = first; i < std::min(ranks.size(), first + per_line); ++i) {
      const bool new_group = i > first && mesh.coordinate(ranks[i], Axis::tp) == 0 && mesh.tp > 1;
      const std::string cell = fmt::format("{}{:>{}}", new_group ? "  " : " ", ranks[i], digits);
      text += paint.group(mesh.coordinate(ranks[i], Axis::pp), cell);
      shown += cell.size();
    }
    box.lines.push_back(std::string(lines.vertical) + text +
                        std::string(bar - std::min(bar, shown), ' ') + std::string(lines.vertical));
  }
  box.lines.push_back(std::string(lines.bottom_left) + repeated(lines.horizontal, bar) +
                      std::string(lines.bottom_right));
  return box;
}

/// Boxes side by side, as many as fit in `width`.
std::string in_rows(const std::vector<Box>& boxes, std::size_t width) {
  std::string out;
  std::size_t widest = 1;
  std::size_t tallest = 0;
  for (const Box& box : boxes) {
    widest = std::max(widest, box.width);
    tallest = std::max(tallest, box.lines.size());
  }
  const std::size_t per_row = std::max<std::size_t>(1, (width + 2) / (widest + 2));
  for (std::size_t first = 0; first < boxes.size(); first += per_row)
    for (std::size_t line = 0; line < tallest; ++line) {
      std::string text;
      for (std::size_t b = first; b < std::min(boxes.size(), first + per_row); ++b) {
        const bool has = line < boxes[b].lines.size();
        text += (b == first ? "  " : "  ") +
                (has ? boxes[b].lines[line] + std::string(widest - boxes[b].width, ' ')
                     : std::string(widest, ' '));
      }
      text.erase(text.find_last_not_of(' ') + 1);
      out += text + "\n";
    }
  return out;
}

}  // namespace

std::string rank_grid(const Setup& setup, const Paint& paint, std::size_t width) {
  const i64 per_node = std::min(setup.cluster.domain(0), kMostRanksInBox);
  const i64 nodes = ceil_div(setup.world, per_node);
  const i64 drawn = std::min(nodes, kMostNodes);
  const std::size_t digits = std::to_string(std::min(setup.world, drawn * per_node) - 1).size();
  // Permuted placements put high ranks on the first nodes.
  const bool block = setup.plan.placement.kind == Placement::Kind::block;
  const std::size_t wide = block ? digits : std::to_string(setup.world - 1).size();
  std::vector<Box> boxes;
  for (i64 node = 0; node < drawn; ++node)
    boxes.push_back(draw(setup, node, per_node, paint, wide));
  std::string out = in_rows(boxes, width);
  if (drawn < nodes)
    out += fmt::format("  ... and {} more nodes, {} in all; see one rank with --rank N\n",
                       count(nodes - drawn), count(nodes));
  return out;
}

}  // namespace rankwright
