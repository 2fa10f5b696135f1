// The NVMe drives of a host for an estimate: the rates that a cluster states, or those of one
// drive.
#pragma once

#include "rankwright/cluster/cluster.h"

namespace rankwright::cluster {

/// Returns whether a cluster states both rates of its hosts' drives.
bool states_nvme_rates(const Cluster& cluster);

/// Returns the drives of a host, with rates that the cluster does not state assumed.
Nvme find_nvme(const Cluster& cluster);

}  // namespace rankwright::cluster
