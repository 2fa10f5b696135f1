// Manual pages, from the table of verbs and the options that `rankwright help VERB` prints: text
// for man(1), in the macros of man(7).
#pragma once

#include <string>
#include <string_view>

#include "cli/verb.h"

namespace rankwright::cli {

/// rankwright(1): the verbs, what plans and models are, exit codes.
std::string man_page();

/// rankwright-VERB(1).
std::string man_page(const Verb& verb);

/// Text as roff reads it: what would be a command or an escape there is a character.
std::string roff(std::string_view text);

}  // namespace rankwright::cli
