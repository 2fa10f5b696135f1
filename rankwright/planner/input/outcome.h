// Common to all planner calls: files as values, so that the library reads none by itself, and the
// type of a result, which is an answer or a refusal.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "rankwright/base/diagnostic.h"

namespace rankwright::planner {

/// A file that the caller has read: its name in messages and its bytes. If reading failed,
/// `unreadable` says why, and calls report it among the findings of the file.
struct SourceFile {
  std::string name{};
  std::string text{};
  std::optional<Diagnostic> unreadable{};
};

/// Why a request has no answer. Either the request contradicts itself (`message` and `hint`), or a
/// file that it names has errors (`findings`, most of which point into `file`). If both are set,
/// the findings come first.
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
  std::vector<Refusal> also{};  // refusals about other files of the same request
  /// Files of the findings that do not point into `file`. Each finding is shown with its own file.
  std::optional<std::vector<SourceFile>> sources{};
};

/// A name in a request that no table has.
struct UnknownName {
  std::string_view what;  // kind of name: "target"
  std::string word;
  std::vector<std::string> known;
  std::string otherwise;  // the hint if no known name is similar
};

/// Returns the refusal of an unknown name, with the nearest known name as a hint.
Refusal unknown_name(const UnknownName& name);

/// Returns a refusal of the request itself.
inline Refusal make_usage_refusal(std::string message, std::string hint) {
  return {.kind = Refusal::Kind::usage, .message = std::move(message), .hint = std::move(hint)};
}

/// Returns the refusal of the request itself as the outcome of a call.
inline tl::unexpected<Refusal> refuse_usage(std::string message, std::string hint) {
  return tl::unexpected(make_usage_refusal(std::move(message), std::move(hint)));
}

/// The result of a call: an answer or a refusal.
template <class T>
using Outcome = tl::expected<T, Refusal>;

}  // namespace rankwright::planner
