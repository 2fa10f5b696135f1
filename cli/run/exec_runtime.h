// Verbs that need libtorch and MPI live in a program of their own, rankwright-runtime, which stands
// beside this one where it was built. This one becomes it: no library of an engine is loaded here,
// and mpirun sees one process.
#pragma once

#include <string_view>

#include "cli/verb.h"

namespace rankwright::cli {

/// Whether that program is there, and this process may become it.
bool can_exec_runtime(const Io& io);

/// Does not return where it works; else says what is missing, and returns the exit code.
int exec_runtime(std::string_view verb, Args args, const Io& io);

}  // namespace rankwright::cli
