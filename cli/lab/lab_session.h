// The dialog of `rankwright lab N --interactive`, and the text drawings of a lab's pictures.
#pragma once

#include <string>

#include "cli/options.h"
#include "cli/verb.h"
#include "rankwright/lab/page.h"

namespace rankwright::cli {

/// Returns the style of a lab's text: colors, width, and drawings of timelines.
lab::TextStyle lab_style(const Options& options, const Io& io);

/// Asks the questions of a lab. Lines come from standard input, or from the file `answers` unless
/// that is empty. Returns kOk if all answers are right, else kRefused.
int run_lab_session(const lab::Lab& lab, const std::string& answers, const Options& options,
                    const Io& io);

}  // namespace rankwright::cli
