// Why a run took longer or shorter than its estimate: every suspect (suspect.h) is given the factor
// with which it explains the measured step alone, and is judged by how plausible that factor is and
// by how well the log's timers fit it. Numbers and facts only: report/compare/gap_text.h says them.
// Memory is memory_gap.h. Formulas V8 and V9.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "rankwright/cost/estimate.h"
#include "rankwright/validate/suspect.h"

namespace rankwright::validate {

struct TimerGap {
  std::string name{};
  std::string_view entries{};
  importer::TimerSample measured{}, predicted{};

  Seconds difference() const { return measured.max - predicted.max; }
};

struct Explanation {
  std::string name{};
  cost::Item item{};          // that changes most
  Seconds before{}, after{};  // of it
  double factor = 1;          // of what the suspect changes; 1: nothing is scaled
  double plausible = 1;       // the farthest that is
  double implausibility = 0;  // V8: ln factor / ln plausible; up to 1 it is plausible
  double timer_residual =
      0;  // V9: what timers are off by then, as a share of the step; 0 without timers
  std::string evidence{};
  std::string_view reason{};
  std::string suggestion{};

  bool likely() const { return implausibility <= 1; }
  double score() const;
};

struct TimeGap {
  importer::MeasuredStep measured{};
  cost::Estimate predicted{};
  std::vector<TimerGap> timers{};           // that the log has and the model predicts
  std::vector<Explanation> explanations{};  // the likeliest first; whether or not inside the band

  double error() const { return predicted.time() / measured.median - 1; }
  bool inside() const { return std::abs(error()) <= predicted.step_band.within; }
};

/// The config has no violation, and ran as `log` says, with that step.
TimeGap time_gap(const plan::TrainingConfig& config, const cluster::Calibration& calibration,
                 const importer::RunLog& log, const importer::MeasuredStep& measured);

}  // namespace rankwright::validate
