// The stub that replaces the NCCL transport if NCCL was not found at build time.
#include "rankwright/runtime/transports.h"

namespace rankwright::runtime {
namespace {

Result<std::shared_ptr<Transport>> refuse_join(const std::vector<i64>&) {
  return fail(
      running_fault("RW0704", "nccl.h, libnccl or libcudart was not found when this was built"));
}

}  // namespace

constinit const Backend nccl_backend{.name = "nccl",
                                     .summary =
                                         "memory of GPUs, over NCCL; not built: nccl.h, "
                                         "libnccl or libcudart was not found",
                                     .built = false,
                                     .join = refuse_join};

std::string nccl_version() { return {}; }

}  // namespace rankwright::runtime
