// The errors of predicted collective times (cost/collective.h) against measured ones: with given
// constants, and with constants fitted without the system in question (held out). The result is
// formatted in report/validation/collectives_text.h.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "rankwright/cluster/calibration.h"
#include "rankwright/cost/collective.h"
#include "rankwright/validate/collective_rows.h"
#include "rankwright/validate/errors.h"

namespace rankwright::validate {

/// A class of rows whose errors are averaged. Classes may overlap.
struct RowClass {
  std::string_view name, key;  // on the screen: ">= 1 MB"; in JSON: "from_1_mb"
  bool (*holds)(const MeasuredCollective&);
};

/// Returns the classes of a table: by size (< 1 MB, >= 1 MB, >= 64 MB), or if it has dispatches by
/// kind of call (all, all-to-all, dispatch, combine).
std::span<const RowClass> list_classes(const MeasuredCollectives& measured);

using ErrorTable = std::vector<ErrorStats>;  // by class; empty if nothing was scored

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

/// Returns the constants that a fit varies: those of collectives, or if the table has dispatches
/// those of dispatchers. Link shares, assumed latencies and the constants in cost/collective.cc are
/// not refitted, so a held-out error is not blind to them.
std::span<const cluster::Constant> list_fitted(const MeasuredCollectives& measured);

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
/// priors of calibration.csv. Latencies have no prior and start at half of the catalog's. Constants
/// of dispatchers have none either, because it would come from the same rows: they start in the
/// middle of their range. Rows of the system `without` are left out.
CollectiveFit fit_collectives(const MeasuredCollectives& measured,
                              const cluster::Calibration& start, std::string_view without = {});

}  // namespace rankwright::validate
