// `rankwright explain plan.yaml --slow 17:1.3x --slow-link infiniband:0.5x --fail 17`: what slow
// ranks, slow links and a dead rank cost, read from the command line and written.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/options.h"
#include "cli/verb.h"
#include "rankwright/plan/plan.h"

namespace rankwright::cli {

struct FaultFlags {
  std::vector<std::string> slow{};       // RANK:FACTOR
  std::vector<std::string> slow_link{};  // LEVEL:FACTOR, or a bandwidth
  std::optional<i64> fail{};
  std::string failures{};
  std::string mtbf{};
  std::string checkpoint_time{};
  std::string checkpoint_interval{};
  std::string restart_time{};

  void add_to(Options& options);

  bool wanted() const { return !slow.empty() || !slow_link.empty() || fail || detailed(); }
  /// A flag that says more about --fail.
  bool detailed() const {
    return !failures.empty() || !mtbf.empty() || !checkpoint_time.empty() ||
           !checkpoint_interval.empty() || !restart_time.empty();
  }
};

/// The setup has no misfits. Returns the exit code.
int show_faults(const Setup& setup, const FaultFlags& flags, bool markdown, const Options& options,
                const Io& io);

}  // namespace rankwright::cli
