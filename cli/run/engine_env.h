// The environment that the engines of the runtime read when they are loaded: one thread a rank, and
// the kernels of OpenBLAS that this processor has (it takes processors that it does not know for
// old ones). What the user has set stays.
#pragma once

#include <string_view>

namespace rankwright::cli {

/// What OPENBLAS_CORETYPE should be, from the text of /proc/cpuinfo: SKYLAKEX with AVX-512, HASWELL
/// with AVX2; empty where OpenBLAS is left to find out itself.
std::string_view openblas_core(std::string_view cpuinfo);

/// Sets what is not set yet. Whether anything was: then libraries that are loaded already have not
/// seen it.
bool set_engine_env();

}  // namespace rankwright::cli
