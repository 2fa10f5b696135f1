#include "rankwright/validate/pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace rankwright::validate {
namespace {

constexpr std::string_view kEffectColumns[] = {"effect", "base", "changed", "source"};

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

bool Effect::right_sign() const {
  const auto sign = [&](double ratio) {
    return ratio > noise() ? 1 : ratio * noise() < 1 ? -1 : 0;
  };
  return sign(measured) == sign(predicted);
}

bool Effect::right_size() const {
  const double m = std::log(measured), p = std::log(predicted);
  if (std::abs(m - p) <= std::log(noise())) return true;
  return m * p > 0 && std::abs(p) <= kFactor * std::abs(m) && std::abs(m) <= kFactor * std::abs(p);
}

bool holds_effects(const Csv& table) {
  return std::find(table.header.begin(), table.header.end(), "changed") != table.header.end();
}

Result<std::vector<EffectPair>> read_effects(const Csv& table, std::string_view file) {
  for (const std::string_view column : kEffectColumns)
    if (std::find(table.header.begin(), table.header.end(), column) == table.header.end())
      return fail({.code = "RW0917",
                   .message = "missing columns of effects",
                   .detail = fmt::format("missing column '{}'", column),
                   .hint = "see tests/data/validation/moe_effects.csv for the columns",
                   .where = {.file = std::string(file)}});
  std::vector<EffectPair> pairs;
  for (const Csv::Row& row : table.rows) {
    const std::string_view figure = table.cell(row, "figure");
    if (figure != "" && figure != "speed" && figure != "memory")
      return fail({.code = "RW0917",
                   .message = "unknown figure of an effect",
                   .detail = fmt::format("figure '{}' of {}: not speed or memory", figure,
                                         table.cell(row, "base")),
                   .hint = "write speed or memory, or leave the cell empty for speed",
                   .where = {.file = std::string(file)}});
    pairs.push_back({.kind = std::string(table.cell(row, "effect")),
                     .base = std::string(table.cell(row, "base")),
                     .changed = std::string(table.cell(row, "changed")),
                     .figure = figure == "memory" ? Figure::memory : Figure::speed});
  }
  return pairs;
}

}  // namespace rankwright::validate
