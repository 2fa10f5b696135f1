// A Diagnostic is what the user is told: a stable code, what is wrong with the numbers, a hint that
// can be typed, and where. It is data; how it looks is decided in report/. What a code means in
// general stands in one table, rules/codes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rankwright {

enum class Severity : unsigned char { error, warning, note };

std::string_view name(Severity);

/// A place in something that the user wrote. Lines and columns count from 1; line 0 means the whole
/// of `file`. `width` is how many characters to underline.
struct Location {
  std::string file{};
  int line = 0;
  int column = 0;
  int width = 1;

  friend bool operator==(const Location&, const Location&) = default;
};

/// One change to a plan file: the dotted path of a key and what to write there.
struct Edit {
  std::string key;
  std::string value;

  friend bool operator==(const Edit&, const Edit&) = default;
};

struct Diagnostic {
  std::string_view code;  // "RW0102": a row of rules/codes
  Severity severity = Severity::error;
  std::string message;               // what is wrong, in words that hold for every file
  std::string detail{};              // the numbers of this one
  std::vector<std::string> notes{};  // what follows from it: prices, consequences
  std::string hint{};                // what to type where it is no edit of the plan file
  std::vector<Edit> fix{};           // what to type in the plan file; a test applies it
  std::string key{};                 // the dotted path that it is about: "parallelism.dp_size"
  Location where{};                  // filled from `key` by whoever knows the file
};

using Diagnostics = std::vector<Diagnostic>;

/// "dp_size: 2, pp_size: 4" from the fix, else the hint.
std::string help(const Diagnostic&);

/// Most severe first, then by place, with what is about a whole file after its lines, then by code.
void sort(Diagnostics&);

bool has_errors(const Diagnostics&);

}  // namespace rankwright
