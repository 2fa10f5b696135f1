// How far predictions are from what was measured: by family, dense and MoE apart, in total over
// rows and over families; how far two plans of one model are off against each other; whether the
// fastest published layout of a sweep would have been picked; memory; and what Calculon and a
// constant MFU say of the same rows. Numbers only: text of it is
// report/validation/validation_text.h. Formulas V2 to V7.
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

/// Errors are predicted / measured - 1.
struct Errors {
  std::string name{};
  std::size_t rows = 0;
  double mape = 0, bias = 0;
  double p90 = 0;  // nine tenths are no farther off
  double worst = 0;
  std::string worst_id{};
};
struct Error {
  std::string id{};
  double value = 0;
};
Errors errors(std::string name, const std::vector<Error>& all);

/// Of families, each counting once: the means of theirs; the worst is the family whose MAPE is.
Errors over_families(std::string name, const std::vector<Errors>& families);

/// One row, predicted.
struct ScoredRun {
  const Run* run = nullptr;
  const plan::TrainingConfig* config = nullptr;  // with what was chosen for blanks
  Seconds step{};                                // 0 where no step time was measured
  Bytes memory{};                    // the figure that the source prints; 0 where it prints none
  std::optional<double> baseline{};  // error of a constant MFU; none for the only row of its kind
  bool calibrates = false;           // --calibrate-one: was used, is not scored

  bool timed() const { return run->measured.value > 0; }
  double error() const { return step / run->measured - 1; }
  double memory_error() const { return memory / run->measured_memory - 1; }
};

/// Rows that differ in their layout alone.
struct Sweep {
  std::string family{}, name{};
  std::size_t rows = 0;
  double spearman = 0;
  double regret = 0;  // what our pick takes over the fastest that was measured
  std::string picked{}, fastest{};
};

/// Another predictor, and this one on the rows that it can do.
struct Beside {
  Errors theirs{}, ours{};
};

struct FamilyErrors {
  std::string family{};
  bool sparse = false;
  Errors errors{};
};

struct Score {
  Errors all{}, dense{}, sparse{};
  std::vector<FamilyErrors> families{};  // dense and sparse rows of a family apart
  Errors over_families{}, dense_over_families{}, sparse_over_families{};
  PairErrors dense_pairs{}, sparse_pairs{};  // of one family, model, GPU, number and sequence
  Beside calculon{};
  Beside baseline{};  // a constant MFU for each device and precision, the row left out
  Errors memory{}, allocated{}, reserved{};  // what a driver shows counts as reserved
  std::vector<Errors> memory_families{};
  std::vector<Sweep> sweeps{};
  double mean_regret = 0, mean_spearman = 0;
  std::vector<Sweep> models{};  // vTrain's multi-node rows, by model
  double mean_model_spearman = 0;
};

enum class Mode : unsigned char { shipped, leave_one_family_out };

struct ValidateOptions {
  Mode mode = Mode::shipped;
  bool calibrate_one = false;
};

struct Validation {
  ValidateOptions options{};
  std::vector<ScoredRun> rows{};  // they point into the cases
  Score score{};
  std::map<std::string, cluster::Calibration> refits{};  // by the publication that was left out
  std::vector<std::string> at_priors{};                  // left out, and nothing was left to fit on
};

/// `progress` is told what is begun, how many are done and of how many.
using Progress = std::function<void(std::size_t done, std::size_t of, std::string_view what)>;

/// Scores `cases`, which outlive the answer. Refits use `also` besides: rows that are not scored.
Validation validate(const std::vector<Case>& cases, const std::vector<Case>& also,
                    ValidateOptions options, const Progress& progress);

/// --calibrate-one: the first row (by id) of a family, GPU, precision and kind moves the others
/// towards itself, by half of the logarithm of its error (V5), and is not scored.
void calibrate_one(std::vector<ScoredRun>& rows);

/// Of rows that were measured and do not calibrate.
Score score(const std::vector<ScoredRun>& rows);

double spearman(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace rankwright::validate
