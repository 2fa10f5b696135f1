#include "rankwright/search/search.h"

#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>

namespace rankwright {
namespace {

// A round is what is explored before its finds bound the rest: small at first, when a find tells
// most.
constexpr std::size_t kFirstRound = 8, kLastRound = 64;
constexpr std::size_t kProbed = 64;  // nodes
constexpr std::size_t kBatch =
    1 << 14;  // nodes that are looked at before those that break a rule go

/// A small part of a space that is likely to hold something good: what it holds bounds the rest
/// before anything else is known. One schedule, even stages, no sharding inside levels.
Problem part(Problem problem, Schedule schedule, const Range& chunks) {
  Limits& limits = problem.limits;
  if (!limits.schedule) {
    limits.schedule = schedule;
    limits.chunks = {std::max(chunks.least, limits.chunks.least),
                     std::min(chunks.most, limits.chunks.most)};
  }
  limits.hybrid = false;
  limits.even = true;
  return problem;
}

/// The fastest that fits in such parts of the nodes that promise most.
std::optional<Candidate> probe(const Ground& ground, std::span<const Prospect> some,
                               Balance& balance) {
  std::optional<Candidate> best;
  for (const Problem& small : {part(ground.problem, Schedule::one_f_one_b, {1, 1}),
                               part(ground.problem, Schedule::interleaved, {2, 4}),
                               part(ground.problem, Schedule::interleaved_zb, {2, 4})}) {
    Ground plain = rankwright::ground(small, ground.calibration, {});
    plain.stop = ground.stop;
    std::vector<std::optional<Candidate>> each(some.size());
    Known known{};
    if (best) known.best = best->time;
    tbb::parallel_for(std::size_t{0}, some.size(), [&](std::size_t k) {
      each[k] = explore(plain, some[k].node, known, balance).best;
    });
    for (const std::optional<Candidate>& one : each)
      if (one && (!best || faster(*one, *best))) best = one;
  }
  return best;
}

Explored round(const Ground& ground, std::span<const Prospect> some, const Known& known,
               Balance& balance) {
  std::vector<Explored> each(some.size());
  tbb::parallel_for(std::size_t{0}, some.size(), [&](std::size_t k) {
    each[k] = explore(ground, some[k].node, known, balance);
  });
  Explored all;
  for (Explored& one : each) all.merge(std::move(one), ground.windows);
  return all;
}

class Rounds {
 public:
  Rounds(const Ground& ground, const SearchOptions& options)
      : ground_(ground),
        options_(options),
        balance_(options.balance ? options.balance : std::make_shared<Balance>()) {}

  Searched all();

 private:
  Explored& space() { return found_.space; }
  void find_prospects();
  void add_prospects(const std::vector<Node>& nodes);
  /// Nothing on it can be of interest.
  bool hopeless(const Prospect& one) const {
    return ground_.bounds && best_ && one.least > (1 + ground_.windows.widest()) * *best_;
  }
  /// The next so many that are not hopeless; those before them are counted.
  std::vector<Prospect> next(std::size_t count);
  bool go_on();
  void stop();

  const Ground& ground_;
  const SearchOptions& options_;
  std::vector<Prospect> left_{};  // what promises most first
  std::size_t at_ = 0;            // of the first that is not decided
  i64 candidates_ = 0;
  std::optional<Candidate> probed_{};
  std::optional<Seconds> best_{};  // the fastest that is known, found or probed
  std::shared_ptr<Balance> balance_;
  Searched found_{};
};

/// Counts the nodes that break a rule and keeps the others.
void Rounds::add_prospects(const std::vector<Node>& nodes) {
  std::vector<Prospect> found(nodes.size());
  tbb::parallel_for(std::size_t{0}, nodes.size(), [&](std::size_t k) {
    if (!ground_.stopped()) found[k] = prospect(ground_, nodes[k]);
  });
  for (const Prospect& one : found) {
    if (one.candidates == 0) continue;  // the search was stopped before
    candidates_ += one.candidates;
    if (one.misfit) {
      space().tally.candidates += one.candidates;
      space().tally.misfits[one.misfit.why] += one.candidates;
    } else {
      left_.push_back(one);
    }
  }
}

void Rounds::find_prospects() {
  std::vector<Node> batch;
  for_each_node(ground_.problem, [&](const Node& node) {
    batch.push_back(node);
    if (batch.size() < kBatch) return true;
    add_prospects(batch);
    batch.clear();
    return !ground_.stopped();
  });
  add_prospects(batch);
}

std::vector<Prospect> Rounds::next(std::size_t count) {
  std::vector<Prospect> some;
  for (; at_ < left_.size() && some.size() < count; ++at_) {
    if (!hopeless(left_[at_])) {
      some.push_back(left_[at_]);
      continue;
    }
    space().tally.candidates += left_[at_].candidates;
    space().tally.bounded += left_[at_].candidates;
  }
  return some;
}

bool Rounds::go_on() {
  if (ground_.stopped()) return false;
  if (!options_.go_on) return true;
  SearchProgress progress{.done = space().tally.candidates, .candidates = candidates_};
  progress.best = best_;
  return options_.go_on(progress);
}

/// What was probed bounds what was found. A search that goes on meets it again; one that ends here
/// has it from the probe.
void Rounds::stop() {
  found_.complete = false;
  if (!probed_ || (space().best && space().best->time <= probed_->time)) return;
  space().merge({.best = probed_, .near = {*probed_}, .families = {*probed_}, .front = {*probed_}},
                ground_.windows);
}

Searched Rounds::all() {
  find_prospects();
  std::stable_sort(left_.begin(), left_.end(),
                   [](const Prospect& a, const Prospect& b) { return a.promise < b.promise; });
  if (ground_.bounds)
    probed_ = probe(ground_, std::span(left_).first(std::min(kProbed, left_.size())), *balance_);
  if (probed_) best_ = probed_->time;
  for (std::size_t size = kFirstRound;; size = std::min(2 * size, kLastRound)) {
    if (!go_on()) {
      stop();
      break;
    }
    const std::vector<Prospect> some = next(size);
    if (some.empty()) break;
    Known known{.best = best_, .leanest = {}};
    if (space().leanest) known.leanest = space().leanest->memory;
    space().merge(round(ground_, some, known, *balance_), ground_.windows);
    if (space().best && (!best_ || space().best->time < *best_)) best_ = space().best->time;
  }
  for (const Prospect& one : next(left_.size())) found_.undecided += one.candidates;
  found_.undecided += space().undecided;
  std::stable_sort(space().near.begin(), space().near.end(), faster);
  std::stable_sort(space().families.begin(), space().families.end(), faster);
  return std::move(found_);
}

}  // namespace

Searched search(const Problem& problem, const Calibration& calibration,
                const SearchOptions& options) {
  Ground on = ground(problem, calibration, options.windows);
  on.bounds = options.bounds;
  on.stop = options.stop;
  Searched found;
  const int cores = tbb::info::default_concurrency();
  tbb::task_arena arena(options.threads > 0 ? std::min(options.threads, cores) : cores);
  arena.execute([&] { found = Rounds(on, options).all(); });
  return found;
}

}  // namespace rankwright
