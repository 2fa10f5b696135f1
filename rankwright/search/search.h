// Best-first search over all nodes of the space, until the lower bounds of the rest exceed the best
// plan found. Threads work in rounds, and only the results of earlier rounds prune, so the result
// does not depend on the number of threads.
#pragma once

#include <functional>
#include <memory>

#include "rankwright/search/explore.h"

namespace rankwright::search {

/// Passed to the progress callback between rounds.
struct SearchProgress {
  i64 done = 0;                   // candidates that are decided
  i64 candidates = 0;             // all candidates
  std::optional<Seconds> best{};  // step time of the fastest plan so far
};

struct SearchOptions {
  Windows windows{};
  bool bounds = true;  // false: evaluate everything that fits
  int threads = 0;     // 0: all cores
  /// If no plan fits, find the one that takes the least memory, which takes longer.
  bool leanest = true;
  /// Stage splits of earlier searches for the same model. Null: the search makes its own cache.
  std::shared_ptr<StageSplitCache> split_cache{};
  /// The step time of a plan of the problem that fits, as the search estimates it. Saves looking
  /// for one first.
  std::optional<Seconds> known{};
  /// Called between rounds. Returns false to end the search.
  std::function<bool(const SearchProgress&)> go_on{};
  /// Called by all threads many times per second. Returns true to end the search, and then must
  /// stay true.
  std::function<bool()> stop{};
};

/// The result of a whole search.
struct SearchResult {
  PartialResult space{};
  bool complete = true;  // false: the search was ended early
  i64 undecided = 0;     // candidates that were not decided
};

/// Searches the whole space of a problem.
SearchResult search(const Problem& problem, const cluster::Calibration& calibration,
                    const SearchOptions& options = {});

/// Returns the step time of the fastest plan with the degrees of `family`, except those that the
/// limits exclude; nullopt if none fits. It is found at once, and may be SearchOptions::known.
std::optional<Seconds> find_similar_time(Problem problem, const Family& family,
                                         const cluster::Calibration& calibration,
                                         const SearchOptions& options);

}  // namespace rankwright::search
