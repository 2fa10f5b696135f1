// The flag --for, shared by verbs: the framework that a plan is for.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "cli/options.h"
#include "rankwright/rules/rule.h"

namespace rankwright::cli {

/// The value of --for.
class TargetFlag {
 public:
  /// Adds the flag. `help` is followed by the names: "also the rules of this framework".
  void add_to(Options& options, std::string_view help);

  /// Returns the target, nothing if the flag is not set; or prints the error and returns the exit
  /// code.
  tl::expected<std::optional<rules::Target>, int> read(std::string_view verb, const Io& io) const;

 private:
  std::string word_{};
};

}  // namespace rankwright::cli
