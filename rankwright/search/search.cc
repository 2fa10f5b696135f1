#include "rankwright/search/search.h"

#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>

namespace rankwright::search {
namespace {

// A round is what is explored before its finds bound the rest: small at first, when a find tells
// most.
constexpr std::size_t kFirstRound = 8, kLastRound = 64;
constexpr std::size_t kProbed = 64;  // nodes
constexpr std::size_t kBatch =
    1 << 14;  // nodes that are looked at before those that break a rule go

/// A small part of a space that is likely to hold something good: what it holds bounds the rest
/// before anything else is known. One schedule, even stages, no sharding inside levels.
Problem part(Problem problem, pipeline::Schedule schedule, const Range& chunks) {
  Limits& limits = problem.limits;
  if (!limits.schedule) {
    limits.schedule = schedule;
    limits.chunks = {std::max(chunks.min, limits.chunks.min),
                     std::min(chunks.max, limits.chunks.max)};
  }
  limits.hybrid = false;
  limits.even = true;
  return problem;
}

/// The fastest that fits in such parts of the nodes that promise most.
std::optional<Candidate> probe(const SearchContext& context, std::span<const NodeBound> some,
                               StageSplitCache& split_cache) {
  std::optional<Candidate> best;
  for (const Problem& small : {part(context.problem, pipeline::Schedule::one_f_one_b, {1, 1}),
                               part(context.problem, pipeline::Schedule::interleaved, {2, 4}),
                               part(context.problem, pipeline::Schedule::interleaved_zb, {2, 4})}) {
    SearchContext plain = make_context(small, context.calibration, {});
    plain.stop = context.stop;
    std::vector<std::optional<Candidate>> each(some.size());
    Incumbent incumbent{};
    if (best) incumbent.best = best->time;
    tbb::parallel_for(std::size_t{0}, some.size(), [&](std::size_t k) {
      each[k] = explore(plain, some[k].node, incumbent, split_cache).best;
    });
    for (const std::optional<Candidate>& one : each)
      if (one && (!best || faster(*one, *best))) best = one;
  }
  return best;
}

PartialResult round(const SearchContext& context, std::span<const NodeBound> some,
                    const Incumbent& incumbent, StageSplitCache& split_cache) {
  std::vector<PartialResult> each(some.size());
  tbb::parallel_for(std::size_t{0}, some.size(), [&](std::size_t k) {
    each[k] = explore(context, some[k].node, incumbent, split_cache);
  });
  PartialResult all;
  for (PartialResult& one : each) all.merge(std::move(one), context.windows);
  return all;
}

class BestFirstSearch {
 public:
  BestFirstSearch(const SearchContext& context, const SearchOptions& options)
      : context_(context),
        options_(options),
        split_cache_(options.split_cache ? options.split_cache
                                         : std::make_shared<StageSplitCache>()) {}

  SearchResult all();

 private:
  PartialResult& space() { return found_.space; }
  void find_prospects();
  void add_prospects(const std::vector<Node>& nodes);
  /// Nothing on it can be of interest.
  bool can_prune(const NodeBound& one) const {
    return context_.bounds && best_ && one.min > (1 + context_.windows.widest()) * *best_;
  }
  /// The next so many that are not can_prune; those before them are counted.
  std::vector<NodeBound> next(std::size_t count);
  bool go_on();
  void stop();

  const SearchContext& context_;
  const SearchOptions& options_;
  std::vector<NodeBound> left_{};  // what promises most first
  std::size_t at_ = 0;             // of the first that is not decided
  i64 candidates_ = 0;
  std::optional<Candidate> probed_{};
  std::optional<Seconds> best_{};  // the fastest that is known, found or probed
  std::shared_ptr<StageSplitCache> split_cache_;
  SearchResult found_{};
};

/// Counts the nodes that break a rule and keeps the others.
void BestFirstSearch::add_prospects(const std::vector<Node>& nodes) {
  std::vector<NodeBound> found(nodes.size());
  tbb::parallel_for(std::size_t{0}, nodes.size(), [&](std::size_t k) {
    if (!context_.stopped()) found[k] = bound_node(context_, nodes[k]);
  });
  for (const NodeBound& one : found) {
    if (one.candidates == 0) continue;  // the search was stopped before
    candidates_ += one.candidates;
    if (one.violation) {
      space().stats.candidates += one.candidates;
      space().stats.violations[one.violation.why] += one.candidates;
    } else {
      left_.push_back(one);
    }
  }
}

void BestFirstSearch::find_prospects() {
  std::vector<Node> batch;
  for_each_node(context_.problem, [&](const Node& node) {
    batch.push_back(node);
    if (batch.size() < kBatch) return true;
    add_prospects(batch);
    batch.clear();
    return !context_.stopped();
  });
  add_prospects(batch);
}

std::vector<NodeBound> BestFirstSearch::next(std::size_t count) {
  std::vector<NodeBound> some;
  for (; at_ < left_.size() && some.size() < count; ++at_) {
    if (!can_prune(left_[at_])) {
      some.push_back(left_[at_]);
      continue;
    }
    space().stats.candidates += left_[at_].candidates;
    space().stats.pruned += left_[at_].candidates;
  }
  return some;
}

bool BestFirstSearch::go_on() {
  if (context_.stopped()) return false;
  if (!options_.go_on) return true;
  SearchProgress progress{.done = space().stats.candidates, .candidates = candidates_};
  progress.best = best_;
  return options_.go_on(progress);
}

/// What was probed bounds what was found. A search that goes on meets it again; one that ends here
/// has it from the probe.
void BestFirstSearch::stop() {
  found_.complete = false;
  if (!probed_ || (space().best && space().best->time <= probed_->time)) return;
  space().merge({.best = probed_, .near = {*probed_}, .families = {*probed_}, .front = {*probed_}},
                context_.windows);
}

SearchResult BestFirstSearch::all() {
  find_prospects();
  std::stable_sort(left_.begin(), left_.end(),
                   [](const NodeBound& a, const NodeBound& b) { return a.priority < b.priority; });
  if (context_.bounds)
    probed_ =
        probe(context_, std::span(left_).first(std::min(kProbed, left_.size())), *split_cache_);
  if (probed_) best_ = probed_->time;
  for (std::size_t size = kFirstRound;; size = std::min(2 * size, kLastRound)) {
    if (!go_on()) {
      stop();
      break;
    }
    const std::vector<NodeBound> some = next(size);
    if (some.empty()) break;
    Incumbent incumbent{.best = best_, .leanest = {}};
    if (space().leanest) incumbent.leanest = space().leanest->memory;
    space().merge(round(context_, some, incumbent, *split_cache_), context_.windows);
    if (space().best && (!best_ || space().best->time < *best_)) best_ = space().best->time;
  }
  for (const NodeBound& one : next(left_.size())) found_.undecided += one.candidates;
  found_.undecided += space().undecided;
  std::stable_sort(space().near.begin(), space().near.end(), faster);
  std::stable_sort(space().families.begin(), space().families.end(), faster);
  return std::move(found_);
}

}  // namespace

SearchResult search(const Problem& problem, const cluster::Calibration& calibration,
                    const SearchOptions& options) {
  SearchContext on = make_context(problem, calibration, options.windows);
  on.bounds = options.bounds;
  on.stop = options.stop;
  SearchResult found;
  const int cores = tbb::info::default_concurrency();
  tbb::task_arena arena(options.threads > 0 ? std::min(options.threads, cores) : cores);
  arena.execute([&] { found = BestFirstSearch(on, options).all(); });
  return found;
}

}  // namespace rankwright::search
