// How far the times of collectives (cost/collective.h) lie from measured ones: with given
// constants, and with those that a fit finds when the system in question is left out. Data only:
// text of it is report/validation/collectives_text.h.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "rankwright/cluster/calibration.h"
#include "rankwright/cost/collective.h"
#include "rankwright/validate/collective_rows.h"
#include "rankwright/validate/errors.h"

namespace rankwright::validate {

/// Classes of message size; the last is a part of the second.
enum class SizeClass : unsigned char { small, large, huge };
inline constexpr std::size_t kSizeClasses = 3;

std::string_view name(SizeClass);                         // "< 1 MB", ">= 1 MB", ">= 64 MB"
using ErrorTable = std::array<ErrorStats, kSizeClasses>;  // by SizeClass

struct CollectivePrediction {
  std::size_t row = 0;  // of MeasuredCollectives::rows
  Seconds predicted{};  // with the harness
  Seconds held_out{};   // by constants that were fitted without its system; 0: there is no other
  cost::Algorithm algorithm{};
  double error = 0;           // of `predicted`
  double error_held_out = 0;  // of `held_out`
};

struct SystemScore {
  std::string system;
  ErrorTable given, held_out;
};

/// The constants that a fit moves. The shares of links, assumed latencies and the figures of
/// cost/collective.cc stay: a held-out error is not blind to them.
inline constexpr cluster::Constant kCollectiveConstants[] = {cluster::Constant::collective_floor,
                                                             cluster::Constant::collective_ramp,
                                                             cluster::Constant::in_network};

/// A latency that the catalog calls calibrated was found on such rows, so a fit moves it too.
struct CollectiveFit {
  cluster::Calibration constants{};
  double latency = 1;  // all calibrated latencies, over the catalog's

  friend bool operator==(const CollectiveFit&, const CollectiveFit&) = default;
};

struct CollectiveScore {
  MeasuredCollectives measured;
  cluster::Calibration given{};
  CollectiveFit fitted{};  // on all rows
  std::vector<CollectivePrediction> predictions;
  std::vector<SystemScore> systems;
  ErrorTable total{}, total_held_out{};
};

CollectiveScore score_collectives(MeasuredCollectives measured, const cluster::Calibration& given);

/// `start` with the constants above moved to where |ln(predicted / measured)| is least: the mean of
/// its mean over rows and its mean over systems, with a pull to the priors of calibration.csv.
/// Latencies have no prior: they begin at half of the catalog's. Rows of `without` are left out.
CollectiveFit fit_collectives(const MeasuredCollectives& measured,
                              const cluster::Calibration& start, std::string_view without = {});

}  // namespace rankwright::validate
