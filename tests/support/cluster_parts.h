// Helpers for tests of cluster readers: reads a sample of tests/data/import or a text, and formats
// a cluster as one line.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "rankwright/base/format.h"
#include "rankwright/import/cluster/cluster_format.h"
#include "rankwright/import/syntax/file.h"

namespace rankwright::clusters {

inline std::string sample(const std::string& name) {
  const Result<std::string> text =
      importer::read_file(std::string(RANKWRIGHT_SOURCE_DIR) + "/tests/data/import/" + name);
  return text ? *text : "";
}

struct Reading {
  importer::ClusterParts parts{};
  Diagnostics findings{};
};

inline void add(Reading& reading, std::string_view format, std::string_view text,
                std::string_view file = "file") {
  importer::find_cluster_format(format)->read(text, file, reading.parts, reading.findings);
}

inline Reading read(std::string_view format, std::string_view text) {
  Reading reading;
  add(reading, format, text);
  return reading;
}

/// Formats a cluster: "h100-sxm: nvlink 8 x 450 GB/s, infiniband 4 x 50 GB/s a domain (assumed)".
inline std::string show(const std::optional<cluster::Cluster>& cluster) {
  if (!cluster) return "nothing";
  std::string text = cluster->device.name + ":";
  for (const cluster::Level& level : cluster->levels) {
    text += fmt::format("{} {} {} x {}", text.ends_with(':') ? "" : ",", level.name, level.arity,
                        rankwright::show(level.bandwidth));
    if (level.per == cluster::Level::Per::domain) text += " a domain";
    if (level.origin == cluster::Origin::assumed) text += " (assumed)";
    if (level.origin == cluster::Origin::measured) text += " (measured)";
  }
  return text;
}

inline std::string resolved(Reading& reading, std::string_view device = "") {
  if (!device.empty())
    reading.parts.device = importer::ClusterPart<std::string>{std::string(device), "--device"};
  return show(resolve_cluster(reading.parts, reading.findings));
}

}  // namespace rankwright::clusters
