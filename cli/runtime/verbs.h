// The verbs of rankwright-runtime, one file each. Their rows stand in cli/verb.cc with the others;
// this program is what those two hand over to.
#pragma once

#include "cli/verb.h"

namespace rankwright::cli {

int run_plan(Args args, const Io& io);
int probe_machine(Args args, const Io& io);

}  // namespace rankwright::cli
