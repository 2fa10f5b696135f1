// Reads an answer file: YAML, one key per question. The input is untrusted, like every file: its
// size is limited, unknown keys are warnings, and a value that is not an answer of its kind is a
// finding with its position. A question without an answer is open, which is not an error.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rankwright/import/syntax/file.h"
#include "rankwright/lab/lab.h"

namespace rankwright::lab {

/// The answer to one question.
struct GivenAnswer {
  const Question* question = nullptr;
  bool given = false;  // given, and valid
  std::string text{};  // as written, safe for a terminal
  double value = 0;    // for a choice: the index of its word
  std::optional<plan::TrainingConfig>
      plan{};            // for a plan: settings that it leaves open are the question's
  Diagnostics faults{};  // why the answer cannot be read; other answers are still judged
};

/// All answers of a file.
struct GivenAnswers {
  std::string name, text;
  std::vector<GivenAnswer> answers{};  // one per question, in the lab's order
  Diagnostics findings{};              // about the file; with errors nothing is judged
};

/// Reads the answers. Never fails: `findings` and `faults` report what could not be read. RW0933
/// means that the file answers another lab.
GivenAnswers read_answers(const Lab& lab, std::string text, std::string name,
                          const importer::FileReader& files);

}  // namespace rankwright::lab
