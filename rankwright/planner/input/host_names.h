// Reads the host names for an export: a list such as n[0-7], or a file with names on its lines.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankwright/base/result.h"
#include "rankwright/plan/plan.h"
#include "rankwright/planner/input/outcome.h"

namespace rankwright::planner {

/// Host names, by host number in the cluster: a list, or a file instead of it.
struct HostNames {
  std::string list{};
  std::optional<SourceFile> file{};

  bool given() const { return file || !list.empty(); }
};

/// Reads the names. Fails on invalid host names and on duplicates.
Result<std::vector<std::string>> read_hosts(const HostNames& names);

/// Reads the text of a file: a name or a list on each line; '#' begins a comment.
Result<std::vector<std::string>> read_host_lines(std::string_view text, std::string_view file);

/// Reads the names. Fails if a host that the plan uses has none.
Result<std::vector<std::string>> read_hosts_for(const plan::TrainingConfig& config,
                                                const HostNames& names);

}  // namespace rankwright::planner
