// Adds to a finding about a mistyped key what the typo costs: the file is read again with the key
// spelled right, and both plans are estimated.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rankwright/planner/check.h"

namespace rankwright::planner {

/// A file with its misspelled words corrected.
struct CorrectedText {
  std::string text{};
  std::vector<std::string> words{};  // "'tp_sze' to 'tp_size'"
  CheckAnswer answer{};              // of the corrected file
};

/// Corrects every misspelled word that `answer` found in the file of `request`, as long as the file
/// then has no more errors than before. Returns nothing if no word can be corrected.
std::optional<CorrectedText> correct_spelling(const CheckRequest& request,
                                              const CheckAnswer& answer);

/// Adds a note to every finding with a respelling: the plan keys that it would change, and by how
/// much memory and step time. `findings` are those of `input`, which `source` was read into.
void add_typo_costs(const PlanSource& source, const PlanInput& input, Diagnostics& findings);

}  // namespace rankwright::planner
