// Reads an answer file: YAML, one key a question. Input is hostile, as every file is: the tree is
// bounded, unknown keys warn, and what is no answer of its kind is a finding with its place. A
// question that is left empty is open, which is no fault.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rankwright/import/syntax/file.h"
#include "rankwright/lab/lab.h"

namespace rankwright::lab {

struct GivenAnswer {
  const Question* question = nullptr;
  bool given = false;  // and could be read
  std::string text{};  // as it was written, fit for a terminal
  double value = 0;    // of a choice the index of its word
  std::optional<plan::TrainingConfig>
      plan{};            // of a plan: with what the question states where it says nothing
  Diagnostics faults{};  // why it cannot be read; the others still are judged
};

struct GivenAnswers {
  std::string name, text;
  std::vector<GivenAnswer> answers{};  // one a question, in the lab's order
  Diagnostics findings{};              // of the file: its errors leave nothing to judge
};

/// Never fails: `findings` and `faults` say what could not be read. RW0933 where the file answers
/// another lab.
GivenAnswers read_answers(const Lab& lab, std::string text, std::string name,
                          const importer::FileReader& files);

}  // namespace rankwright::lab
