#include "rankwright/validate/pairs.h"

#include <algorithm>
#include <cmath>

namespace rankwright::validate {
namespace {

using Groups = std::vector<std::vector<double>>;  // each sorted, with at least two runs

i64 count_pairs(i64 runs) { return runs * (runs - 1) / 2; }

/// Counts the pairs of a sorted group that differ by at most `max`: for each run, the runs before
/// it within that distance.
i64 count_pairs_within(const std::vector<double>& group, double max) {
  i64 pairs = 0;
  std::size_t first = 0;
  for (std::size_t last = 0; last < group.size(); ++last) {
    while (group[last] - group[first] > max) ++first;
    pairs += i64(last - first);
  }
  return pairs;
}

/// Finds the smallest difference that a fraction `share` of the pairs do not exceed, by bisection;
/// every group weighs the same.
double find_quantile(const Groups& groups, double share) {
  const auto reaches = [&](double max) {
    double sum = 0;
    for (const std::vector<double>& group : groups)
      sum += double(count_pairs_within(group, max)) / double(count_pairs(i64(group.size())));
    constexpr double kRounding = 1e-9;
    return sum >= (share - kRounding) * double(groups.size());
  };
  if (groups.empty() || reaches(0)) return 0;
  double low = 0, high = 0;
  for (const std::vector<double>& group : groups)
    high = std::max(high, group.back() - group.front());
  constexpr int kPairHalvings = 60;  // to the last bit of the largest difference
  for (int i = 0; i < kPairHalvings; ++i) {
    const double middle = (low + high) / 2;
    (reaches(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace

PairErrors compute_pair_errors(std::vector<std::vector<double>> groups) {
  std::erase_if(groups, [](const std::vector<double>& group) { return group.size() < 2; });
  PairErrors out{.groups = i64(groups.size())};
  for (std::vector<double>& group : groups) {
    std::sort(group.begin(), group.end());
    out.pairs += count_pairs(i64(group.size()));
  }
  out.median = std::expm1(find_quantile(groups, 0.5));
  out.p90 = std::expm1(find_quantile(groups, 0.9));
  return out;
}

}  // namespace rankwright::validate
