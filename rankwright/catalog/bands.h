// How accurate estimates are: the error bands that published runs give, and the layouts of these
// runs.
#pragma once

#include <span>
#include <string>

#include "rankwright/base/integer.h"

namespace rankwright::catalog {

/// One error band: how far predictions are from measurements.
struct BandRow {
  double within = 0;
  i64 rows = 0;  // number of runs, or of pairs of runs; 0: assumed
};

/// Nine of ten runs are within the band; of pairs, half are within `pair`, nine of ten within
/// `pair_max`.
struct Bands {
  BandRow dense{}, dense_far{};    // plans near a published run, and others
  BandRow sparse{}, sparse_far{};  // the same of models with experts
  BandRow memory{}, memory_sparse{};
  BandRow fine_tuning{}, memory_fine_tuning{};  // Hugging Face's models: step time, memory
  BandRow unmeasured{};                         // devices without published runs
  BandRow pair{}, pair_sparse{};
  BandRow pair_max{}, pair_max_sparse{};
};
const Bands& get_bands();

/// The layout of one or several published runs: the facts on which the error of an estimate may
/// depend.
struct ValidatedLayout {
  bool sparse = false;       // the model has experts
  std::string generation{};  // of the devices
  i64 tp = 1, cp = 1, pp = 1, ep = 1;
  bool fsdp = false;  // ZeRO-3; with experts also ZeRO-2, which none of their published runs has
  i64 sequence = 0;
  double billions = 0;  // of parameters

  friend auto operator<=>(const ValidatedLayout&, const ValidatedLayout&) = default;
};
/// Returns the layouts of the published runs that a plan may be near (X14), each once.
std::span<const ValidatedLayout> list_validated_layouts();

}  // namespace rankwright::catalog
