// The flags of `rankwright plan`: what they are, one row each, and what they ask for. Values of
// flags that stand for a key of the plan file are read by that key's reader. Nothing is searched
// here.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/options.h"
#include "rankwright/import/draft.h"
#include "rankwright/report/training.h"
#include "rankwright/search/problem.h"

namespace rankwright::cli {

/// A command line that cannot be: what is wrong, and what to type.
struct UsageFault {
  std::string what;
  std::string help;
};

/// Hosts that are out.
struct Excluded {
  i64 count = 0;
  std::vector<i64> hosts{};  // ascending; empty where only their number was given
};

/// What was asked for besides model, cluster and job.
struct Wishes {
  Limits limits{};
  std::optional<Bytes> memory{};
  std::optional<Range> gpus{};  // both ends; one number is a range of one
  bool fit = false;
  bool exhaustive = false;
  bool markdown = false;
  int threads = 0;
  TrainingAsk training{};
  std::optional<Excluded> excluded{};
  std::string calibrate{}, ran{};  // a log, and the plan of its run

  bool many_counts() const { return gpus && gpus->least != gpus->most; }
};

class SearchFlags {
 public:
  void add_to(Options& options);

  /// What the flags ask for, or the first fault.
  std::optional<UsageFault> read(Wishes& wishes) const;
  /// Writes what the flags say of job, software and overlap over what the file says.
  std::optional<UsageFault> override(Draft& draft) const;

  const std::string& file() const { return file_; }
  const std::string& model() const { return model_; }
  const std::string& cluster() const { return cluster_; }

 private:
  const std::string& typed(const std::string& flag) const;
  bool set(const std::string& flag) const;
  std::optional<UsageFault> limit(Limits& limits) const;
  std::optional<UsageFault> choose(Limits& limits) const;
  std::optional<UsageFault> amounts(Wishes& wishes) const;

  std::string file_{}, model_{}, cluster_{};
  std::map<std::string, std::string> typed_{};  // by flag, "--tp"
  std::map<std::string, bool> set_{};
};

}  // namespace rankwright::cli
