#include "rankwright/search/partial_result.h"

#include <algorithm>
#include <tuple>

namespace rankwright::search {
namespace {

void drop_slower(std::vector<Candidate>& all, Seconds than) {
  std::erase_if(all, [&](const Candidate& one) { return one.time > than; });
}

}  // namespace

bool is_covered(const std::vector<Candidate>& front, Seconds time, Bytes memory) {
  // Memory falls as time grows: the last of those that are as fast is the smallest.
  const auto slower = std::partition_point(front.begin(), front.end(),
                                           [&](const Candidate& one) { return one.time <= time; });
  return slower != front.begin() && std::prev(slower)->memory <= memory;
}

void add_to_front(std::vector<Candidate>& front, const Candidate& one) {
  if (is_covered(front, one.time, one.memory)) return;
  std::erase_if(front, [&](const Candidate& other) {
    return other.time >= one.time && other.memory >= one.memory;
  });
  front.insert(std::partition_point(front.begin(), front.end(),
                                    [&](const Candidate& o) { return o.time <= one.time; }),
               one);
}

void keep_families(std::vector<Candidate>& all) {
  std::stable_sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    const auto key = [](const Candidate& c) {
      return std::tuple(find_family(c.plan), c.sure, c.time.value);
    };
    return key(a) < key(b);
  });
  const auto same = [](const Candidate& a, const Candidate& b) {
    return find_family(a.plan) == find_family(b.plan) && a.sure == b.sure;
  };
  all.erase(std::unique(all.begin(), all.end(), same), all.end());
}

void PartialResult::merge(PartialResult&& other, const Windows& windows) {
  stats += other.stats;
  undecided += other.undecided;
  if (other.best && (!best || faster(*other.best, *best))) best = std::move(other.best);
  const auto add = [](std::vector<Candidate>& to, std::vector<Candidate>& from) {
    to.insert(to.end(), std::move_iterator(from.begin()), std::move_iterator(from.end()));
  };
  add(near, other.near);
  add(families, other.families);
  for (const Candidate& one : other.front) add_to_front(front, one);
  if (best) {
    drop_slower(near, (1 + windows.near) * best->time);
    drop_slower(families, (1 + windows.family) * best->time);
    drop_slower(front, (1 + windows.family) * best->time);
  }
  keep_families(families);
  if (other.leanest && (!leanest || other.leanest->memory < leanest->memory))
    leanest = std::move(other.leanest);
}

}  // namespace rankwright::search
