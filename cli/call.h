// A verb that is called by a program in the same process, as the Python module does, instead of
// typed by a person. The caller gets what a terminal does not need: every form of one answer, so
// that nothing is searched twice, and faults as data. Verbs read and print as ever.
#pragma once

#include <atomic>
#include <map>
#include <string>
#include <string_view>

#include "cli/verb.h"
#include "rankwright/base/diagnostic.h"
#include "rankwright/planner/outcome.h"
#include "rankwright/planner/plan_input.h"

namespace rankwright::cli {

/// One answer as it would be printed with --json, without, with --markdown or --html, or written by
/// -o. Filled by verbs whose answer takes long; empty where there is no such form.
struct Forms {
  std::string json{}, text{}, markdown{}, html{}, plan{};
};

struct Call {
  std::map<std::string, std::string> texts{};  // what some names stand for, instead of files
  std::atomic<bool> stop{false};               // set by the caller: ends a search, as Ctrl-C does
  Forms forms{};
  Diagnostics told{};
};

/// Writes the findings to `io.err`, and hands them to a caller in the same process. `text` is the
/// file that most of them point into, named `file`.
void tell(const Diagnostics& findings, std::string_view file, std::string_view text, const Io& io);

/// Hands them over alone: they are written otherwise.
void hand(const Diagnostics& findings, const Io& io);

/// Returns the text of findings in several files, each with the line of its own, without a count.
std::string findings_in(const std::vector<SourceFile>& sources, const Diagnostics& findings);

/// Writes how many findings a plan has besides its answer, unless `quiet`. Returns the exit code of
/// a verb that answers all the same.
int print_tally(const ValidPlan& plan, bool quiet, const Io& io);

/// Writes why a request of `verb` has no answer to `io.err`. Returns the exit code.
int print_refusal(std::string_view verb, const Refusal& refusal, const Io& io);

/// Writes what is wrong with the command line of `verb`, and what to type. Returns the exit code.
int print_usage_fault(std::string_view verb, std::string message, std::string hint, const Io& io);

}  // namespace rankwright::cli
