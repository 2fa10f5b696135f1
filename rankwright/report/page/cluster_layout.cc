#include "rankwright/report/page/cluster_layout.h"

#include <algorithm>
#include <cmath>

#include "rankwright/base/check.h"

namespace rankwright::report {
namespace {

constexpr double kBottom = 9;
constexpr double kBetween = 8;  // between domains and between rows
constexpr double kBesides = 3;  // between devices
constexpr double kUneven = 2;   // penalty on the height for partial rows or more rows than columns

/// Returns the number of columns for `things` boxes of equal width: as many as fit, or if there
/// are few rows, a smaller number that gives rows of equal length.
std::size_t choose_columns(std::size_t things, double width, double apart, double room) {
  constexpr std::size_t kFewRows = 4;
  const std::size_t fit =
      std::clamp<std::size_t>(std::size_t(std::max(0.0, (room + apart) / (width + apart))), 1,
                              std::max<std::size_t>(1, things));
  const std::size_t rows = (things + fit - 1) / fit;
  if (rows > kFewRows) return fit;
  for (std::size_t columns = fit; 2 * columns > fit; --columns)
    if (things % columns == 0) return columns;
  return (things + rows - 1) / rows;
}

void move(PlacedDomain& domain, double right, double down) {
  domain.x += right, domain.y += down;
  for (double& bar : domain.bars) bar += down;
  for (PlacedDevice& device : domain.devices) device.x += right, device.y += down;
  for (PlacedDomain& below : domain.domains) move(below, right, down);
}

/// A layout with at most `in_a_row` devices per row.
class Layout {
 public:
  Layout(const ClusterSizes& sizes, std::size_t in_a_row) : sizes_(sizes), in_a_row_(in_a_row) {}

  PlacedDomain place(const planner::MapDomain& domain, double widest) {
    PlacedDomain placed{.domain = &domain};
    if (domain.domains.empty())
      place_devices(placed, widest);
    else
      place_domains(placed, widest);
    placed.width = std::max(placed.width, kDomainLeft + sizes_.heading(domain) + kDomainRight);
    return placed;
  }

  bool uneven() const { return uneven_; }

 private:
  void place_devices(PlacedDomain& placed, double widest) {
    const std::vector<std::size_t>& devices = placed.domain->devices;
    const std::size_t columns = std::min(
        in_a_row_,
        choose_columns(devices.size(), sizes_.side, kBesides, widest - kDomainLeft - kDomainRight));
    uneven_ = uneven_ || devices.size() % columns != 0 || columns * columns < devices.size();
    double y = kDomainHead;
    for (std::size_t k = 0; k < devices.size(); ++k) {
      const double x = kDomainLeft + double(k % columns) * (sizes_.side + kBesides);
      if (k % columns == 0) placed.bars.push_back(y);
      placed.devices.push_back({devices[k], x, y + kDomainStub});
      placed.width = std::max(placed.width, x + sizes_.side + kDomainRight);
      placed.height = y + kDomainStub + sizes_.side + kBottom;
      if ((k + 1) % columns == 0) y += kDomainStub + sizes_.side + kBesides + 2;
    }
  }

  void place_domains(PlacedDomain& placed, double widest) {
    double width = 0;
    for (const planner::MapDomain& below : placed.domain->domains) {
      placed.domains.push_back(place(below, widest - kDomainLeft - kDomainRight));
      width = std::max(width, placed.domains.back().width);
    }
    const std::size_t columns =
        choose_columns(placed.domains.size(), width, kBetween, widest - kDomainLeft - kDomainRight);
    double y = kDomainHead, row = 0;
    for (std::size_t k = 0; k < placed.domains.size(); ++k) {
      PlacedDomain& below = placed.domains[k];
      if (k % columns == 0) {
        y += k == 0 ? 0 : row + kDomainStub + kBetween;
        row = 0;
        placed.bars.push_back(y);
      }
      below.width = width;
      move(below, kDomainLeft + double(k % columns) * (width + kBetween), y + kDomainStub);
      row = std::max(row, below.height);
      placed.width = std::max(placed.width, below.right() + kDomainRight);
      placed.height = std::max(placed.height, below.bottom() + kBottom);
    }
  }

  const ClusterSizes& sizes_;
  std::size_t in_a_row_;
  bool uneven_ = false;
};

std::size_t find_max_devices(const planner::MapDomain& domain) {
  std::size_t max = domain.devices.size();
  for (const planner::MapDomain& below : domain.domains)
    max = std::max(max, find_max_devices(below));
  return max;
}

}  // namespace

PlacedDomain compute_cluster_layout(const planner::MapDomain& root, const ClusterSizes& sizes) {
  PlacedDomain best;
  double min = INFINITY;
  for (std::size_t in_a_row = find_max_devices(root); in_a_row > 0; --in_a_row) {
    Layout layout(sizes, in_a_row);
    PlacedDomain placed = layout.place(root, sizes.widest);
    const double cost = placed.height * (layout.uneven() ? kUneven : 1);
    if (cost >= min || (placed.width > sizes.widest && std::isfinite(min))) continue;
    min = cost;
    best = std::move(placed);
  }
  RW_CHECK(best.domain != nullptr);
  move(best, sizes.left, sizes.top);
  return best;
}

}  // namespace rankwright::report
