// Common to all calls of the planner: files as values, so that the library reads none by itself,
// and an answer or the reason why there is none.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "rankwright/base/diagnostic.h"

namespace rankwright::planner {

/// A file that the caller has read: how messages name it, and its bytes. Where reading failed, why:
/// calls report it among the findings of that file.
struct SourceFile {
  std::string name{};
  std::string text{};
  std::optional<Diagnostic> unreadable{};
};

/// Why a request has no answer. Either the request contradicts itself (`message` and `hint`), or a
/// file that it names has errors (`findings`, most of which point into `file`). With both, the
/// findings come first.
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
  std::vector<Refusal> also{};  // about other files of the same request
  /// The files of findings that do not point into one; each finding is shown with its own.
  std::optional<std::vector<SourceFile>> sources{};
};

/// A name that a request states and no table has.
struct UnknownName {
  std::string_view what;  // "target"
  std::string word;
  std::vector<std::string> known;
  std::string otherwise;  // the hint where no known name is near
};
Refusal unknown_name(const UnknownName& name);

/// Returns a refusal of the request itself.
inline Refusal usage_fault(std::string message, std::string hint) {
  return {.kind = Refusal::Kind::usage, .message = std::move(message), .hint = std::move(hint)};
}

/// Returns it as the outcome of a call.
inline tl::unexpected<Refusal> refuse_usage(std::string message, std::string hint) {
  return tl::unexpected(usage_fault(std::move(message), std::move(hint)));
}

template <class T>
using Outcome = tl::expected<T, Refusal>;

}  // namespace rankwright::planner
