// A Cluster is devices and the tree of levels that joins them. It knows nothing of ranks: those are
// placed on it by mesh/placement.h.
//
// Level 0 joins `arity` devices into a domain, level 1 joins `arity` such domains, and so on. The
// link of level k runs from one domain of level k-1 (a device, for k = 0) up to level k. With `per:
// device` every device below has that bandwidth of its own (a NIC a GPU); with `per: domain` all
// devices of the domain share it (one NIC for the node).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankwright/base/integer.h"
#include "rankwright/base/units.h"

namespace rankwright::cluster {

/// Where a figure comes from. Every figure that a person may rely on carries one.
enum class Origin : unsigned char { data_sheet, calibrated, measured, assumed };

std::string_view name(Origin);  // "data sheet", "calibrated", ...

struct Device {
  std::string name{};
  std::string vendor{};
  Bytes memory{};  // the total that a framework finds, less than the label says
  BytesPerSecond memory_bandwidth{};
  FlopsPerSecond fp16{};  // dense; 0 where the device has no such unit
  FlopsPerSecond bf16{};
  FlopsPerSecond fp8{};
  FlopsPerSecond fp4{};
  std::string generation{};      // "hopper"; empty where nothing is known of its kind
  i64 multiprocessors = 0;       // 0 where not known
  double watts = 0;              // of the board; 0 where not known
  FlopsPerSecond best_matmul{};  // bf16, the best shape that anybody measured; 0: none did
  Seconds launch{};              // of one operation, besides its work; 0 where nobody measured it
  std::string source{};
  std::string verified{};  // of a device in the catalog: yes, partly, no (devices.csv)

  /// A share of a host's cores. Its figures are what the runtime itself reached on it, not what a
  /// data sheet promises (`rankwright probe`).
  bool cpu() const { return generation == "cpu"; }

  friend bool operator==(const Device&, const Device&) = default;
};

struct Level {
  enum class Per : unsigned char { device, domain };
  std::string name{};
  i64 arity = 1;
  BytesPerSecond bandwidth{};  // per direction
  Seconds latency{};
  double oversubscription = 1;  // 2: half of that bandwidth when all below use it at once
  Per per = Per::device;
  Origin origin = Origin::data_sheet;       // of the bandwidth
  Origin latency_origin = Origin::assumed;  // data sheets state none

  friend bool operator==(const Level&, const Level&) = default;
};

inline constexpr std::size_t kMaxLevels = 8;

/// The most devices that an input may state, and so the most ranks: 4,194,304. Where groups lie
/// unevenly on levels they are counted one by one.
inline constexpr i64 kMaxDevices = i64{1} << 22;

struct Cluster {
  std::string name{};
  Device device{};
  std::vector<Level> levels{};  // innermost first; 1 to kMaxLevels
  i64 host_devices = 0;         // devices that one operating system sees: 8, or 4 of an NVL72's 72

  /// Devices in one domain of `level`; of all levels: in the cluster. domain(-1) is one device.
  /// Whoever reads the arities from outside has checked that their product fits in 64 bits.
  i64 domain(int level) const;
  i64 devices() const { return domain(int(levels.size()) - 1); }

  /// What leaves one domain of `level - 1` upwards into `level`, all its devices together, with
  /// oversubscription taken off.
  BytesPerSecond uplink(int level) const;

  friend bool operator==(const Cluster&, const Cluster&) = default;
};

}  // namespace rankwright::cluster
