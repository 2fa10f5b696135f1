// The rows of the backends, one folder each. Which folder stands for NCCL is chosen by CMake, so
// nobody who calls needs to know.
#pragma once

#include <string>
#include <string_view>

#include "rankwright/base/diagnostic.h"
#include "rankwright/runtime/world.h"

namespace rankwright::runtime {

extern const Backend mpi_backend;
extern const Backend nccl_backend;

/// "2.28.9" of the library that is linked; empty where it is a stub.
std::string nccl_version();

/// A fault of the running program, with the title of its page.
Diagnostic running_fault(std::string_view code, std::string detail, std::string hint = {});

}  // namespace rankwright::runtime
