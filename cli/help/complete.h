// Completions: what may be typed next. The scripts in cli/shells only call this, so that the new
// flag of a verb is completed without further changes.
#pragma once

#include "cli/help/flag_values.h"
#include "cli/verb.h"

namespace rankwright::cli {

/// The word that only the shell scripts pass; it is not a verb.
inline constexpr std::string_view kCompleteWord = "__complete";

/// Returns the words that may come next. `words` are as typed after the program's name; the last
/// one is unfinished and may be empty. `--flag=value` may be one word, or three, as bash splits it.
Values list_completions(Args words);

/// Prints the completions: a word and, after a tab, its help; ":files" if file names are valid too.
int complete(Args words, const Io& io);

}  // namespace rankwright::cli
