// The relative error of two predictions: errors that two plans have in common cancel when one is
// chosen over the other (formula V7). Takes groups of comparable runs, which score.h forms. Also
// the effects of one setting: pairs of runs that a table names (formula V14), to which nothing is
// fitted.
#pragma once

#include <string>
#include <vector>

#include "rankwright/base/csv.h"
#include "rankwright/base/integer.h"

namespace rankwright::validate {

/// Statistics over the relative errors of pairs of runs.
struct PairErrors {
  i64 pairs = 0, groups = 0;  // groups of at least two runs
  double median = 0;          // weighted median; every group weighs the same
  double p90 = 0;             // weighted 90th percentile

  friend bool operator==(const PairErrors&, const PairErrors&) = default;
};

/// Computes the statistics from ln(predicted / measured) of the runs of each group. The error of a
/// pair is e^|difference| - 1, and its weight is 1 / (pairs in its group). Pairs are not listed, so
/// groups may be large.
PairErrors compute_pair_errors(std::vector<std::vector<double>> groups);

/// Two runs by ID, of which `changed` has another setting of one kind.
struct EffectPair {
  std::string kind{};  // "dispatcher", "graphs"
  std::string base{}, changed{};
};

/// The effect of one setting on the speed of two runs that differ in it (V14): the device time per
/// token without it over that with it.
struct Effect {
  std::string kind{}, base{}, changed{};  // the setting; IDs of the runs
  double measured = 0, predicted = 0;

  /// Returns whether both are faster, slower, or within noise.
  bool right_sign() const;
  /// Returns whether the logarithms are within a factor of each other, or differ by noise.
  bool right_size() const;
  static constexpr double kNoise = 1.02, kFactor = 2;
};

/// Returns whether a table has pairs of runs instead of runs.
bool holds_effects(const Csv& table);

/// Reads a table with the columns of moe_effects.csv. Fails with RW0917 for a missing column.
Result<std::vector<EffectPair>> read_effects(const Csv& table, std::string_view file);

}  // namespace rankwright::validate
