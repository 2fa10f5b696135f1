// What `rankwright import` makes besides plans: cluster files, and the model of a plan file. Each
// has its file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/options.h"
#include "cli/verb.h"
#include "rankwright/import/cluster_format.h"

namespace rankwright::cli {

struct ImportFlags {
  std::vector<std::string> files{};
  std::string device{};
  std::optional<i64> hosts{};
  std::string collective{};
  std::string cluster{};                  // a base for what was measured
  const ClusterFormat* format = nullptr;  // nothing: each file's own

  /// Some of what only clusters have is given.
  bool about_clusters() const { return !device.empty() || hosts || !collective.empty(); }
};

/// One or more files about a cluster, merged in their order. `first` is the text of the first.
int import_cluster(const ImportFlags& flags, const std::string& first, const Options& options,
                   const Io& io);

/// A Hugging Face config.json, and the safetensors index beside it or given with it.
int import_model(const ImportFlags& flags, const Options& options, const Io& io);

}  // namespace rankwright::cli
