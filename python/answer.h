// The answer of a verb to Python: all its forms, each rendered on request.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "rankwright/base/diagnostic.h"
#include "rankwright/planner/input/outcome.h"

namespace rankwright::python {

/// One answer with its forms, findings and exit code.
struct Answer {
  using Form = std::function<std::string()>;  // empty: the answer does not have this form

  Form json{};      // as --json prints it
  Form text{};      // as a terminal shows it, without color
  Form markdown{};  // as --markdown prints it
  Form html{};      // the page of a report
  Form plan{};      // the plan file
  Diagnostics findings{};
  int code = 0;  // exit code of the command line
};

/// Returns an answer whose forms are rendered by `json` and `text` from the outcome of a planner
/// call, or the call's refusal.
template <class T, class Json, class Text>
planner::Outcome<Answer> make_answer(planner::Outcome<T> outcome, Json json, Text text) {
  if (!outcome) return tl::unexpected(std::move(outcome.error()));
  const auto answer = std::make_shared<const T>(std::move(*outcome));
  Answer made{.json = [answer, json] { return json(*answer); },
              .text = [answer, text] { return text(*answer); }};
  if constexpr (requires { answer->plan.findings; }) made.findings = answer->plan.findings;
  return made;
}

}  // namespace rankwright::python
