// What more headroom or fewer GPUs cost: the front of step time, memory and GPUs, point by point.
// Each point is a search of its own with a tighter limit, so it is as certain as the answer.
#pragma once

#include <vector>

#include "rankwright/search/answer.h"

namespace rankwright::search {

struct TradePoint {
  i64 gpus = 0;
  Bytes capacity{};                     // that the plan had to keep to
  std::optional<EvaluatedPlan> plan{};  // nothing where nothing fits
};

/// The answer itself; plans that leave an eighth, a quarter and a half of the memory free, and
/// plans on a half and a quarter of the GPUs. Points that another is no worse than in everything
/// are left out.
std::vector<TradePoint> trade(const Problem& problem, const Answer& answer,
                              const cluster::Calibration& calibration,
                              const SearchOptions& options = {});

/// The same job on other numbers of GPUs, in rising order: whole hosts, or parts of one that divide
/// it. The fastest plan; or the fastest that surely fits, where it ties with that one.
struct CountRow {
  i64 gpus = 0;
  std::optional<EvaluatedPlan> plan{};
  std::optional<Candidate> leanest{};  // where nothing fits
  bool sure = true;                    // the plan fits with margin
};
std::vector<CountRow> over_counts(const Problem& problem, const std::vector<i64>& counts,
                                  const cluster::Calibration& calibration,
                                  const SearchOptions& options);

/// Counts from `least` to `most` that a person would try: 1, 1.5, 2, 3, 4, 6, 8 ... hosts, and both
/// ends.
std::vector<i64> count_ladder(i64 host, i64 min, i64 max);

/// Counts between two, without them: eighths of the way in whole hosts, rising. Nothing inside a
/// host.
std::vector<i64> counts_between(i64 host, i64 less, i64 more);

/// The fewest GPUs on which something fits, up to the cluster: every count of whole hosts, and the
/// parts of one, from below. Counts whose memory cannot hold the states are skipped.
std::optional<CountRow> fewest(const Problem& problem, const cluster::Calibration& calibration,
                               const SearchOptions& options);

}  // namespace rankwright::search
