#include "rankwright/search/candidate.h"

namespace rankwright {

Family family(const Plan& p) {
  return {.tp = p.tp,
          .cp = p.cp,
          .pp = p.pp,
          .dp = p.dp,
          .ep = p.ep,
          .etp = p.etp,
          .zero = p.zero,
          .recompute = p.recompute};
}

i64 Tally::broken() const {
  i64 sum = 0;
  for (const auto& [why, count] : misfits) sum += count;
  for (const auto& [code, count] : rules) sum += count;
  return sum;
}

Tally& Tally::operator+=(const Tally& other) {
  candidates += other.candidates;
  alike += other.alike;
  bounded += other.bounded;
  memory += other.memory;
  priced += other.priced;
  for (const auto& [why, count] : other.misfits) misfits[why] += count;
  for (const auto& [code, count] : other.rules) rules[code] += count;
  return *this;
}

}  // namespace rankwright
