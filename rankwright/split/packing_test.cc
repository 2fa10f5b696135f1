#include "rankwright/split/packing.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace rankwright::split {
namespace packing_test {

using Verdict = Probe::Verdict;

/// Makes bins that take anything within their room.
Packing by_weight(std::vector<i64> demand, std::vector<i64> weight, std::vector<i64> room) {
  Packing packing{.demand = demand, .weight = weight, .room = room};
  for (std::size_t b = 0; b < room.size(); ++b)
    packing.like.push_back(std::find(room.begin(), room.end(), room[b]) - room.begin());
  packing.max = [=](i64 bin, const std::vector<i64>& others) {
    i64 left = room[std::size_t(bin)];
    for (std::size_t k = 0; k < others.size(); ++k) left -= others[k] * weight[k];
    return left < 0 ? -1 : std::min(demand.back(), left / weight.back());
  };
  return packing;
}

Packed pack_all(const Packing& packing) {
  Steps steps(1'000'000);
  return pack(packing, steps);
}

TEST(Pack, OneBin_FitsUpToItsRoom) {
  EXPECT_EQ(pack_all(by_weight({3}, {2}, {6})).verdict, Verdict::yes);
  EXPECT_EQ(pack_all(by_weight({3}, {2}, {5})).verdict, Verdict::no);
}

TEST(Pack, UniquePacking_IsFound) {
  // Two 5s and three 3s into 8 and 11: 5 + 3 and 5 + 3 + 3.
  const Packed packed = pack_all(by_weight({2, 3}, {5, 3}, {8, 11}));
  ASSERT_EQ(packed.verdict, Verdict::yes);
  EXPECT_EQ(packed.taken, (std::vector<std::vector<i64>>{{1, 1}, {1, 2}}));
  // Bins of 7 and 12 have the same total room, but do not suffice: 3 + 3 and 5 + 5 leave a 3, and
  // so do 5 and 5 + 3 + 3.
  EXPECT_EQ(pack_all(by_weight({2, 3}, {5, 3}, {7, 12})).verdict, Verdict::no);
}

TEST(Pack, StepsExhausted_IsUnknown) {
  Steps steps(10);
  EXPECT_EQ(pack(by_weight({2, 3}, {5, 3}, {8, 11}), steps).verdict, Verdict::unknown);
}

/// Tries all packings, bin by bin.
bool fits(const Packing& packing, std::size_t bin, std::vector<i64> left) {
  if (std::all_of(left.begin(), left.end(), [](i64 n) { return n == 0; })) return true;
  if (bin == packing.room.size()) return false;
  std::vector<i64> taken(left.size());
  for (;;) {
    i64 weight = 0;
    for (std::size_t k = 0; k < taken.size(); ++k) weight += taken[k] * packing.weight[k];
    if (weight <= packing.room[bin]) {
      std::vector<i64> rest = left;
      for (std::size_t k = 0; k < taken.size(); ++k) rest[k] -= taken[k];
      if (fits(packing, bin + 1, rest)) return true;
    }
    std::size_t k = 0;
    while (k < taken.size() && taken[k] == left[k]) taken[k++] = 0;
    if (k == taken.size()) return false;
    ++taken[k];
  }
}

RC_GTEST_PROP(Pack, MatchesExhaustiveSearch, ()) {
  const std::size_t kinds = *rc::gen::inRange<std::size_t>(1, 4);
  const Packing packing =
      by_weight(*rc::gen::container<std::vector<i64>>(kinds, rc::gen::inRange<i64>(0, 4)),
                *rc::gen::container<std::vector<i64>>(kinds, rc::gen::inRange<i64>(1, 9)),
                *rc::gen::container<std::vector<i64>>(*rc::gen::inRange<std::size_t>(1, 4),
                                                      rc::gen::inRange<i64>(0, 20)));
  const Packed packed = pack_all(packing);
  RC_ASSERT(packed.verdict == (fits(packing, 0, packing.demand) ? Verdict::yes : Verdict::no));
  if (packed.verdict == Verdict::no) return;
  std::vector<i64> sum(kinds);
  for (std::size_t b = 0; b < packing.room.size(); ++b) {
    i64 weight = 0;
    for (std::size_t k = 0; k < kinds; ++k) {
      weight += packed.taken[b][k] * packing.weight[k];
      sum[k] += packed.taken[b][k];
    }
    RC_ASSERT(weight <= packing.room[b]);
  }
  for (std::size_t k = 0; k + 1 < kinds; ++k) RC_ASSERT(sum[k] == packing.demand[k]);
  RC_ASSERT(sum.back() >= packing.demand.back());
}

}  // namespace packing_test
}  // namespace rankwright::split
