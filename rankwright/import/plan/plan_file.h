// Reads plan files, version 1: a superset of the plan that courses teach. What each key means and
// how its value is read is plan_keys; this file walks the document and keeps the places.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankwright/base/diagnostic.h"
#include "rankwright/import/plan/draft.h"
#include "rankwright/import/syntax/fields.h"
#include "rankwright/import/syntax/file.h"

namespace rankwright::importer {

struct PlanFormat;

struct PlanFile {
  std::string name;
  std::string text;
  Draft draft{};
  std::vector<FieldReader::Key> keys{};  // what was given, and where
  Diagnostics findings{};
  std::vector<std::string>
      passed_over{};  // keys of a framework's file that are no matter of layout
  std::vector<std::string_view> answered{};  // codes of findings that the file answers itself
  const PlanFormat* format = nullptr;        // nothing: a plan file of ours

  /// Where `path` was given; else where the nearest map around it was; else the whole file.
  Location where(std::string_view path) const;
};

/// Never fails: `findings` says what could not be read. `files` reads the models and clusters that
/// the file names.
PlanFile read_plan(std::string text, std::string name, const FileReader& files);

/// The same of a plan that stands inside another file, whose text and name these are.
PlanFile read_plan(const YamlNode& root, std::string text, std::string name,
                   const FileReader& files);

}  // namespace rankwright::importer
