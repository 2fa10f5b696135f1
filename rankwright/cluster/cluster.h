// A Cluster is a set of devices and the tree of network levels that connects them. It has no ranks:
// mesh/placement.h places those.
//
// Level 0 joins `arity` devices into a domain, level 1 joins `arity` such domains, and so on. The
// link of level k connects one domain of level k-1 (a device, for k = 0) to level k. With `per:
// device` every device has that bandwidth for itself (one NIC per GPU); with `per: domain` all
// devices of the domain share it (one NIC per node).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankwright/base/integer.h"
#include "rankwright/base/units.h"

namespace rankwright::cluster {

/// Where a figure comes from. Every figure that users may rely on has one.
enum class Origin : unsigned char { data_sheet, calibrated, measured, assumed };

std::string_view name(Origin);  // "data sheet", "calibrated", ...

/// One accelerator, or a share of a CPU.
struct Device {
  std::string name{};
  std::string vendor{};
  Bytes memory{};  // usable total as a framework sees it, less than the nominal size
  BytesPerSecond memory_bandwidth{};
  FlopsPerSecond fp16{};  // dense; 0 if the device does not support the format
  FlopsPerSecond bf16{};
  FlopsPerSecond fp8{};
  FlopsPerSecond fp4{};
  std::string generation{};      // "hopper"; empty if unknown
  i64 multiprocessors = 0;       // 0 if unknown
  double watts = 0;              // of the board; 0 if unknown
  FlopsPerSecond best_matmul{};  // bf16, best shape measured; 0 if not measured
  Seconds launch{};              // launch overhead of one operation; 0 if not measured
  std::string source{};
  std::string verified{};  // catalog devices only: yes, partly, no (devices.csv)

  /// Returns whether the device is a share of a host's CPU cores. Its figures are then measured
  /// with the runtime (`rankwright probe`), not taken from a data sheet.
  bool cpu() const { return generation == "cpu"; }

  friend bool operator==(const Device&, const Device&) = default;
};

/// One level of the network.
struct Level {
  enum class Per : unsigned char { device, domain };
  std::string name{};
  i64 arity = 1;
  BytesPerSecond bandwidth{};  // per direction
  Seconds latency{};
  double oversubscription = 1;  // 2: half the bandwidth when all domains below use it at once
  Per per = Per::device;
  Origin origin = Origin::data_sheet;       // of the bandwidth
  Origin latency_origin = Origin::assumed;  // data sheets do not state latency

  friend bool operator==(const Level&, const Level&) = default;
};

inline constexpr std::size_t kMaxLevels = 8;

/// The maximum number of devices, and so of ranks, that an input may state: 4,194,304. Groups that
/// are spread unevenly over levels are counted one by one, so the number must be bounded.
inline constexpr i64 kMaxDevices = i64{1} << 22;

/// The NVMe drives of a host together. A figure of 0 is not stated.
struct Nvme {
  Bytes capacity{};
  BytesPerSecond read{}, write{};

  friend bool operator==(const Nvme&, const Nvme&) = default;
};

/// The host (operating system) of some devices. A figure of 0 is not stated.
struct Host {
  Bytes memory{};
  BytesPerSecond link{};  // between a device and its host, per direction: PCIe or NVLink-C2C
  Nvme nvme{};

  friend bool operator==(const Host&, const Host&) = default;
};

/// Equal devices and the levels that connect them.
struct Cluster {
  std::string name{};
  Device device{};
  std::vector<Level> levels{};  // innermost first; 1 to kMaxLevels
  i64 host_devices = 0;         // devices per host (operating system): 8, or 4 of an NVL72's 72
  Host host{};

  /// Returns the number of devices in one domain of `level`; domain(-1) is 1. Requires: the product
  /// of the arities fits in 64 bits (checked where they are read).
  i64 domain(int level) const;
  i64 devices() const { return domain(int(levels.size()) - 1); }

  /// Returns the bandwidth from one domain of `level - 1` up into `level`, of all its devices
  /// together, divided by the oversubscription.
  BytesPerSecond uplink(int level) const;

  friend bool operator==(const Cluster&, const Cluster&) = default;
};

}  // namespace rankwright::cluster
