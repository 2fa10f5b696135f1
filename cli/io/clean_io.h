// Wraps the verbs of all programs of the project: cleans their output and handles out-of-memory.
#pragma once

#include <functional>

#include "cli/verb.h"

namespace rankwright::cli {

/// Calls `verb` with streams that remove control characters. Returns its exit code; if memory runs
/// out, prints a message and returns kOutOfMemory.
int with_clean_io(const Io& io, const std::function<int(const Io&)>& verb);

}  // namespace rankwright::cli
