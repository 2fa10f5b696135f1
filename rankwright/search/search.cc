#include "rankwright/search/search.h"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>

namespace rankwright {
namespace {

// A round is what is explored before its finds bound the rest: small at first, when a find tells
// most.
constexpr std::size_t kFirstRound = 8, kLastRound = 64;

std::vector<Prospect> prospects(const Ground& ground) {
  const std::vector<Node> all = nodes(ground.problem);
  std::vector<Prospect> found(all.size());
  tbb::parallel_for(std::size_t{0}, all.size(),
                    [&](std::size_t k) { found[k] = prospect(ground, all[k]); });
  return found;
}

Explored round(const Ground& ground, std::span<const Prospect> some, std::optional<Seconds> best,
               Balance& balance) {
  std::vector<Explored> each(some.size());
  tbb::parallel_for(std::size_t{0}, some.size(),
                    [&](std::size_t k) { each[k] = explore(ground, some[k].node, best, balance); });
  Explored all;
  for (Explored& one : each) all.merge(std::move(one), ground.windows);
  return all;
}

Searched run(const Ground& ground, const SearchOptions& options) {
  Searched found;
  Explored& space = found.space;
  std::vector<Prospect> all = prospects(ground);
  Progress progress;
  Balance balance;
  for (const Prospect& one : all) progress.candidates += one.candidates;
  std::erase_if(all, [&](const Prospect& one) {
    if (!one.misfit) return false;
    space.tally.candidates += one.candidates;
    space.tally.misfits[one.misfit.why] += one.candidates;
    return true;
  });
  std::stable_sort(all.begin(), all.end(),
                   [](const Prospect& a, const Prospect& b) { return a.least < b.least; });
  std::size_t next = 0, size = kFirstRound;
  const auto hopeless = [&](const Prospect& one) {
    return ground.bounds && space.best &&
           one.least > (1 + ground.windows.widest()) * space.best->time;
  };
  while (next < all.size() && !hopeless(all[next])) {
    progress.done = space.tally.candidates;
    if (space.best) progress.best = space.best->time;
    if (options.go_on && !options.go_on(progress)) {
      found.complete = false;
      break;
    }
    const std::size_t count = std::min(size, all.size() - next);
    const std::optional<Seconds> best = space.best ? std::optional(space.best->time) : std::nullopt;
    space.merge(round(ground, std::span(all).subspan(next, count), best, balance), ground.windows);
    next += count;
    size = std::min(2 * size, kLastRound);
  }
  for (; next < all.size(); ++next) {
    if (!found.complete && !hopeless(all[next])) {
      found.undecided += all[next].candidates;
      continue;
    }
    space.tally.candidates += all[next].candidates;
    space.tally.bounded += all[next].candidates;
  }
  std::stable_sort(space.near.begin(), space.near.end(), faster);
  std::stable_sort(space.families.begin(), space.families.end(), faster);
  return found;
}

}  // namespace

Searched search(const Problem& problem, const Calibration& calibration,
                const SearchOptions& options) {
  Ground on = ground(problem, calibration, options.windows);
  on.bounds = options.bounds;
  Searched found;
  tbb::task_arena arena(options.threads > 0 ? options.threads : tbb::task_arena::automatic);
  arena.execute([&] { found = run(on, options); });
  return found;
}

}  // namespace rankwright
