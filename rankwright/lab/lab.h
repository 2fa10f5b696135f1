// The labs. Each is a page of docs/labs and a table of questions, both compiled in. To add a lab,
// write its page and its source file of questions, and add a row.
#pragma once

#include <span>
#include <string_view>

#include "rankwright/lab/question.h"

namespace rankwright::lab {

/// One lab.
struct Lab {
  i64 number = 0;
  std::string_view page;  // file in docs/labs: "01-data-parallelism.md"
  std::span<const Question> questions;
};

/// Returns all labs, by number.
std::span<const Lab> labs();

/// Returns the lab with this number, or null.
const Lab* find_lab(i64 number);

/// Returns the text of an embedded file, by its path in the repository; empty if there is none.
std::string_view find_lab_file(std::string_view path);

/// Returns the config of examples/`file`. Requires: the file is embedded and has no errors.
plan::TrainingConfig load_example_config(std::string_view file);

// Questions of the labs, one source file of questions/ each.
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
std::span<const Question> collective_questions();
std::span<const Question> edge_stage_questions();
std::span<const Question> equal_loss_questions();
std::span<const Question> failure_questions();

}  // namespace rankwright::lab
