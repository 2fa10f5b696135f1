// Presents labs as text and as JSON: the list, a task with its questions, the answer file to fill
// in, the verdicts, hints and solutions. The JSON schema is rankwright.lab/1. Only show_text() and
// show_json() state right values.
#pragma once

#include <string>

#include "rankwright/lab/judge.h"
#include "rankwright/lab/page.h"

namespace rankwright::lab {

std::string list_text(const report::Paint& paint, std::size_t width);

/// Returns the introduction, and each step with its task and questions, without the reveals.
std::string task_text(const Lab& lab, const TextStyle& style);

/// Returns one question with its plan, the form of its answer and its conditions.
std::string question_text(const Question& question, const LabPage& page, const TextStyle& style);

/// Returns the answer file to fill in: YAML with one key per question, below the question as a
/// comment. It parses as it is, with every question open.
std::string template_text(const Lab& lab);

std::string verdicts_text(const Lab& lab, const std::vector<Verdict>& verdicts,
                          const TextStyle& style);

/// Returns one verdict: its word, the key and the answer, then the reasons.
std::string verdict_text(const Verdict& verdict, std::size_t key_width, const TextStyle& style);

/// Returns both hints of a question.
std::string hints_text(const Lab& lab, const Question& question, const TextStyle& style);

/// Returns value, arithmetic and command of one question.
std::string solution_text(const Question& question, const TextStyle& style);

/// Returns the solutions of questions, each followed by the reveal of its step unless the next
/// question is of the same step.
std::string show_text(const Lab& lab, const std::vector<const Question*>& questions,
                      const TextStyle& style);

std::string list_json();
std::string task_json(const Lab& lab);
std::string verdicts_json(const Lab& lab, const std::vector<Verdict>& verdicts);
std::string hints_json(const Lab& lab, const Question& question);
std::string show_json(const Lab& lab, const std::vector<const Question*>& questions);

}  // namespace rankwright::lab
