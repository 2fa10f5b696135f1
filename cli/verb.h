// The verbs of the command line: one file and one table row each. A verb reads its arguments, calls
// the library and writes the answer; all decisions are in the library.
#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rankwright::cli {

struct OptionRow;

/// The streams of a verb: data on `out`, everything else on `err`. run() removes control characters
/// from both. Tests pass string streams.
struct Io {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  bool color = false;         // out is a terminal, and NO_COLOR is not set
  std::size_t width = 120;    // characters per line
  bool err_terminal = false;  // err is a terminal: progress may be drawn there
  bool log_progress = false;  // a long search may write lines to err that is not a terminal
  bool may_exec = false;      // the process may exec another program; false in tests
  /// If set, a verb stores its options here and does nothing else.
  std::vector<OptionRow>* collect_options = nullptr;
  std::ostream* bytes_out = nullptr;  // for documents that are not text; null: `out`

  std::size_t prose() const { return width < 160 ? width : 160; }  // longer lines are hard to read
};

/// Exit codes of the program.
enum Exit : int {
  kOk = 0,          // also with warnings
  kUnreadable = 1,  // unreadable or unknown input
  kRefused = 2,     // a lint error, or no plan fits or meets its target
  kUsage = 64,
  kOutOfMemory = 71,
  kInterrupted = 130,  // Ctrl-C
};

struct ExitRow {
  Exit code;
  std::string_view meaning;
};
std::span<const ExitRow> exit_rows();

using Args = std::span<const std::string>;

/// One verb of the command line.
struct Verb {
  std::string_view name;
  std::string_view summary;  // one line of `rankwright help`
  std::string_view example;  // the first lines of `rankwright VERB --help`
  int (*run)(Args args, const Io& io);
};

std::string_view example_command();  // of the whole program
std::string_view inputs_sentence();  // the accepted forms of a plan, a model and a cluster

std::span<const Verb> verbs();
const Verb& verb(std::string_view name);  // Requires: the name is in verbs()

/// Runs the whole program. `args` excludes the program's name. Returns the exit code.
int run(Args args, const Io& io);

// The functions of the rows, one file each.
int plan(Args args, const Io& io);
int check(Args args, const Io& io);
int init(Args args, const Io& io);
int explain(Args args, const Io& io);
int compare(Args args, const Io& io);
int report(Args args, const Io& io);
int export_plan(Args args, const Io& io);  // `export` is a C++ keyword
int import_plan(Args args, const Io& io);
int train(Args args, const Io& io);  // `rankwright run`
int probe(Args args, const Io& io);
int validate(Args args, const Io& io);
int catalog(Args args, const Io& io);
int lab(Args args, const Io& io);
int completions(Args args, const Io& io);

}  // namespace rankwright::cli
