// Presents labs as text and as JSON: the list, a task with its questions, the answer file to fill
// in, and the verdicts. The JSON schema is rankwright.lab/1.
#pragma once

#include <string>

#include "rankwright/lab/judge.h"
#include "rankwright/lab/page.h"

namespace rankwright::lab {

std::string list_text(const report::Paint& paint);
std::string task_text(const Lab& lab, const report::Paint& paint, std::size_t width);

/// Returns the answer file to fill in: YAML with one key per question, below the question as a
/// comment. It parses as it is, with every question open.
std::string template_text(const Lab& lab);
std::string verdicts_text(const Lab& lab, const std::vector<Verdict>& verdicts,
                          const report::Paint& paint, std::size_t width);

std::string list_json();
std::string task_json(const Lab& lab);
std::string verdicts_json(const Lab& lab, const std::vector<Verdict>& verdicts);

}  // namespace rankwright::lab
