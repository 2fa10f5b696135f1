// The catalog: devices, systems and models by name, and the constants of the cost model. The data
// are CSV files in this folder, embedded at build time, each row with its source. To add an entry,
// add a row; one test checks all rows.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankwright/base/result.h"
#include "rankwright/cluster/calibration.h"
#include "rankwright/cluster/cluster.h"
#include "rankwright/model/architecture.h"
#include "rankwright/model/model.h"

namespace rankwright::catalog {

/// A machine that is sold in units: its inner levels, and the outermost level, which joins the
/// units. That level's arity is the number of units that the user asks for.
struct System {
  std::string name;                    // what the user types: "dgx-h100 x 8"
  std::vector<std::string> aliases{};  // instance types of clouds: "p5.48xlarge"
  std::string summary;
  cluster::Cluster unit;  // one unit; the last level has arity 1 until `x N` is known
  std::string source;

  /// Returns whether its bandwidths were found in `source`: "yes", "partly" or "no".
  std::string_view verified() const;
};

/// A model of the catalog.
struct KnownModel {
  std::string name;
  std::vector<std::string> aliases;  // Hugging Face ids and other spellings
  model::Model model;
  std::string source;
  std::string verified;  // yes, total, no or own: explained in models.csv
};

/// How the value of a constant was determined.
enum class Found : unsigned char { fitted, measured, counted, assumed };
std::string_view name(Found);

/// The data that a constant was fitted to. steps: of dense runs; expert_steps: of runs with
/// experts; collectives: collectives.csv; dispatches: alltoall.csv.
enum class FitData : unsigned char { none, steps, expert_steps, memory, collectives, dispatches };

/// Returns whether a fit to measured runs determines such a constant.
constexpr bool is_fitted_to_runs(FitData data) {
  return data == FitData::steps || data == FitData::expert_steps || data == FitData::memory;
}

/// A row of calibration.csv.
struct ConstantRow {
  cluster::Constant constant{};
  std::string name;
  double value = 0;
  std::string unit;  // empty: dimensionless
  double low = 0, high = 0;
  double prior = 0, spread = 0;  // start and uncertainty of a fit
  Found found = Found::assumed;
  FitData data = FitData::none;
  std::string meaning;
  std::string origin;
};

/// Returns the rows of calibration.csv, indexed by Constant.
std::span<const ConstantRow> constants();

/// Returns the shipped values.
const cluster::Calibration& get_calibration();

/// Returns the shipped values with the overrides of probed.csv: for machines that the runtime
/// measured.
const cluster::Calibration& probed_calibration();
struct ProbedConstant {
  cluster::Constant constant{};
  double value = 0;
  std::string why;
};
std::span<const ProbedConstant> probed_constants();

std::span<const cluster::Device> devices();
std::span<const System> systems();
std::span<const KnownModel> list_known_models();

/// Find an entry by name, ignoring case; a model's aliases count as names. An unknown name is
/// RW0908 with the nearest known name as a hint.
Result<cluster::Device> find_device(std::string_view name);
Result<model::Model> find_model(std::string_view name);

/// Parses a cluster: "dgx-h100 x 8", "dgx-h100*8", "8 x dgx-h100", or "dgx-h100" (one unit).
Result<cluster::Cluster> find_cluster(std::string_view text);

}  // namespace rankwright::catalog
