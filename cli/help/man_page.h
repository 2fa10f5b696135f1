// Manual pages for man(1), in the macros of man(7), generated from the table of verbs and the
// options that `rankwright help VERB` prints.
#pragma once

#include <string>
#include <string_view>

#include "cli/verb.h"

namespace rankwright::cli {

/// Returns rankwright(1): the verbs, the accepted forms of plans and models, exit codes.
std::string make_man_page();

/// Returns rankwright-VERB(1).
std::string make_man_page(const Verb& verb);

/// Escapes text for roff, so that nothing in it is read as a command or an escape.
std::string escape_roff(std::string_view text);

}  // namespace rankwright::cli
