// `rankwright explain WORD`: the page of a diagnostic code, a plan key, a concept or a term, and
// `rankwright explain CONCEPT PLAN`: the page of a concept with the numbers of a plan.
#pragma once

#include <string>

#include "cli/options.h"
#include "cli/plan_input.h"
#include "cli/verb.h"

namespace rankwright::cli {

/// Writes the page of a word. Draws a collective to the file `svg` if that is not empty. Returns
/// the exit code.
int show_word(const std::string& word, const std::string& svg, const Options& options,
              const Io& io);

/// Writes the page of a concept with the numbers of a plan. `mixed`: another plan or a view is
/// given too, which is refused. Returns the exit code.
int show_word_in_plan(const std::string& word, const PlanFlags& plan, bool mixed,
                      const Options& options, const Io& io);

}  // namespace rankwright::cli
