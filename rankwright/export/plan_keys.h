// The text of each plan-file key for a TrainingConfig, one row per key. Plan files are written from
// this table, and plans are compared by it. import/plan/plan_keys.h reads keys; plan_file.h lays
// out the file.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "rankwright/plan/plan.h"

namespace rankwright::exporter {

/// One key of a plan file.
struct ConfigKey {
  std::string_view path;  // "parallelism.zero_stage"
  /// Returns the value as the key's line has it, or the lines of a map, beginning with a line
  /// break. For a key that is not written: the value that its absence means, if any.
  std::string (*value)(const plan::TrainingConfig&);
  /// Returns whether a file states the key. Null: always.
  bool (*says)(const plan::TrainingConfig&) = nullptr;

  bool written(const plan::TrainingConfig& config) const { return says == nullptr || says(config); }
};

/// Returns the keys in the order of import/plan_keys, except those that do not affect the result
/// (name, reading_note). Requires: value() of node_shape and model is called only if
/// written().
std::span<const ConfigKey> config_keys();

}  // namespace rankwright::exporter
