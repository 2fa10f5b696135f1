// Selects findings by code, as `check --select` and `--ignore` ask for: by whole codes or by their
// beginnings (RW05: all rules of frameworks).
#pragma once

#include <string>
#include <vector>

#include "rankwright/base/diagnostic.h"
#include "rankwright/base/result.h"

namespace rankwright::rules {

/// Beginnings of codes to keep and to drop. With nothing to keep, everything is kept.
struct FindingFilter {
  std::vector<std::string> select{}, ignore{};

  bool keeps(std::string_view code) const;
  void apply(Diagnostics& findings) const;
};

/// Reads lists such as "RW04,RW0512". Fails if no known code begins with one of the words.
Result<std::vector<std::string>> parse_code_prefixes(const std::vector<std::string>& lists);

}  // namespace rankwright::rules
