// The child processes of this one: those that it started and, as it is a subreaper, orphaned
// descendants.
#pragma once

#include <sys/types.h>

#include <vector>

namespace rankwright::cli {

/// Returns the ids of all children.
std::vector<pid_t> list_children();

/// Kills all children, including those that appear meanwhile, and waits until they have ended.
void kill_children();

}  // namespace rankwright::cli
