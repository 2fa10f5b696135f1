#include "cli/option_rows.h"

#include <sstream>

#include "cli/verb.h"
#include "rankwright/base/check.h"

namespace rankwright::cli {

std::vector<OptionRow> list_option_rows(const Verb& verb) {
  std::istringstream in;
  std::ostringstream out, err;
  std::vector<OptionRow> rows;
  const int code = verb.run({}, {.in = in, .out = out, .err = err, .collect_options = &rows});
  RW_CHECK(code == kOk && !rows.empty());
  return rows;
}

}  // namespace rankwright::cli
