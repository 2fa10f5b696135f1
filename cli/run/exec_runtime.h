// Verbs that need libtorch and MPI are in a separate program, rankwright-runtime, installed next to
// this one if it was built. This process replaces itself with it (exec), so that this program loads
// neither library and mpirun sees one process.
#pragma once

#include <string_view>

#include "cli/verb.h"

namespace rankwright::cli {

/// Returns whether rankwright-runtime exists and this process may exec it.
bool can_exec_runtime(const Io& io);

/// Replaces this process with rankwright-runtime. Returns only on failure: prints what is missing
/// and returns the exit code.
int exec_runtime(std::string_view verb, Args args, const Io& io);

}  // namespace rankwright::cli
