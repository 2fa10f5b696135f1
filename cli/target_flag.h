// --for: the framework that a plan is for, the same for every verb that takes one.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "cli/options.h"
#include "rankwright/rules/rule.h"

namespace rankwright::cli {

class TargetFlag {
 public:
  /// `help` ends where the names begin: "also the rules of this framework".
  void add_to(Options& options, std::string_view help);

  /// `any` where the flag is not set. Or the exit code, with the fault printed.
  tl::expected<rules::Target, int> read(std::string_view verb, const Io& io) const;

 private:
  std::string word_{};
};

}  // namespace rankwright::cli
