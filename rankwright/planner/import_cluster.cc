#include <fmt/format.h>

#include "rankwright/base/format.h"
#include "rankwright/export/comment.h"
#include "rankwright/fit/link_fit.h"
#include "rankwright/import/cluster/cluster_file.h"
#include "rankwright/import/cluster/cluster_format.h"
#include "rankwright/import/cluster/host_list.h"
#include "rankwright/planner/import.h"

namespace rankwright::planner {
namespace {

/// An input file and its format.
struct Source {
  const SourceFile& file;
  const importer::ClusterFormat* format;
};

/// Returns all files with their formats. Returns nothing and adds a finding if a file has none.
std::optional<std::vector<Source>> read_sources(const ImportRequest& request,
                                                Diagnostics& findings) {
  const importer::ClusterFormat* const stated = importer::find_cluster_format(request.from);
  std::vector<Source> sources;
  for (const SourceFile& file : request.inputs) {
    if (file.unreadable) {
      findings.push_back(*file.unreadable);
      return std::nullopt;
    }
    const importer::ClusterFormat* const format =
        stated != nullptr ? stated : importer::find_claiming_format(file.name, file.text);
    if (format == nullptr) {
      findings.push_back({.code = "RW0603",
                          .message = "unrecognized file format",
                          .detail = "it does not describe a cluster",
                          .hint = "rankwright import --list",
                          .where = {.file = file.name}});
      return std::nullopt;
    }
    sources.push_back({file, format});
  }
  return sources;
}

/// Returns the cluster that the files describe, or the stated one calibrated with their
/// measurements.
std::optional<cluster::Cluster> merge(const ImportRequest& request,
                                      const std::vector<Source>& sources,
                                      importer::ClusterParts& parts, Diagnostics& findings) {
  std::optional<cluster::Cluster> base;
  if (!request.cluster.empty()) {
    base = importer::read_cluster_argument(request.cluster, request.files, findings);
    if (!base) return std::nullopt;
    parts.device = importer::ClusterPart<std::string>{base->device.name, request.cluster};
  }
  if (!request.device.empty())
    parts.device = importer::ClusterPart<std::string>{request.device, "--device"};
  if (request.hosts) parts.hosts = importer::ClusterPart<i64>{*request.hosts, "--hosts"};
  if (!request.collective.empty()) parts.collective = importer::find_collective(request.collective);
  for (const Source& source : sources) {
    const std::size_t before = parts.series.size();
    source.format->read(source.file.text, source.file.name, parts, findings);
    if (base && parts.series.size() == before && !has_errors(findings))
      findings.push_back({.code = "RW0622",
                          .severity = Severity::warning,
                          .message = "two files disagree",
                          .detail = "with --cluster, only the measurements of other files are used",
                          .where = {.file = source.file.name}});
  }
  if (has_errors(findings)) return std::nullopt;
  if (!base) return resolve_cluster(parts, findings);
  for (const fit::MeasuredSeries& series : parts.series)
    if (!calibrate_links(*base, series, findings)) return std::nullopt;
  return base;
}

/// Returns where the figures come from, one line each.
std::vector<std::string> origins_of(const std::vector<Source>& sources,
                                    const importer::ClusterParts& parts,
                                    const Diagnostics& findings) {
  std::vector<std::string> lines;
  for (const Source& source : sources)
    lines.push_back(
        fmt::format("From {}: {}.", exporter::safe_name(source.file.name), source.format->summary));
  if (parts.host_names)
    lines.push_back("Hosts: " +
                    make_excerpt(importer::show_host_list(parts.host_names->value), 400));
  for (const Diagnostic& finding : findings)
    if (finding.code == "RW0623") lines.push_back("Assumed: " + finding.detail);
  return lines;
}

std::vector<SourceFile> files_of(const std::optional<std::vector<Source>>& sources) {
  std::vector<SourceFile> files;
  if (sources)
    for (const Source& source : *sources) files.push_back(source.file);
  return files;
}

}  // namespace

Outcome<ImportAnswer> import_cluster(const ImportRequest& request) {
  if (!request.collective.empty() && !importer::find_collective(request.collective))
    return refuse_usage(fmt::format("unknown collective '{}'", make_excerpt(request.collective)),
                        "--collective all_reduce, all_gather, reduce_scatter, alltoall or "
                        "sendrecv");
  Diagnostics findings;
  importer::ClusterParts parts;
  const std::optional<std::vector<Source>> sources = read_sources(request, findings);
  std::optional<cluster::Cluster> cluster =
      sources ? merge(request, *sources, parts, findings) : std::nullopt;
  sort(findings);
  if (!cluster || has_errors(findings))
    return tl::unexpected(Refusal{.kind = Refusal::Kind::unreadable,
                                  .findings = std::move(findings),
                                  .sources = files_of(sources)});
  std::vector<std::string> origins = origins_of(*sources, parts, findings);
  return ImportedCluster{std::move(*cluster), std::move(origins), std::move(findings),
                         files_of(sources)};
}

}  // namespace rankwright::planner
