// What a TrainingConfig has for each key of a plan file, as it is typed there, one row a key: plan
// files are written from this table and plans are compared by it. Reading keys is
// import/plan/plan_keys.h, the layout of a file plan_file.h.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "rankwright/plan/plan.h"

namespace rankwright::exporter {

struct ConfigKey {
  std::string_view path;  // "parallelism.zero_stage"
  /// Text for the key's line, or lines of a map that begin with a line break. Where the key is not
  /// written: what its absence stands for, if anything.
  std::string (*value)(const plan::TrainingConfig&);
  /// Whether a file states it; not given: always.
  bool (*says)(const plan::TrainingConfig&) = nullptr;

  bool written(const plan::TrainingConfig& config) const { return says == nullptr || says(config); }
};

/// In the order of import/plan_keys; all but those that compute nothing (name, reading_note).
/// Values of node_shape and model are of configs that have them written.
std::span<const ConfigKey> setup_keys();

}  // namespace rankwright::exporter
