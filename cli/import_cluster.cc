#include <fmt/format.h>

#include <ostream>

#include "cli/call.h"
#include "cli/import.h"
#include "cli/plan_input.h"
#include "rankwright/base/format.h"
#include "rankwright/export/cluster_file.h"
#include "rankwright/import/cluster_file.h"
#include "rankwright/import/host_list.h"
#include "rankwright/import/link_fit.h"
#include "rankwright/report/findings.h"

namespace rankwright::cli {
namespace {

struct Source {
  std::string name;
  std::string text;
  const ClusterFormat* format;
};

/// All files, or nothing and the exit code of what was said.
std::optional<std::vector<Source>> read_sources(const ImportFlags& flags, const std::string& first,
                                                Diagnostics& findings, const Io& io) {
  std::vector<Source> sources;
  for (const std::string& name : flags.files) {
    Result<std::string> text =
        sources.empty() ? Result<std::string>(first) : read_argument(name, io);
    if (!text) {
      findings.push_back(text.error());
      return std::nullopt;
    }
    const ClusterFormat* const format =
        flags.format != nullptr ? flags.format : claiming_cluster_format(name, *text);
    if (format == nullptr) {
      findings.push_back({.code = "RW0603",
                          .message = "a file of no known format",
                          .detail = "it says nothing of a cluster that is understood",
                          .hint = "rankwright import --list",
                          .where = {.file = name}});
      return std::nullopt;
    }
    sources.push_back({name, std::move(*text), format});
  }
  return sources;
}

/// What the files say, or what was measured on `base`.
std::optional<Cluster> merge(const ImportFlags& flags, const std::vector<Source>& sources,
                             ClusterParts& parts, Diagnostics& findings) {
  std::optional<Cluster> base;
  if (!flags.cluster.empty()) {
    base = read_cluster_argument(flags.cluster, read_file, findings);
    if (!base) return std::nullopt;
    parts.device = ClusterPart<std::string>{base->device.name, flags.cluster};
  }
  if (!flags.device.empty()) parts.device = ClusterPart<std::string>{flags.device, "--device"};
  if (flags.hosts) parts.hosts = ClusterPart<i64>{*flags.hosts, "--hosts"};
  if (!flags.collective.empty()) parts.collective = collective_named(flags.collective);
  for (const Source& source : sources) {
    const std::size_t before = parts.series.size();
    source.format->read(source.text, source.name, parts, findings);
    if (base && parts.series.size() == before && !has_errors(findings))
      findings.push_back({.code = "RW0622",
                          .severity = Severity::warning,
                          .message = "two files say different things",
                          .detail = "--cluster describes the cluster: of files beside it only what "
                                    "was measured is taken",
                          .where = {.file = source.name}});
  }
  if (has_errors(findings)) return std::nullopt;
  if (!base) return resolve_cluster(parts, findings);
  for (const MeasuredSeries& series : parts.series)
    if (!calibrate_links(*base, series, findings)) return std::nullopt;
  return base;
}

/// Where the figures come from, above the file.
std::vector<std::string> head(const std::vector<Source>& sources, const ClusterParts& parts,
                              const Diagnostics& findings) {
  std::vector<std::string> lines;
  for (const Source& source : sources)
    lines.push_back(fmt::format("From {}: {}.", source.name, source.format->summary));
  if (parts.host_names)
    lines.push_back("Hosts: " + excerpt(show_host_list(parts.host_names->value), 400));
  for (const Diagnostic& finding : findings)
    if (finding.code == "RW0623") lines.push_back("Assumed: " + finding.detail);
  return lines;
}

/// Each finding with the line of its own file.
std::string told(const Diagnostics& findings, const std::vector<Source>& sources) {
  std::string text;
  for (const Diagnostic& finding : findings) {
    const auto source = std::find_if(sources.begin(), sources.end(), [&](const Source& one) {
      return one.name == finding.where.file;
    });
    const bool known = source != sources.end();
    std::string one =
        findings_text({finding}, known ? source->name : "", known ? source->text : "", {});
    text += one.substr(0, one.rfind('\n', one.size() - 2) + 1);  // without the count
  }
  return text;
}

}  // namespace

int import_cluster(const ImportFlags& flags, const std::string& first, const Options& options,
                   const Io& io) {
  if (!flags.collective.empty() && !collective_named(flags.collective)) {
    io.err << fmt::format(
        "rankwright import: there is no collective '{}'\n  help: --collective all_reduce, "
        "all_gather, reduce_scatter, alltoall or sendrecv\n",
        excerpt(flags.collective));
    return kUsage;
  }
  Diagnostics findings;
  ClusterParts parts;
  const std::optional<std::vector<Source>> sources = read_sources(flags, first, findings, io);
  const std::optional<Cluster> cluster =
      sources ? merge(flags, *sources, parts, findings) : std::nullopt;
  sort(findings);
  if (!cluster || has_errors(findings)) {
    io.err << told(findings, sources.value_or(std::vector<Source>{}));
    hand(findings, io);
    return kUnreadable;
  }
  if (const int failed = options.write(cluster_yaml(*cluster, head(*sources, parts, findings)), io))
    return failed;
  if (!options.quiet()) io.err << told(findings, *sources);
  hand(findings, io);
  return kOk;
}

}  // namespace rankwright::cli
