// What launchers need to know of a placement: which hosts are used, the host of each rank in order
// and the devices that the ranks of a host take. Also how lists of hosts stand in shell scripts.
// It knows no launcher: those are slurm, torchrun and openmpi, one file each.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankwright/export/exporter.h"

namespace rankwright::exporter {

/// The next ranks: `ranks` of them on host `first`, as many on the one after it, up to `last`.
struct HostRun {
  i64 first = 0, last = 0, ranks = 1;

  friend bool operator==(const HostRun&, const HostRun&) = default;
};

/// Hosts without ranks are left out, and the others counted from 0: a launcher asks for no more
/// than are used. `hosts` says which ones they are.
struct HostTable {
  std::vector<i64> hosts{};     // by the cluster's numbers, ascending
  std::vector<HostRun> runs{};  // all ranks in order
  std::vector<i64> begins{};  // where the devices of a host begin in `devices`; one more at the end
  std::vector<i64> devices{};  // by host, in order of its ranks: 0 is the first of that host
  i64 max = 1;                 // ranks on the fullest host
  i64 host_devices = 1;

  i64 size() const { return i64(hosts.size()); }
  std::span<const i64> devices_of(i64 host) const;
  /// Its first rank takes its first device, and so on.
  bool in_order(i64 host) const;
  bool all_in_order() const;
  /// Hosts in order of their first ranks.
  std::vector<i64> by_first_rank() const;
};

/// For a config without violations. Time and memory grow with the world.
HostTable host_table(const plan::TrainingConfig& config);

/// How many hosts must have a name for the used ones to have theirs: 1 + the last that is used.
i64 hosts_to_name(const plan::TrainingConfig& config);

/// Of the used hosts: those of the options, or host0, host1, ... by the cluster's numbers.
std::vector<std::string> host_names(const HostTable& table, const ExportOptions& options);

/// "0-3x2 7x8": how runs stand in a script, a word each.
std::vector<std::string> describe_run(const std::vector<HostRun>& runs);

/// "1,0,2"
std::string device_list(std::span<const i64> devices);

/// Words in lines of at most 100 columns behind `indent`.
std::string wrapped(const std::vector<std::string>& words, std::string_view indent);

/// Commands that print `lines` one after another, each behind `indent`: `seq` where numbers count
/// up, so that many hosts stay a short text. A line holds what is_host_name() lets through, and
/// spaces.
std::string printing(const std::vector<std::string>& lines, std::string_view indent);

/// The command line of a script as its own argument: "$@", or a complaint and exit code 64.
std::string wants_a_command(std::string_view usage);

/// Letters, digits, '-', '.' and '_', at most 253, and no '-' in front: what may stand in a script
/// as it is.
bool is_host_name(std::string_view name);

}  // namespace rankwright::exporter
