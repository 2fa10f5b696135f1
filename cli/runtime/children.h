// The processes that this one is the parent of: those that it started, and, as it asked for them,
// those whose parent died.
#pragma once

#include <sys/types.h>

#include <vector>

namespace rankwright::cli {

std::vector<pid_t> children();

/// Ends them all, at once, and waits for their end. Those that appear meanwhile too.
void kill_children();

}  // namespace rankwright::cli
