// What a verb answers Python: every form of one answer, each rendered when it is asked for.
#pragma once

#include <functional>
#include <string>

#include "rankwright/base/diagnostic.h"

namespace rankwright::python {

struct Answer {
  using Form = std::function<std::string()>;  // empty: the answer has no such form

  Form json{};      // as --json prints it
  Form text{};      // as a terminal shows it, without color
  Form markdown{};  // as --markdown prints it
  Form html{};      // the page of a report
  Form plan{};      // the plan file
  Diagnostics findings{};
  int code = 0;  // exit code of the command line
};

}  // namespace rankwright::python
