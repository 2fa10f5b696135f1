// The score of predictions against measured runs: for people, and for machines. The picture of it
// is validation_svg.h.
#pragma once

#include <string>
#include <vector>

#include "rankwright/report/paint.h"
#include "rankwright/validate/score.h"

namespace rankwright {

/// What was read to get a Validation.
struct ValidationSource {
  std::vector<std::string> files{}, with{};  // scored; used for refits alone
  std::vector<Excluded> excluded{};          // of the scored files

  /// Of the rows of quality A and B.
  double share(std::size_t scored) const;
};

/// One screen first; `all` adds every row.
std::string validation_text(const Validation& validation, const ValidationSource& source, bool all,
                            const Paint& paint = {});

/// Schema rankwright.validation/1: errors and regrets in percent, times in seconds, memory in
/// bytes.
std::string validation_json(const Validation& validation, const ValidationSource& source);

}  // namespace rankwright
