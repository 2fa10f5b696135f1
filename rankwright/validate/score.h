// Scores predictions against measurements (formulas V2 to V7): errors by family, over all rows and
// over families, dense and MoE separately; relative errors of two plans of one model; whether the
// fastest layout of a published sweep would have been picked; memory; and the errors of Calculon
// and of a constant MFU on the same rows. report/validation/validation_text.h formats the result.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rankwright/validate/errors.h"
#include "rankwright/validate/fit.h"
#include "rankwright/validate/pairs.h"

namespace rankwright::validate {

/// The prediction of one run.
struct ScoredRun {
  const Run* run = nullptr;
  const plan::TrainingConfig* config = nullptr;  // with the chosen unstated settings
  Seconds step{};                                // predicted step time
  Bytes memory{};                    // the figure that the source reports; 0 if it reports none
  std::optional<double> baseline{};  // error of a constant MFU; none for the only row of its kind
  double slowdown = 0;               // predicted, by offload; 0 if the source reports none
  bool calibrates = false;           // --calibrate-one: used for calibration and not scored

  bool timed() const { return run->measured.value > 0; }
  bool weighed() const { return memory.value > 0 && run->measured_memory.value > 0; }
  double error() const { return step / run->measured - 1; }
  double memory_error() const { return memory / run->measured_memory - 1; }
};

/// The score of rows that differ only in their layout.
struct Sweep {
  std::string family{}, name{};
  bool sparse = false;
  std::size_t rows = 0;
  double spearman = 0;
  double regret = 0;  // measured time of our pick relative to the fastest row, minus 1
  std::string picked{}, fastest{};
};

/// The slowdown of one run by offload: its step time over that without offload (V13).
struct Slowdown {
  std::string id{};
  double measured = 0, predicted = 0;

  /// Returns whether both are slower by more than noise, or neither.
  bool right_sign() const { return (measured > kNoise) == (predicted > kNoise); }
  bool within_factor() const {
    return predicted <= kFactor * measured && measured <= kFactor * predicted;
  }
  static constexpr double kNoise = 1.02, kFactor = 1.5;
};

/// The errors of another predictor, and ours on the rows that it supports.
struct PredictorComparison {
  ErrorStats theirs{}, ours{};
};

/// The errors of the dense or the MoE rows of one family.
struct FamilyErrors {
  std::string family{};
  bool sparse = false;
  ErrorStats errors{};
};

/// The errors of the MoE rows with one value of a mechanism ("dispatcher", "deepep").
struct MechanismErrors {
  std::string_view mechanism{};
  ErrorStats errors{};  // named by the value
};

/// All scores of a validation.
struct Score {
  ErrorStats all{}, dense{}, sparse{};
  std::vector<FamilyErrors> families{};  // dense and MoE rows of a family separately
  std::vector<MechanismErrors> sparse_mechanisms{};
  ErrorStats over_families{}, dense_over_families{}, sparse_over_families{};
  PairErrors dense_pairs{}, sparse_pairs{};  // same family, model, GPU, world size and sequence
  PredictorComparison calculon{};
  PredictorComparison baseline{};  // a constant MFU per device and precision, from the other rows
  /// --calibrate-one: MoE rows without the median error of their group (V16), which no factor for
  /// the whole group improves much.
  PredictorComparison medians_removed{};
  ErrorStats memory_dense{}, memory_sparse{};
  ErrorStats memory_eight_bits{};                // rows with matmuls in 8 bits
  ErrorStats memory{}, allocated{}, reserved{};  // a driver's figure counts as reserved
  std::vector<ErrorStats> memory_families{};
  std::vector<Slowdown> slowdowns{};
  std::vector<Effect> effects{};  // filled in by score_effects()
  std::vector<Sweep> sweeps{};
  double mean_regret = 0, mean_spearman = 0;
  double mean_sparse_regret = 0;  // over the sweeps of MoE models
  std::vector<Sweep> models{};    // vTrain's multi-node rows, by model
  double mean_model_spearman = 0;
};

/// The constants that predict a run: as shipped, or fitted without its publication.
enum class Mode : unsigned char { shipped, leave_one_family_out };

struct ValidateOptions {
  Mode mode = Mode::shipped;
  bool calibrate_one = false;
};

/// The result of a validation.
struct Validation {
  ValidateOptions options{};
  std::vector<ScoredRun> rows{};  // with pointers into the cases
  Score score{};
  std::map<std::string, cluster::Calibration> refits{};  // by the publication that was left out
  std::vector<std::string> at_priors{};  // publications without which no row was left to fit
};

/// Called before each refit with the number done, the total, and the publication left out.
using Progress = std::function<void(std::size_t done, std::size_t of, std::string_view what)>;

/// Scores `cases`. Refits also use the cases `also`, which are not scored.
/// Requires: `cases` outlive the result.
Validation validate(const std::vector<Case>& cases, const std::vector<Case>& also,
                    ValidateOptions options, const Progress& progress);

/// Applies --calibrate-one: the predictions of each family, GPU, precision and kind (dense or MoE)
/// are corrected by half of the logarithmic error of its first row by id (V5), which is then not
/// scored.
void calibrate_one(std::vector<ScoredRun>& rows);

/// Scores the rows that have a measurement and are not used for calibration.
Score compute_score(const std::vector<ScoredRun>& rows);

/// Scores the pairs of which both runs have the measured figure and a prediction of it.
std::vector<Effect> score_effects(const std::vector<EffectPair>& pairs,
                                  const std::vector<ScoredRun>& rows);

/// Computes Spearman's rank correlation; 0 if one list is constant.
double spearman(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace rankwright::validate
