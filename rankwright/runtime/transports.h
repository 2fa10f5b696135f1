// The table rows of the backends, one folder each. CMake selects the NCCL folder or its stub, so
// callers need no #ifdef.
#pragma once

#include <string>
#include <string_view>

#include "rankwright/base/diagnostic.h"
#include "rankwright/runtime/world.h"

namespace rankwright::runtime {

extern const Backend mpi_backend;
extern const Backend nccl_backend;

/// Returns the version of the linked library, such as "2.28.9"; empty for the stub.
std::string nccl_version();

/// Returns a runtime error, with the title of its documentation page.
Diagnostic running_fault(std::string_view code, std::string detail, std::string hint = {});

}  // namespace rankwright::runtime
