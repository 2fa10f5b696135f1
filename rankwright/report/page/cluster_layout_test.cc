#include "rankwright/report/page/cluster_layout.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>

namespace rankwright::report {
namespace cluster_layout_test {

constexpr double kSide = 30;

planner::MapDomain innermost(std::size_t devices, std::size_t first = 0) {
  planner::MapDomain domain{.level = 0};
  domain.devices.resize(devices);
  std::iota(domain.devices.begin(), domain.devices.end(), first);
  return domain;
}

ClusterSizes sizes(double widest, double heading = 20) {
  return {.left = 0,
          .top = 0,
          .side = kSide,
          .widest = widest,
          .heading = [=](const planner::MapDomain&) { return heading; }};
}

TEST(ClusterLayout, NestsDomains) {
  const planner::MapDomain root{.level = 1, .domains = {innermost(2, 0), innermost(2, 2)}};
  const PlacedDomain placed = compute_cluster_layout(root, sizes(500));
  // 14 + 30 + 3 + 30 + 9 wide, 19 + 6 + 30 + 9 high; two of them 8 apart in 14 + ... + 9.
  ASSERT_EQ(placed.domains.size(), 2u);
  EXPECT_EQ(placed.domains[1].width, 86);
  EXPECT_EQ(placed.domains[1].height, 64);
  EXPECT_EQ(placed.domains[1].x, 14 + 86 + 8);
  EXPECT_EQ(placed.domains[1].y, 19 + 6);
  EXPECT_EQ(placed.width, 14 + 2 * 86 + 8 + 9);
  EXPECT_EQ(placed.height, 19 + 6 + 64 + 9);
  EXPECT_EQ(placed.domains[1].devices[1].device, 3u);
  EXPECT_EQ(placed.domains[1].devices[1].x, 108 + 14 + 33);
}

TEST(ClusterLayout, HasRowsOfEqualLengthWithABarAboveEach) {
  planner::MapDomain root{.level = 1};
  for (std::size_t k = 0; k < 8; ++k) root.domains.push_back(innermost(8, 8 * k));
  const PlacedDomain placed = compute_cluster_layout(root, sizes(952));
  // Four in a row are 14 + 4 x 30 + 3 x 3 + 9 = 152; five of these would fit, four divide eight.
  EXPECT_EQ(placed.bars.size(), 2u);
  EXPECT_EQ(placed.domains[3].y, placed.domains[0].y);
  EXPECT_EQ(placed.domains[4].x, placed.domains[0].x);
  EXPECT_EQ(placed.domains[0].bars.size(), 2u);
}

TEST(ClusterLayout, HasRoomForATitleAboveEveryDomain) {
  EXPECT_EQ(compute_cluster_layout(innermost(1), sizes(500, 111)).width, 14 + 111 + 9);
}

planner::MapDomain random_domain(int level, std::size_t& devices) {
  if (level == 0) {
    const std::size_t here = *rc::gen::inRange<std::size_t>(1, 40);
    planner::MapDomain domain = innermost(here, devices);
    devices += here;
    return domain;
  }
  planner::MapDomain domain{.level = level};
  for (int k = *rc::gen::inRange(1, 5); k > 0; --k)
    domain.domains.push_back(random_domain(level - 1, devices));
  return domain;
}

struct Square {
  double left, top, right, bottom;

  bool inside(const Square& o) const {
    return left >= o.left && right <= o.right && top >= o.top && bottom <= o.bottom;
  }
  bool do_overlap(const Square& o) const {
    return left < o.right && o.left < right && top < o.bottom && o.top < bottom;
  }
};

/// Checks that everything in a domain is inside it and does not overlap anything else in it.
std::size_t check(const PlacedDomain& domain) {
  const Square own{domain.x, domain.y, domain.right(), domain.bottom()};
  std::vector<Square> all;
  std::size_t devices = domain.devices.size();
  for (const PlacedDomain& below : domain.domains) {
    all.push_back({below.x, below.y, below.right(), below.bottom()});
    devices += check(below);
  }
  for (const PlacedDevice& device : domain.devices)
    all.push_back({device.x, device.y, device.x + kSide, device.y + kSide});
  for (std::size_t k = 0; k < all.size(); ++k) {
    RC_ASSERT(all[k].inside(own));
    RC_ASSERT(all[k].top >= domain.bars.front() + kDomainStub);
    for (std::size_t other = 0; other < k; ++other) RC_ASSERT(!all[k].do_overlap(all[other]));
  }
  return devices;
}

RC_GTEST_PROP(ClusterLayout, KeepsBoxesInsideTheirDomainAndApart, ()) {
  std::size_t devices = 0;
  const planner::MapDomain root = random_domain(*rc::gen::inRange(0, 4), devices);
  const PlacedDomain placed = compute_cluster_layout(root, sizes(952));
  RC_ASSERT(check(placed) == devices);
  RC_ASSERT(placed.width <= 952);
}

}  // namespace cluster_layout_test
}  // namespace rankwright::report
