// `rankwright lab worksheet`: writes the worksheet of a plan, and checks a filled one.
#pragma once

#include "cli/verb.h"

namespace rankwright::cli {

/// Runs the command. `args` are those after `worksheet`.
int lab_worksheet(Args args, const Io& io);

}  // namespace rankwright::cli
