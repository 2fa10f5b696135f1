// Reads plan files, version 1, a superset of the plan format that courses teach. Walks the document
// and records locations; what each key means and how its value is read is in plan_keys.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankwright/base/diagnostic.h"
#include "rankwright/import/plan/draft.h"
#include "rankwright/import/syntax/fields.h"
#include "rankwright/import/syntax/file.h"
#include "rankwright/import/syntax/shell_words.h"

namespace rankwright::importer {

struct PlanFormat;

/// A value that the file leaves open and that was filled in: the number of ranks, or the default of
/// a variable that a script expects to be set.
struct OpenValue {
  std::string key;    // plan key: "world_size"
  std::string value;  // as shown to users: "8 ranks", "$TP = 8"
  std::string hint;   // what to type: "--world N"
};

/// A plan file as it was read.
struct PlanFile {
  std::string name;
  std::string text;
  Draft draft{};
  std::vector<FieldReader::Key> keys{};  // the keys that were given, with their locations
  Diagnostics findings{};
  std::vector<std::string>
      ignored_keys{};            // keys of a framework's file that do not affect the layout
  std::size_t unknown_keys = 0;  // of a framework's file that resemble none of its own
  std::vector<std::string_view> answered{};     // codes of findings that the file itself answers
  const PlanFormat* format = nullptr;           // null: our own plan file
  std::string (*spell)(const Edit&) = nullptr;  // of a dialect of the format; null: the format's
  std::vector<OpenValue> open{};                // values that cannot be the ground of an error
  std::optional<i64> usual_world{};             // ranks if a script's variables have their defaults
  std::string usual_source{};  // of these ranks, behind their number: ", the default of $N"
  ShellInput variables{};      // values of a script's variables, set before reading

  /// Returns the location of `path`, else of the innermost enclosing map that was given, else the
  /// file.
  Location where(std::string_view path) const;
};

/// Reads a plan file. Never fails: `findings` lists what could not be read. `files` reads the
/// models and clusters that the file names.
PlanFile read_plan(std::string text, std::string name, const FileReader& files);

/// As above, for a plan embedded in another file with this text and name.
PlanFile read_plan(const YamlNode& root, std::string text, std::string name,
                   const FileReader& files);

}  // namespace rankwright::importer
