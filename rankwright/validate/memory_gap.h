// Explains why a run used more or less memory than estimated, and which entry did not fit: compares
// the peak of a rank with the estimate of its pp rank, and the size of a failed allocation with the
// tensors of the plan (formulas V10 and V11). Step time is in gap.h.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankwright/cost/estimate.h"
#include "rankwright/import/log/run_log.h"
#include "rankwright/rules/fitting.h"
#include "rankwright/validate/run.h"

namespace rankwright::validate {

/// One possible cause of the difference between measured and estimated memory.
struct MemoryExplanation {
  std::string name{};
  cost::Entry entry{};
  double factor = 1;          // on the entry; 1: nothing is scaled
  double plausible = 1;       // the largest plausible factor
  double implausibility = 0;  // ln factor / ln plausible; plausible up to 1
  std::string evidence{};
  std::string suggestion{};

  bool likely() const { return implausibility <= 1; }
};

/// The difference between the measured peak of a rank and its estimate, with explanations.
struct MemoryGap {
  i64 rank = importer::kUnknownRank;
  MemoryFigure figure = MemoryFigure::allocated;
  Bytes measured{}, predicted{};
  cost::MemoryEstimate memory_estimate{};  // of the rank's pp rank
  cost::ErrorBand band{};
  std::vector<MemoryExplanation> explanations{};  // likeliest first

  double error() const { return predicted / measured - 1; }
  bool inside() const;
};

/// Explains the memory of the rank with the highest peak; returns nullopt if the log has no peak or
/// the config uses a reference model. Requires: the config has no constraint violation.
std::optional<MemoryGap> explain_memory_gap(const plan::TrainingConfig& config,
                                            const cluster::Calibration& calibration,
                                            const importer::RunLog& log);

/// A tensor that a rank allocates in one piece.
struct Tensor {
  std::string name;
  cost::Entry entry;
  Bytes bytes;
  std::span<const importer::RunPhase> phases;  // in which it is allocated
};

/// Returns the tensors that a rank of `pp_rank` allocates.
std::vector<Tensor> list_tensors(const plan::TrainingConfig& config, i64 pp_rank);

/// The analysis of an out-of-memory failure.
struct OomGap {
  importer::OutOfMemory oom{};
  /// The estimate for the rank's pp rank, or for the fullest one if the rank is not known.
  cost::MemoryEstimate memory_estimate{};
  Bytes capacity{};
  cost::ErrorBand band{};
  std::vector<Tensor> alike{};  // of the requested size; those of the run's phase first
  cost::Entry entry{};          // the entry whose allocation failed
  std::string why{};            // the reason for choosing that entry
  std::vector<rules::FittingChange> fits{};  // changes that free the missing memory

  /// Returns the bytes that were missing.
  Bytes short_of() const { return oom.wanted - oom.free; }
  /// Returns whether the estimate predicts the failure.
  bool foreseen() const { return memory_estimate.total() > capacity; }
};

/// Analyzes the out-of-memory failure of a run; returns nullopt if the log has none or the config
/// has no model of its own. Requires: the config has no constraint violation.
std::optional<OomGap> explain_oom(const plan::TrainingConfig& config,
                                  const cluster::Calibration& calibration,
                                  const importer::RunLog& log);

}  // namespace rankwright::validate
