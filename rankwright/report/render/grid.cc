#include "rankwright/report/render/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "rankwright/base/format.h"
#include "rankwright/report/render/table.h"

namespace rankwright::report {
namespace {

constexpr i64 kMaxNodes = 16;     // up to here all are drawn
constexpr i64 kFirstNodes = 6;    // drawn of a larger cluster
constexpr i64 kRanksPerLine = 8;  // in a box
constexpr i64 kMaxRanksInBox = 72;

struct Lines {
  std::string_view horizontal, vertical, top_left, top_right, bottom_left, bottom_right;
};
constexpr Lines kDrawn{"─", "│", "┌", "┐", "└", "┘"};
constexpr Lines kAscii{"-", "|", "+", "+", "+", "+"};

/// A line that may contain color codes, and the number of characters that a terminal shows of it.
struct GridLine {
  std::string text;
  std::size_t width = 0;
};

/// The title and the contents of one node's box.
struct Box {
  std::string title;
  std::vector<GridLine> lines{};
};

std::string repeat(std::string_view text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

/// Formats the coordinates on `axis` of the ranks in a node: "pp 0", "pp 0-3".
std::string format_coordinates(const mesh::Mesh& mesh, mesh::Axis axis,
                               const std::vector<i64>& ranks) {
  std::set<i64> seen;
  for (const i64 rank : ranks) seen.insert(mesh.coordinate(rank, axis));
  const bool range = seen.size() > 1 && *seen.rbegin() - *seen.begin() + 1 == i64(seen.size());
  if (seen.size() == 1) return fmt::format("{} {}", name(axis), *seen.begin());
  if (range) return fmt::format("{} {}-{}", name(axis), *seen.begin(), *seen.rbegin());
  return fmt::format("{} {},{}..{}", name(axis), *seen.begin(), *std::next(seen.begin()),
                     *seen.rbegin());
}

/// Returns the node's title: its number and its coordinates on the axes that are split.
std::string write_title(const plan::TrainingConfig& config, i64 node,
                        const std::vector<i64>& ranks) {
  const mesh::Mesh mesh = config.plan.meshes().dense;
  std::string text = fmt::format("node {}", count(node));
  if (ranks.empty()) return text + " · idle";
  for (const mesh::Axis axis : {mesh::Axis::pp, mesh::Axis::dp, mesh::Axis::cp})
    if (mesh.degree(axis) > 1) text += " · " + format_coordinates(mesh, axis, ranks);
  return text;
}

bool same_tensor_group(const mesh::Mesh& mesh, i64 a, i64 b) {
  const auto first = [&](i64 rank) {
    return rank - mesh.coordinate(rank, mesh::Axis::tp) * mesh.stride(mesh::Axis::tp);
  };
  return first(a) == first(b);
}

/// Returns the number of devices up to the last one that has a rank.
i64 count_devices_in_use(const plan::TrainingConfig& config) {
  const mesh::Placement& placement = config.plan.placement;
  if (placement.kind != mesh::Placement::Kind::listed) return config.world;
  return 1 + *std::max_element(placement.devices.begin(), placement.devices.end());
}

Box fill_box(const plan::TrainingConfig& config, i64 node, i64 per_node, const Paint& paint,
             std::size_t digits) {
  const mesh::Mesh mesh = config.plan.meshes().dense;
  const i64 devices = count_devices_in_use(config);
  std::vector<i64> ranks;
  for (i64 slot = 0; slot < per_node && node * per_node + slot < devices; ++slot)
    if (const i64 rank = config.plan.placement.rank(node * per_node + slot); rank >= 0)
      ranks.push_back(rank);
  Box box{write_title(config, node, ranks)};
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (i % std::size_t(kRanksPerLine) == 0) box.lines.push_back({" ", 1});
    GridLine& line = box.lines.back();
    // A wider gap between two tensor-parallel groups.
    const bool new_group = mesh.tp > 1 && i > 0 && !same_tensor_group(mesh, ranks[i - 1], ranks[i]);
    const std::size_t gap = line.width == 1 ? 0 : new_group ? 2 : 1;
    const std::string cell = fmt::format("{}{:>{}}", std::string(gap, ' '), ranks[i], digits);
    line.text += paint.group(mesh.coordinate(ranks[i], mesh::Axis::pp), cell);
    line.width += cell.size();
  }
  return box;
}

/// Returns line `index` of a box: title, border or ranks. Every box is `width` characters wide
/// inside and has `height` lines of ranks.
std::string draw_box_line(const Box& box, std::size_t index, std::size_t width, std::size_t height,
                          const Paint& paint) {
  const Lines& lines = paint.on ? kDrawn : kAscii;
  const auto border = [&](std::string_view left, std::string_view right) {
    return std::string(left) + repeat(lines.horizontal, width) + std::string(right);
  };
  if (index == 0)
    return paint.bold(box.title) + std::string(width + 2 - display_width(box.title), ' ');
  if (index == 1) return border(lines.top_left, lines.top_right);
  if (index == height + 2) return border(lines.bottom_left, lines.bottom_right);
  const GridLine line = index - 2 < box.lines.size() ? box.lines[index - 2] : GridLine{};
  return std::string(lines.vertical) + line.text + std::string(width - line.width, ' ') +
         std::string(lines.vertical);
}

/// Lays out boxes side by side, as many per row as fit into `columns`.
std::string arrange_boxes(const std::vector<Box>& boxes, std::size_t columns, const Paint& paint) {
  std::size_t width = 1;
  std::size_t height = 0;
  for (const Box& box : boxes) {
    for (const GridLine& line : box.lines) width = std::max(width, line.width + 1);
    width = std::max(width, std::max<std::size_t>(2, display_width(box.title)) - 2);
    height = std::max(height, box.lines.size());
  }
  const std::size_t per_row = std::max<std::size_t>(1, columns / (width + 4));
  std::string out;
  for (std::size_t first = 0; first < boxes.size(); first += per_row)
    for (std::size_t index = 0; index < height + 3; ++index) {
      std::string text;
      for (std::size_t b = first; b < std::min(boxes.size(), first + per_row); ++b)
        text += "  " + draw_box_line(boxes[b], index, width, height, paint);
      text.erase(text.find_last_not_of(' ') + 1);
      out += text + "\n";
    }
  return out;
}

}  // namespace

std::string draw_rank_grid(const plan::TrainingConfig& config, const Paint& paint,
                           std::size_t width) {
  const i64 per_node = std::min(config.cluster.domain(0), kMaxRanksInBox);
  const i64 nodes = ceil_div(count_devices_in_use(config), per_node);
  const i64 drawn = nodes <= kMaxNodes ? nodes : kFirstNodes;
  const std::size_t digits = std::to_string(std::min(config.world, drawn * per_node) - 1).size();
  // Permuted placements put high ranks on the first nodes.
  const bool block = config.plan.placement.kind == mesh::Placement::Kind::block;
  const std::size_t wide = block ? digits : std::to_string(config.world - 1).size();
  std::vector<Box> boxes;
  for (i64 node = 0; node < drawn; ++node)
    boxes.push_back(fill_box(config, node, per_node, paint, wide));
  std::string out = arrange_boxes(boxes, width, paint);
  if (drawn < nodes)
    out += fmt::format("  ... and {} more nodes, {} in all; see one rank with --rank N\n",
                       count(nodes - drawn), count(nodes));
  return out;
}

}  // namespace rankwright::report
