// A Diagnostic is one message to the user: a stable code, what is wrong (with numbers), a fix that
// can be typed, and the location. It is data only: report/ decides how it is printed, and
// rules/codes has the general description of every code.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankwright {

enum class Severity : unsigned char { error, warning, note };

std::string_view name(Severity);

/// A position in a file that the user wrote. Lines and columns count from 1; line 0 means the whole
/// file. `width` is the number of characters to underline.
struct Location {
  std::string file{};
  int line = 0;
  int column = 0;
  int width = 1;

  friend bool operator==(const Location&, const Location&) = default;
};

/// One change to a plan file: the dotted path of a key and its new value.
struct Edit {
  std::string key;
  std::string value;

  friend bool operator==(const Edit&, const Edit&) = default;
};

/// A word of the file that is probably a typo.
struct Respelling {
  std::string typed;
  std::string meant;  // as the file would spell it

  friend bool operator==(const Respelling&, const Respelling&) = default;
};

/// One message to the user.
struct Diagnostic {
  std::string_view code;  // "RW0102": a row of rules/codes
  Severity severity = Severity::error;
  std::string message;               // what is wrong, in words that fit every file
  std::string detail{};              // the numbers of this case
  std::vector<std::string> notes{};  // consequences, such as the estimated cost
  std::string hint{};                // what to type if the fix is not an edit of the plan file
  std::vector<Edit> fix{};           // edits of the plan file; a test applies them
  std::string key{};                 // the dotted path of the key concerned: "parallelism.dp_size"
  Location where{};                  // filled in from `key` by the code that knows the file
  std::optional<Respelling> respelling{};  // if the word at `where` is probably a typo
};

using Diagnostics = std::vector<Diagnostic>;

/// Returns the fix as text ("dp_size: 2, pp_size: 4"), or the hint if there is no fix.
std::string help(const Diagnostic&);

/// Sorts by severity (errors first), file, position and code. Diagnostics about a whole file come
/// after those about its lines.
void sort(Diagnostics&);

bool has_errors(const Diagnostics&);

}  // namespace rankwright
