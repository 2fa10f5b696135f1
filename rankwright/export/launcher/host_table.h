// The hosts of a plan's placement, as launchers need them: the hosts in use, the host of each rank,
// and the devices that the ranks of each host use. Also writes host lists for shell scripts. The
// launchers themselves are slurm.cc, torchrun.cc and openmpi.cc.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankwright/export/exporter.h"

namespace rankwright::exporter {

/// Consecutive ranks: `ranks` of them on host `first`, then `ranks` on each next host up to `last`.
struct HostRun {
  i64 first = 0, last = 0, ranks = 1;

  friend bool operator==(const HostRun&, const HostRun&) = default;
};

/// The hosts in use, renumbered from 0. Hosts without ranks are left out, so that a launcher
/// requests only those in use; `hosts` maps back to the cluster's numbers.
struct HostTable {
  std::vector<i64> hosts{};     // numbers in the cluster, ascending
  std::vector<HostRun> runs{};  // all ranks, in rank order
  std::vector<i64> begins{};    // offset of each host's devices in `devices`, and the end
  std::vector<i64> devices{};   // per host in rank order, numbered from 0 on that host
  i64 max = 1;                  // ranks on the fullest host
  i64 host_devices = 1;

  i64 size() const { return i64(hosts.size()); }
  /// Returns the devices of the host's ranks, in rank order.
  std::span<const i64> devices_of(i64 host) const;
  /// Returns whether the host's i-th rank uses its i-th device, for all its ranks.
  bool in_order(i64 host) const;
  bool all_in_order() const;
  /// Returns the hosts in order of their first rank.
  std::vector<i64> by_first_rank() const;
};

/// Returns the plan keys that a launcher's files state.
std::span<const std::string_view> list_launcher_keys();

/// Returns the hosts of the plan's placement. Time and memory grow linearly with the world size.
/// Requires: a config without constraint violations.
HostTable make_host_table(const plan::TrainingConfig& config);

/// Returns how many host names are needed to name all hosts in use: 1 + the highest host number.
i64 count_hosts_to_name(const plan::TrainingConfig& config);

/// Returns the names of the hosts in use: those in `options`, or host0, host1, ... by their numbers
/// in the cluster. Requires: `options.hosts` is empty or has a valid name for every host in use.
std::vector<std::string> name_hosts(const HostTable& table, const ExportOptions& options);

/// Returns the runs as words of a script: "0-3x2", "7x8".
std::vector<std::string> format_host_runs(const std::vector<HostRun>& runs);

/// Returns "1,0,2".
std::string join_devices(std::span<const i64> devices);

/// Returns the words in lines of at most 100 columns, each line after `indent`.
std::string wrap_words(const std::vector<std::string>& words, std::string_view indent);

/// Returns shell commands, each after `indent`, that print `lines` in order. Consecutive numbers
/// are printed with `seq`, so that many hosts make a short script. Requires: lines of characters
/// that is_host_name() accepts, and spaces.
std::string write_print_commands(const std::vector<std::string>& lines, std::string_view indent);

/// Returns the name of the script for its usage: that of the options, made safe for a comment, or
/// `usual`.
std::string name_script(const ExportOptions& options, std::string_view usual);

/// Returns shell code that prints `usage` and exits with code 64 if the script has no arguments.
/// The arguments ("$@") are the command that the script runs.
std::string write_usage_check(std::string_view usage);

/// Returns whether `name` can be written to a script unquoted: 1 to 253 letters, digits, '-', '.'
/// and '_', not beginning with '-'.
bool is_host_name(std::string_view name);

}  // namespace rankwright::exporter
