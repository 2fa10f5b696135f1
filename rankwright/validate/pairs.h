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

/// The quantity that an effect changes: the speed, or the peak memory.
enum class Figure : unsigned char { speed, memory };

/// Two runs by ID, of which `changed` has another setting of one kind.
struct EffectPair {
  std::string kind{};  // "dispatcher", "graphs"
  std::string base{}, changed{};
  Figure figure = Figure::speed;
};

/// The effect of one setting on two runs that differ in it: on speed, the device time per token
/// without it over that with it (V14); on memory, the peak with it over that without it (V15).
struct Effect {
  std::string kind{}, base{}, changed{};  // the setting; IDs of the runs
  Figure figure = Figure::speed;
  double measured = 0, predicted = 0;

  /// Returns whether both are faster, slower, or within noise.
  bool right_sign() const;
  /// Returns whether the logarithms are within a factor of each other, or differ by noise.
  bool right_size() const;
  /// Returns the ratio that counts as none: steps vary more than peaks.
  double noise() const { return figure == Figure::speed ? 1.02 : 1.01; }
  static constexpr double kFactor = 2;
};

/// Returns whether a table has pairs of runs instead of runs.
bool holds_effects(const Csv& table);

/// Reads a table with the columns of moe_effects.csv; in a column "figure", "memory" means the
/// peak. Fails with RW0917 for a missing column or another figure.
Result<std::vector<EffectPair>> read_effects(const Csv& table, std::string_view file);

}  // namespace rankwright::validate
