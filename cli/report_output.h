// Where a report goes: a page that opens in a browser, a document, pictures. The same for every
// verb that makes one.
#pragma once

#include <string>

#include "cli/options.h"
#include "cli/verb.h"
#include "rankwright/report/page/report_view.h"

namespace rankwright::cli {

/// Without plans yet; `verb` was called with `args`.
report::Report new_report(std::string_view verb, Args args);

/// Says what is missing where the program was built without the page. Returns the exit code, kOk
/// where there is one.
int without_page(std::string_view verb, const Io& io);

/// Writes the page and says so.
int save_page(const report::Report& report, const std::string& path, const Options& options,
              const Io& io);

/// Writes each picture into a folder, which is made where there is none, and says so: "step.svg",
/// or of two plans "step-a.svg" and "step-b.svg".
int save_pictures(const report::Report& report, const std::string& folder, const Options& options,
                  const Io& io);

/// The flags of `rankwright report`.
struct ReportFlags {
  bool markdown = false;
  std::string svg{};  // a folder

  void add_to(Options& options);

  /// The exit code where what is asked for of the file `plan` cannot be, with the reason printed;
  /// else kOk.
  int refuse(const std::string& plan, const Options& options, const Io& io) const;

  int write(const report::Report& report, const Options& options, const Io& io) const;

 private:
  /// Nothing else is asked for besides.
  bool only_pictures(const Options& options) const {
    return !svg.empty() && !options.json() && !markdown && options.output().empty();
  }
};

}  // namespace rankwright::cli
