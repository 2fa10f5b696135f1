// The arguments of a verb as Python passes them: names of files, options as texts, and texts that
// stand for files. Reads them into the values of a request.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rankwright/planner/input/plan_input.h"

namespace rankwright::python {

struct Arguments {
  std::string verb{};
  std::vector<std::string> files{};
  /// In the order in which they are typed: {"max-tp", "4"}. A switch has no text.
  std::vector<std::pair<std::string, std::optional<std::string>>> options{};
  std::map<std::string, std::string> texts{};  // by name, instead of files

  bool has(std::string_view option) const;
  /// Returns the text of an option; empty where it is not given.
  std::string text(std::string_view option) const;
  /// Returns all texts of an option that may be given several times.
  std::vector<std::string> all(std::string_view option) const;
  planner::Outcome<std::optional<i64>> whole(std::string_view option) const;
  /// The same for a number of ranks or hosts, of which there is at least one.
  planner::Outcome<std::optional<i64>> size(std::string_view option) const;

  /// Returns whether `name` is a text or a file that exists.
  bool names_file(const std::string& name) const;
  /// Reads texts by their names, and files.
  importer::FileReader reader() const;
  planner::SourceFile source(const std::string& name) const;
  /// Returns the first file as a plan, with the options that every verb about a plan takes.
  planner::Outcome<planner::PlanSource> plan() const;

  /// Returns the command that would be typed.
  std::vector<std::string> words() const;
};

}  // namespace rankwright::python
