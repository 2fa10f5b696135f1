#include "rankwright/planner/input/outcome.h"

#include <fmt/format.h>

#include "rankwright/base/format.h"
#include "rankwright/base/suggest.h"

namespace rankwright::planner {

Refusal unknown_name(const UnknownName& name) {
  const std::optional<std::string> near = nearest(name.word, name.known);
  return {.message = fmt::format("unknown {} '{}'", name.what, make_excerpt(name.word)),
          .hint = near ? fmt::format("did you mean {}?", *near) : name.otherwise};
}

}  // namespace rankwright::planner
