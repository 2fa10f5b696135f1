#include "rankwright/cluster/nvme.h"

namespace rankwright::cluster {
namespace {

// One PCIe 4 x4 drive for data centers (Samsung PM9A3, U.2), sequentially: 6.5 and 3.5 GB/s.
constexpr BytesPerSecond kNvmeRead{6.5e9}, kNvmeWrite{3.5e9};

}  // namespace

bool states_nvme_rates(const Cluster& cluster) {
  const Nvme& nvme = cluster.host.nvme;
  return nvme.read > BytesPerSecond{} && nvme.write > BytesPerSecond{};
}

Nvme find_nvme(const Cluster& cluster) {
  Nvme nvme = cluster.host.nvme;
  if (nvme.read <= BytesPerSecond{}) nvme.read = kNvmeRead;
  if (nvme.write <= BytesPerSecond{}) nvme.write = kNvmeWrite;
  return nvme;
}

}  // namespace rankwright::cluster
