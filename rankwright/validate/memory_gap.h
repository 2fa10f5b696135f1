// Why a run held more or less than its ledger, and which entry it was that did not fit: the peak of
// a rank against the ledger of its pp rank, and the size of a failed allocation against the single
// tensors of the plan. Formulas V10 and V11. Time is gap.h.
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

struct MemoryExplanation {
  std::string name{};
  cost::Entry entry{};
  double factor = 1;          // of the entry; 1: nothing is scaled
  double plausible = 1;       // the farthest that is
  double implausibility = 0;  // ln factor / ln plausible; up to 1 it is plausible
  std::string evidence{};
  std::string suggestion{};

  bool likely() const { return implausibility <= 1; }
};

struct MemoryGap {
  i64 rank = importer::kUnsaidRank;
  MemoryFigure figure = MemoryFigure::allocated;
  Bytes measured{}, predicted{};
  cost::MemoryEstimate estimate_memory{};  // of the rank's pp rank
  cost::ErrorBand band{};
  std::vector<MemoryExplanation> explanations{};  // the likeliest first

  double error() const { return predicted / measured - 1; }
  bool inside() const;
};

/// Of the rank that held most; nothing where the log says of none. The config has no violation.
std::optional<MemoryGap> memory_gap(const plan::TrainingConfig& config,
                                    const cluster::Calibration& calibration,
                                    const importer::RunLog& log);

/// One tensor that is allocated in one piece, on a rank of a pp rank.
struct Tensor {
  std::string name;
  cost::Entry entry;
  Bytes bytes;
  std::span<const importer::RunPhase> phases;  // in which that happens
};
std::vector<Tensor> tensors(const plan::TrainingConfig& config, i64 pp_rank);

struct OomGap {
  importer::OutOfMemory oom{};
  cost::MemoryEstimate
      estimate_memory{};  // of the rank's pp rank, of the fullest where the rank is not said
  Bytes capacity{};
  cost::ErrorBand band{};
  std::vector<Tensor> alike{};         // as large as what was wanted, those of its phase first
  cost::Entry entry{};                 // that did not find room
  std::string why{};                   // it is that one
  std::vector<rules::Fitting> fits{};  // changes that leave as much more room

  Bytes short_of() const { return oom.wanted - oom.free; }
  bool foreseen() const { return estimate_memory.total() > capacity; }
};

std::optional<OomGap> oom_gap(const plan::TrainingConfig& config,
                              const cluster::Calibration& calibration, const importer::RunLog& log);

}  // namespace rankwright::validate
