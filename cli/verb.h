// The verbs of the command line: one file and one row each. A verb reads its arguments, calls the
// library and writes; it decides nothing that the library could.
#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

namespace rankwright::cli {

/// Where a verb writes: data on `out`, everything else on `err`. Tests pass string streams.
struct Io {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  bool terminal = false;  // out is a terminal that understands colour
};

enum Exit : int {
  kOk = 0,          // also when there are only warnings
  kUnreadable = 1,  // unreadable or unknown input
  kRefused = 2,     // a lint error, or nothing fits
  kUsage = 64,
  kInterrupted = 130,
};

struct Verb {
  std::string_view name;
  std::string_view summary;  // one line of `rankwright help`
  std::string_view example;  // the first line of `rankwright VERB --help`
  int (*run)(std::span<const std::string> args, const Io& io);
};

std::span<const Verb> verbs();

/// The whole program: `args` without the program's name. Returns the exit code.
int run(std::span<const std::string> args, const Io& io);

}  // namespace rankwright::cli
