// Wraps the verbs of every program of the project.
#pragma once

#include <functional>

#include "cli/verb.h"

namespace rankwright::cli {

/// Calls `verb` with streams that clean what passes through them for the terminal. Returns its exit
/// code; running out of memory is a message and kOutOfMemory.
int with_clean_io(const Io& io, const std::function<int(const Io&)>& verb);

}  // namespace rankwright::cli
