// Writes reports, for all verbs that produce one: an HTML page, a document (JSON, Markdown), or
// pictures.
#pragma once

#include <string>

#include "cli/options.h"
#include "cli/verb.h"
#include "rankwright/report/page/report_view.h"

namespace rankwright::cli {

/// Returns a report without plans. `verb` was called with `args`.
report::Report new_report(std::string_view verb, Args args);

/// Prints what is missing if the program was built without the HTML page. Returns the exit code,
/// kOk if the page is built in.
int refuse_missing_page(std::string_view verb, const Io& io);

/// Writes the page and prints its path. Returns the exit code.
int save_page(const report::Report& report, const std::string& path, const Options& options,
              const Io& io);

/// Writes each picture into a folder, which is created if needed, and prints the paths: "step.svg",
/// or "step-a.svg" and "step-b.svg" for two plans. Returns the exit code.
int save_pictures(const report::Report& report, const std::string& folder, const Options& options,
                  const Io& io);

/// The flags of `rankwright report`.
struct ReportFlags {
  bool markdown = false;
  std::string svg{};  // a folder

  void add_to(Options& options);

  /// Prints the reason and returns the exit code if the flags contradict each other or an output
  /// for the file `plan` cannot be written; else returns kOk.
  int refuse(const std::string& plan, const Options& options, const Io& io) const;

  int write(const report::Report& report, const Options& options, const Io& io) const;

 private:
  /// Returns whether pictures are the only output requested.
  bool only_pictures(const Options& options) const {
    return !svg.empty() && !options.json() && !markdown && options.output().empty();
  }
};

}  // namespace rankwright::cli
