// The verbs of the command line: one file and one row each. A verb reads its arguments, calls the
// library and writes; it decides nothing that the library could.
#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rankwright::cli {

struct OptionRow;

/// Where a verb reads and writes: data on `out`, everything else on `err`. run() cleans both for
/// the terminal. Tests pass string streams.
struct Io {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  bool color = false;         // out is a terminal, and NO_COLOR is not set
  std::size_t width = 120;    // characters a line
  bool err_terminal = false;  // err is one, too: progress may be drawn there
  bool may_exec = false;      // the process may become another program; in tests it may not
  std::vector<OptionRow>* collect_options =
      nullptr;  // where set, a verb collect_options what it takes and does nothing
  std::ostream* bytes_out = nullptr;  // `out` for documents that are not text; null: `out` itself

  std::size_t prose() const { return width < 160 ? width : 160; }  // longer lines are hard to read
};

enum Exit : int {
  kOk = 0,          // also when there are only warnings
  kUnreadable = 1,  // unreadable or unknown input
  kRefused = 2,     // a lint error, or nothing fits
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

struct Verb {
  std::string_view name;
  std::string_view summary;  // one line of `rankwright help`
  std::string_view example;  // what `rankwright VERB --help` opens with
  int (*run)(Args args, const Io& io);
};

std::string_view example_command();  // of the whole program
std::string_view inputs_sentence();  // what a plan, a model and a cluster may be

std::span<const Verb> verbs();
const Verb& verb(std::string_view name);  // one of the rows

/// The whole program: `args` without the program's name. Returns the exit code.
int run(Args args, const Io& io);

// The functions of the rows, one file each.
int plan(Args args, const Io& io);
int check(Args args, const Io& io);
int explain(Args args, const Io& io);
int compare(Args args, const Io& io);
int report(Args args, const Io& io);
int export_plan(Args args, const Io& io);  // `export` is a word of C++
int import_plan(Args args, const Io& io);
int train(Args args, const Io& io);  // `rankwright run`
int probe(Args args, const Io& io);
int validate(Args args, const Io& io);
int catalog(Args args, const Io& io);
int lab(Args args, const Io& io);
int completions(Args args, const Io& io);

}  // namespace rankwright::cli
