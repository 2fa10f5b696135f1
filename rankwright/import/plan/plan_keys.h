// The keys of a plan file, one row each: what the key means, what may stand there, and the function
// that reads it into a Draft. To add a key, add a row. The file itself is walked by plan_file.cc.
#pragma once

#include <span>
#include <string_view>

#include "rankwright/import/plan/draft.h"
#include "rankwright/import/syntax/fields.h"
#include "rankwright/import/syntax/file.h"

namespace rankwright::importer {

struct PlanKey {
  std::string_view path;     // "parallelism.zero_stage"
  std::string_view values;   // what may stand there
  std::string_view missing;  // what is taken where it is not given
  std::string_view meaning;
  std::string_view cost;  // what it buys and what it costs
};

/// What a row's function reads with and into.
struct Reading {
  FieldReader& fields;
  Draft& draft;
  const FileReader& files;
};

struct KeyRow {
  PlanKey key;
  void (*read)(Reading&, const YamlNode&);
};

std::span<const KeyRow> key_rows();

/// The maps that keys stand in: "parallelism", "parallelism.overlap", "job".
std::span<const std::string_view> key_groups();

}  // namespace rankwright::importer
