// The verbs of rankwright-runtime, one file each. Their rows in cli/verb.cc exec this program.
#pragma once

#include "cli/verb.h"

namespace rankwright::cli {

int run_plan(Args args, const Io& io);
int probe_machine(Args args, const Io& io);

}  // namespace rankwright::cli
