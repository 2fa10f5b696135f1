// Explains why a run took longer or shorter than its estimate: for every suspect (suspect.h), finds
// the factor with which it alone explains the measured step, and ranks suspects by how plausible
// that factor is and how well it fits the log's timers (formulas V8 and V9). Memory is in
// memory_gap.h; report/compare/gap_text.h formats the result.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "rankwright/cost/estimate.h"
#include "rankwright/validate/suspect.h"

namespace rankwright::validate {

/// A timer of the log with its prediction.
struct TimerGap {
  std::string name{};
  std::string_view entries{};  // items of the step that it covers
  importer::TimerSample measured{}, predicted{};

  Seconds difference() const { return measured.max - predicted.max; }
};

/// One possible cause of the difference between a run and its estimate.
struct Explanation {
  std::string name{};
  cost::Item item{};          // the item that changes most
  Seconds before{}, after{};  // time of that item
  double factor = 1;          // on what the suspect changes; 1: nothing is scaled
  double plausible = 1;       // the largest plausible factor
  double implausibility = 0;  // V8: ln factor / ln plausible; plausible up to 1
  /// V9: the errors of the timers, as a fraction of the step; 0 without timers.
  double timer_residual = 0;
  std::string evidence{};
  std::string_view reason{};
  std::string suggestion{};

  bool likely() const { return implausibility <= 1; }
  /// Returns the rank criterion; lower is likelier.
  double score() const;
};

/// The difference between a measured step and its estimate, with explanations.
struct TimeGap {
  importer::MeasuredStep measured{};
  cost::Estimate predicted{};
  std::vector<TimerGap> timers{};           // timers that the log has and the model predicts
  std::vector<Explanation> explanations{};  // likeliest first; also if the error is inside the band

  double error() const { return predicted.time() / measured.median - 1; }
  bool inside() const { return std::abs(error()) <= predicted.step_band.within; }
};

/// Explains the difference between the measured step of a run and its estimate.
/// Requires: the config has no constraint violation and is the one that wrote `log`.
TimeGap explain_time_gap(const plan::TrainingConfig& config,
                         const cluster::Calibration& calibration, const importer::RunLog& log,
                         const importer::MeasuredStep& measured);

}  // namespace rankwright::validate
