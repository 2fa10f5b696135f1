// The environment that the runtime's libraries read when they are loaded: one thread per rank, and
// the OpenBLAS kernels for this processor (OpenBLAS treats unknown processors as old ones).
// Variables that the user has set are kept.
#pragma once

#include <string_view>

namespace rankwright::cli {

/// Returns the value for OPENBLAS_CORETYPE from the text of /proc/cpuinfo: SKYLAKEX with AVX-512,
/// HASWELL with AVX2; empty if OpenBLAS should detect it.
std::string_view openblas_core(std::string_view cpuinfo);

/// Sets the variables that are not set yet. Returns whether it set any; libraries that are already
/// loaded have not seen them.
bool set_engine_env();

}  // namespace rankwright::cli
