// ClusterParts is what files say of a cluster and no more: every value may be absent, and those
// that are there know their file. Several files fill one. resolve_cluster() makes a Cluster of it,
// fills what is open from the nearest system of the catalog, and reports each thing that it
// assumed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankwright/base/diagnostic.h"
#include "rankwright/cluster/cluster.h"
#include "rankwright/fit/measured_series.h"

namespace rankwright::importer {

/// A value and the file that says it.
template <class T>
struct ClusterPart {
  T value{};
  std::string file{};
};
template <class T>
using Stated = std::optional<ClusterPart<T>>;

/// How some GPUs of a host are joined, and how many domains of the tier below make one of this.
struct Tier {
  enum class Kind : unsigned char { nvlink, pcie_switch, pcie, socket };
  Kind kind{};
  i64 arity = 1;

  friend bool operator==(const Tier&, const Tier&) = default;
};

std::string_view name(Tier::Kind);  // "nvlink", as the level is called

/// NVLinks as nvidia-smi counts them: between two GPUs, and of one GPU to all others. With a switch
/// each pair shows all links of a GPU, without one they are shared out: the generation decides.
struct NvLinks {
  i64 pair = 0;
  i64 all = 0;

  friend bool operator==(const NvLinks&, const NvLinks&) = default;
};

struct ClusterParts {
  Stated<std::string> device{};  // the catalog's name
  Stated<i64> host_devices{};
  Stated<std::vector<Tier>> inside{};  // of a host, innermost first; their arities multiply to it
  Stated<NvLinks> nvlinks{};
  Stated<BytesPerSecond> nvlink{};    // of one GPU, per direction
  Stated<BytesPerSecond> pcie{};      // of one GPU's slot, per direction
  Stated<i64> nics{};                 // a host
  Stated<BytesPerSecond> nic_rate{};  // of one, per direction
  Stated<std::string> network{};      // "infiniband", "ethernet", "efa"
  Stated<i64> hosts{};
  Stated<std::vector<i64>> tree{};  // domains a switch joins, of each level above hosts, innermost
                                    // first
  bool blocks = false;              // the innermost of `tree` is what Slurm calls a block
  Stated<std::vector<std::string>> host_names{};  // in the order of the tree
  std::optional<plan::Op> collective{};           // of series whose file does not say
  std::vector<fit::MeasuredSeries> series{};      // what was measured, in the order of the files
};

/// Keeps what `file` says, where nothing was said before; RW0622 where another file says something
/// else, with `what` it is and both values as text.
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

template <class T>
void state(Stated<T>& into, T value, std::string_view what, std::string_view file,
           Diagnostics& findings) {
  if (!into) {
    into = ClusterPart<T>{std::move(value), std::string(file)};
  } else if (!(into->value == value)) {
    note_contradiction(findings, what, file, show_part(value), into->file, show_part(into->value));
  }
}

/// The cluster; nothing and an error where the device is not known, or counts do not go together.
/// RW0623 for each thing that was assumed.
std::optional<cluster::Cluster> resolve_cluster(const ClusterParts& parts, Diagnostics& findings);

}  // namespace rankwright::importer
