#include "rankwright/search/candidate.h"

namespace rankwright::search {

Family find_family(const plan::Plan& p) {
  return {.tp = p.tp,
          .cp = p.cp,
          .pp = p.pp,
          .dp = p.dp,
          .ep = p.ep,
          .etp = p.etp,
          .zero = p.zero,
          .recompute = p.recompute};
}

i64 SearchStats::broken() const {
  i64 sum = 0;
  for (const auto& [why, count] : violations) sum += count;
  for (const auto& [code, count] : rules) sum += count;
  return sum;
}

SearchStats& SearchStats::operator+=(const SearchStats& other) {
  candidates += other.candidates;
  duplicates += other.duplicates;
  pruned += other.pruned;
  memory += other.memory;
  evaluated += other.evaluated;
  for (const auto& [why, count] : other.violations) violations[why] += count;
  for (const auto& [code, count] : other.rules) rules[code] += count;
  return *this;
}

}  // namespace rankwright::search
