// The arguments of a verb as Python passes them: file names, options as text, and texts in place of
// files. Converts them to the values of a request.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rankwright/planner/input/plan_input.h"

namespace rankwright::python {

/// The arguments of one call.
struct Arguments {
  std::string verb{};
  std::vector<std::string> files{};
  /// In the order given: {"max-tp", "4"}. A switch has no text.
  std::vector<std::pair<std::string, std::optional<std::string>>> options{};
  std::map<std::string, std::string> texts{};  // by name, in place of files

  bool has(std::string_view option) const;
  /// Returns the text of an option; empty if it is not given.
  std::string text(std::string_view option) const;
  /// Returns all texts of an option that may be given several times.
  std::vector<std::string> all(std::string_view option) const;
  /// Returns an option as an integer; empty if it is not given.
  planner::Outcome<std::optional<i64>> whole(std::string_view option) const;
  /// Returns a number of ranks or hosts, which is at least 1.
  planner::Outcome<std::optional<i64>> size(std::string_view option) const;

  /// Returns whether `name` is a text or a file that exists.
  bool names_file(const std::string& name) const;
  /// Returns a reader for texts by name, and for files.
  importer::FileReader reader() const;
  planner::SourceFile source(const std::string& name) const;
  /// Returns the variables of a script: the lines NAME=VALUE of "set".
  importer::ShellInput variables() const;
  /// Returns the first file as a plan, with the options common to all verbs about plans.
  planner::Outcome<planner::PlanSource> plan() const;

  /// Returns the arguments of the equivalent command line.
  std::vector<std::string> words() const;
};

}  // namespace rankwright::python
