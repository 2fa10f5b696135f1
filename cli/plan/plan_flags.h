// The flags of `plan`: one per row of planner/plan/plan_options.h. Reads the flags into a
// PlanRequest, and the files that it names.
#pragma once

#include <map>
#include <string>

#include "cli/options.h"
#include "cli/verb.h"
#include "rankwright/planner/plan/plan_request.h"

namespace rankwright::cli {

/// The flags of `plan`.
class SearchFlags {
 public:
  void add_to(Options& options);

  /// Returns the request, without the content of its files, or the first error.
  planner::Outcome<planner::PlanRequest> read() const;
  /// Reads the files that the request names.
  void read_files(planner::PlanRequest& request, const Io& io) const;

  bool markdown() const { return markdown_; }

 private:
  std::string file_{};
  bool markdown_ = false;
  planner::OptionTexts texts_{};            // by name: "tp"
  std::map<std::string, bool> switches_{};  // by name: "no-tp"
};

}  // namespace rankwright::cli
