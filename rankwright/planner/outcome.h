// What every call of the planner has in common: files as values, so that the library reads none by
// itself, and an answer or the reason why there is none.
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "rankwright/base/diagnostic.h"

namespace rankwright {

/// A file that the caller has read: how messages name it, and its bytes.
struct SourceFile {
  std::string name{};
  std::string text{};
};

/// Why a request has no answer. Either the request contradicts itself (`message` and `hint`), or a
/// file that it names has errors (`findings`, most of which point into `file`).
struct Refusal {
  enum class Kind : unsigned char {
    usage,       // the request itself is wrong
    unreadable,  // a file cannot be read, or a name is unknown
    refused,     // the plan cannot exist, or its target rejects it
  };
  Kind kind = Kind::usage;
  std::string message{};
  std::string hint{};
  Diagnostics findings{};
  SourceFile file{};
};

template <class T>
using Outcome = tl::expected<T, Refusal>;

}  // namespace rankwright
