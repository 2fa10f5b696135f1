// The labs: each a page of docs/labs and a table of questions, both compiled in. To add one, write
// its page and its questions' file, and add its row.
#pragma once

#include <span>
#include <string_view>

#include "rankwright/lab/question.h"

namespace rankwright::lab {

struct Lab {
  i64 number = 0;
  std::string_view page;  // "01-data-parallelism.md" of docs/labs
  std::span<const Question> questions;
};

std::span<const Lab> labs();
const Lab* find_lab(i64 number);

/// The text of an embedded file, by its path in the repository; nothing where there is none.
std::string_view lab_file(std::string_view path);

/// The config of examples/`file`.
plan::TrainingConfig scene(std::string_view file);

// The questions of the rows, one file each.
std::span<const Question> data_parallelism_questions();
std::span<const Question> tensor_parallelism_questions();
std::span<const Question> pipeline_questions();
std::span<const Question> zero_questions();
std::span<const Question> sizing_questions();
std::span<const Question> placement_questions();
std::span<const Question> worksheet_questions();
std::span<const Question> expert_questions();
std::span<const Question> sequence_questions();
std::span<const Question> intuition_questions();

}  // namespace rankwright::lab
