// ClusterParts holds what files state about a cluster: every value may be absent, and each
// remembers its file. Several files fill one ClusterParts. resolve_cluster() turns it into a
// Cluster, fills the gaps from the nearest system of the catalog, and reports each assumption.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankwright/base/diagnostic.h"
#include "rankwright/cluster/cluster.h"
#include "rankwright/fit/measured_series.h"

namespace rankwright::importer {

/// A value and the file that states it.
template <class T>
struct ClusterPart {
  T value{};
  std::string file{};
};
template <class T>
using Stated = std::optional<ClusterPart<T>>;

/// How GPUs of a host are connected; `arity` domains of the tier below form one domain of this
/// tier.
struct Tier {
  enum class Kind : unsigned char { nvlink, pcie_switch, pcie, socket };
  Kind kind{};
  i64 arity = 1;

  friend bool operator==(const Tier&, const Tier&) = default;
};

std::string_view name(Tier::Kind);  // "nvlink", the name of the level

/// NVLink counts as nvidia-smi prints them: between two GPUs, and from one GPU to all others. With
/// a switch each pair shows all links of a GPU, without one the links are divided among the pairs;
/// the generation decides which.
struct NvLinks {
  i64 pair = 0;
  i64 all = 0;

  friend bool operator==(const NvLinks&, const NvLinks&) = default;
};

/// The values that files state about a cluster.
struct ClusterParts {
  Stated<std::string> device{};  // name in the catalog
  Stated<i64> host_devices{};
  Stated<std::vector<Tier>>
      inside{};  // within a host, innermost first; the arities multiply to host_devices
  Stated<NvLinks> nvlinks{};
  Stated<BytesPerSecond> nvlink{};    // per GPU and direction
  Stated<BytesPerSecond> pcie{};      // per GPU slot and direction
  Stated<i64> nics{};                 // per host
  Stated<BytesPerSecond> nic_rate{};  // per NIC and direction
  Stated<std::string> network{};      // "infiniband", "ethernet", "efa"
  Stated<i64> hosts{};
  Stated<std::vector<i64>> tree{};  // arity of each level above hosts, innermost first
  bool blocks = false;              // the innermost level of `tree` is a block in Slurm's sense
  Stated<std::vector<std::string>> host_names{};  // in tree order
  std::optional<plan::Op> collective{};           // for series whose file does not state it
  std::vector<fit::MeasuredSeries> series{};      // measurements, in file order
};

/// Reports that two files contradict each other (RW0622): `what` differs, with both values as text.
void note_contradiction(Diagnostics& findings, std::string_view what, std::string_view file,
                        std::string_view value, std::string_view first_file,
                        std::string_view first_value);

std::string show_part(const std::string& value);
std::string show_part(i64 value);
std::string show_part(BytesPerSecond value);
std::string show_part(const std::vector<i64>& arities);
std::string show_part(const std::vector<Tier>& tiers);
std::string show_part(const std::vector<std::string>& names);
std::string show_part(const NvLinks& links);

/// Sets `into` if no file has set it before; otherwise reports a value that differs.
template <class T>
void state(Stated<T>& into, T value, std::string_view what, std::string_view file,
           Diagnostics& findings) {
  if (!into) {
    into = ClusterPart<T>{std::move(value), std::string(file)};
  } else if (!(into->value == value)) {
    note_contradiction(findings, what, file, show_part(value), into->file, show_part(into->value));
  }
}

/// Returns the cluster, or nothing and an error if the device is unknown or the counts are
/// inconsistent. Reports RW0623 for each assumption.
std::optional<cluster::Cluster> resolve_cluster(const ClusterParts& parts, Diagnostics& findings);

}  // namespace rankwright::importer
