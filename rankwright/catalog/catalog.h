// What is known by name: devices, systems, models, and the constants of the cost model. The data
// are CSV files beside this one, each row with its source, embedded at build; to add a thing, add a
// row. One test guards all rows.
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

/// A machine that is sold in units: its inner levels, and the level that joins the units, whose
/// arity is the number of units that the user asks for.
struct System {
  std::string name;  // what the user types: "dgx-h100 x 8"
  std::string summary;
  cluster::Cluster unit;  // one unit; the last level has arity 1 until `x N` is known
  std::string source;

  /// Were its bandwidths seen in `source`: "yes", "partly" or "no".
  std::string_view verified() const;
};

struct KnownModel {
  std::string name;
  std::vector<std::string> aliases;  // Hugging Face ids and other spellings
  model::Model model;
  std::string source;
  std::string verified;  // yes, total, no or own: what they mean is in models.csv
};

/// How the value of a constant was found.
enum class Found : unsigned char { fitted, measured, counted, assumed };
std::string_view name(Found);

/// What a constant was fitted on.
enum class FitData : unsigned char { none, steps, memory, collectives };

struct ConstantRow {
  cluster::Constant constant{};
  std::string name;
  double value = 0;
  std::string unit;  // empty: a plain number
  double low = 0, high = 0;
  double prior = 0, spread = 0;  // of a fitted one: where a fit begins, and how sure that is
  Found found = Found::assumed;
  FitData data = FitData::none;
  std::string meaning;
  std::string origin;
};

/// By Constant.
std::span<const ConstantRow> constants();

/// The shipped values.
const cluster::Calibration& calibration();

/// The same with what probed.csv has otherwise: for a machine whose figures the runtime measured.
const cluster::Calibration& probed_calibration();
struct ProbedConstant {
  cluster::Constant constant{};
  double value = 0;
  std::string why;
};
std::span<const ProbedConstant> probed_constants();

/// How far predictions lie from what was measured.
struct BandRow {
  double within = 0;
  i64 rows = 0;  // runs, or pairs of them; 0: assumed
};
struct Bands {
  BandRow dense{}, sparse{}, memory{}, unmeasured{};  // nine of ten stay within
  BandRow pair{}, pair_sparse{};  // two plans against each other: half of the pairs stay within
  BandRow pair_max{}, pair_max_sparse{};  // and nine of ten
};
const Bands& bands();

std::span<const cluster::Device> devices();
std::span<const System> systems();
std::span<const KnownModel> known_models();

/// Case does not matter, and a model's aliases are names too; an unknown name is RW0908 with the
/// nearest known one as a hint.
Result<cluster::Device> find_device(std::string_view name);
Result<model::Model> find_model(std::string_view name);

/// "dgx-h100 x 8", "dgx-h100*8", "8 x dgx-h100", "dgx-h100" (one unit).
Result<cluster::Cluster> find_cluster(std::string_view text);

}  // namespace rankwright::catalog
