// The cost of more headroom or fewer GPUs: points of the Pareto front of step time, memory and
// GPUs, and plans for a range of GPU counts. Each point is a search of its own with a tighter
// limit.
#pragma once

#include <vector>

#include "rankwright/search/answer.h"

namespace rankwright::search {

/// The fastest plan for one number of GPUs and one limit of memory.
struct TradePoint {
  i64 gpus = 0;
  Bytes limit{};                        // memory that the plan may take
  std::optional<EvaluatedPlan> plan{};  // nothing if no plan fits
};

/// Returns the answer itself, plans that leave 1/8, 1/4 and 1/2 of the memory free, and plans on
/// 1/2 and 1/4 of the GPUs. Leaves out other points than the answer that are dominated. Requires:
/// `answer` has a best plan.
std::vector<TradePoint> find_trade_points(const Problem& problem, const Answer& answer,
                                          const cluster::Calibration& calibration,
                                          const SearchOptions& options = {});

/// The plan for one number of GPUs: the best plan of find_possible_answer().
struct CountRow {
  i64 gpus = 0;
  std::optional<EvaluatedPlan> plan{};
  std::optional<Candidate> leanest{};  // the smallest plan, if none fits
};
/// Searches the job on each number of GPUs. Stops at the first search that is ended early.
std::vector<CountRow> search_counts(const Problem& problem, const std::vector<i64>& counts,
                                    const cluster::Calibration& calibration,
                                    const SearchOptions& options);

/// Returns GPU counts from `min` to `max` to try, rising: divisors of a host, then 1, 2, 3, 4, 6,
/// 8, 12 ... hosts, and both ends. `host` is the GPUs per host.
std::vector<i64> count_ladder(i64 host, i64 min, i64 max);

/// Returns GPU counts between `less` and `more`, exclusive: whole hosts at about 1/8 of the
/// distance, rising. Empty if no whole host is between them.
std::vector<i64> counts_between(i64 host, i64 less, i64 more);

/// Returns the plan on the fewest GPUs on which one has a verdict that the problem accepts; nothing
/// if none has on the whole cluster. Tries the divisors of a host, then every number of hosts.
/// Skips counts whose memory cannot hold the model states.
std::optional<CountRow> find_fewest_gpus(const Problem& problem,
                                         const cluster::Calibration& calibration,
                                         const SearchOptions& options);

}  // namespace rankwright::search
