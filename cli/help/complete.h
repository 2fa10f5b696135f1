// What may be typed next: the one answer behind the completions of every shell. The shells' scripts
// (cli/shells) only ask for it, so that a verb's new flag is completed without anybody's doing.
#pragma once

#include "cli/help/flag_values.h"
#include "cli/verb.h"

namespace rankwright::cli {

/// Typed by the shells' scripts alone, and therefore no verb.
inline constexpr std::string_view kCompleteWord = "__complete";

/// `words` as typed after the program's name, the last being the one that is not finished; it may
/// be empty. `--flag=value` may be one word, or three, as bash cuts it.
Values describe_next_steps(Args words);

/// Prints them: a word and, after a tab, what it is; ":files" where names of files are right too.
int complete(Args words, const Io& io);

}  // namespace rankwright::cli
