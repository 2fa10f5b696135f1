// The keys of a plan file, one row each: the meaning of the key, its possible values, and the
// function that reads it into a Draft. To add a key, add a row. plan_file.cc walks the file itself.
#pragma once

#include <span>
#include <string_view>

#include "rankwright/import/plan/draft.h"
#include "rankwright/import/syntax/fields.h"
#include "rankwright/import/syntax/file.h"

namespace rankwright::importer {

/// The documentation of one key.
struct PlanKey {
  std::string_view path;     // "parallelism.zero_stage"
  std::string_view values;   // accepted values
  std::string_view missing;  // default
  std::string_view meaning;
  std::string_view cost;  // benefit and cost
};

/// The inputs and outputs of a row's function.
struct Reading {
  FieldReader& fields;
  Draft& draft;
  const FileReader& files;
};

/// One key and its reader.
struct KeyRow {
  PlanKey key;
  void (*read)(Reading&, const YamlNode&);
};

std::span<const KeyRow> key_rows();

/// Returns words of other tools that plan files have other keys for.
std::span<const WordHint> key_hints();

/// Returns the maps that contain keys: "parallelism", "parallelism.overlap", "job".
std::span<const std::string_view> key_groups();

}  // namespace rankwright::importer
