// The search: all nodes of the space, those that promise most first, until what is left cannot be
// as fast as what was found. The same answer for any number of threads: they work in rounds, and
// what one round found bounds the next.
#pragma once

#include <functional>
#include <memory>

#include "rankwright/search/explore.h"

namespace rankwright::search {

/// CommandResult between rounds.
struct SearchProgress {
  i64 done = 0, candidates = 0;  // candidates that are decided, of all
  std::optional<Seconds> best{};
};

struct SearchOptions {
  Windows windows{};
  bool bounds = true;  // else everything that fits is evaluated
  int threads = 0;     // 0: as many as there are
  /// Stage splits that earlier searches for the same model found; nothing: this one keeps its own.
  std::shared_ptr<StageSplitCache> split_cache{};
  /// Called between rounds; false ends the search.
  std::function<bool(const SearchProgress&)> go_on{};
  /// Called by all threads, many times per second; true ends the search. Once true, stays true.
  std::function<bool()> stop{};
};

struct SearchResult {
  PartialResult space{};
  bool complete = true;  // else nothing is known of what was not decided
  i64 undecided = 0;     // candidates
};

SearchResult search(const Problem& problem, const cluster::Calibration& calibration,
                    const SearchOptions& options = {});

}  // namespace rankwright::search
