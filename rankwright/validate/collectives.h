// The errors of predicted collective times (cost/collective.h) against measured ones: with given
// constants, and with constants fitted without the system in question (held out). The result is
// formatted in report/validation/collectives_text.h.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "rankwright/cluster/calibration.h"
#include "rankwright/cost/collective.h"
#include "rankwright/validate/collective_rows.h"
#include "rankwright/validate/errors.h"

namespace rankwright::validate {

/// Classes of message size; `huge` is a subset of `large`.
enum class SizeClass : unsigned char { small, large, huge };
inline constexpr std::size_t kSizeClasses = 3;

std::string_view name(SizeClass);                         // "< 1 MB", ">= 1 MB", ">= 64 MB"
using ErrorTable = std::array<ErrorStats, kSizeClasses>;  // by SizeClass

/// The prediction of one row.
struct CollectivePrediction {
  std::size_t row = 0;  // index in MeasuredCollectives::rows
  Seconds predicted{};  // including the harness
  Seconds held_out{};   // with constants fitted without its system; 0 if there is no other system
  cost::Algorithm algorithm{};
  double error = 0;           // of `predicted`
  double error_held_out = 0;  // of `held_out`
};

/// The errors of one system.
struct SystemScore {
  std::string system;
  ErrorTable given, held_out;
};

/// The constants that a fit varies. Link shares, assumed latencies and the constants in
/// cost/collective.cc are not refitted, so a held-out error is not blind to them.
inline constexpr cluster::Constant kCollectiveConstants[] = {cluster::Constant::collective_floor,
                                                             cluster::Constant::collective_ramp,
                                                             cluster::Constant::in_network};

/// Fitted constants. Latencies that the catalog marks as calibrated come from such rows, so a fit
/// varies them too.
struct CollectiveFit {
  cluster::Calibration constants{};
  double latency = 1;  // factor on all calibrated latencies of the catalog

  friend bool operator==(const CollectiveFit&, const CollectiveFit&) = default;
};

/// The errors on a table of measured collectives.
struct CollectiveScore {
  MeasuredCollectives measured;
  cluster::Calibration given{};
  CollectiveFit fitted{};  // on all rows
  std::vector<CollectivePrediction> predictions;
  std::vector<SystemScore> systems;
  ErrorTable total{}, total_held_out{};
};

/// Scores predictions with the constants `given`, and held out if there are several systems.
CollectiveScore score_collectives(MeasuredCollectives measured, const cluster::Calibration& given);

/// Returns `start` with the constants above fitted to minimize |ln(predicted / measured)|: the
/// average of its mean over rows and its mean over systems, plus a penalty for distance from the
/// priors of calibration.csv. Latencies have no prior and start at half of the catalog's. Rows of
/// the system `without` are left out.
CollectiveFit fit_collectives(const MeasuredCollectives& measured,
                              const cluster::Calibration& start, std::string_view without = {});

}  // namespace rankwright::validate
