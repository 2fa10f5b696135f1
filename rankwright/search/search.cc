#include "rankwright/search/search.h"

#include <tbb/parallel_for.h>

#include <algorithm>

#include "rankwright/search/threads.h"

namespace rankwright::search {
namespace {

// Nodes per round. Rounds are small at first, because the first results prune the most.
constexpr std::size_t kFirstRound = 8, kLastRound = 64;
constexpr std::size_t kProbed = 64;      // nodes that are probed
constexpr std::size_t kBatch = 1 << 14;  // nodes whose bounds are computed at a time

/// Narrows a problem to a small part of its space that is likely to have a fast plan: one schedule,
/// no hybrid sharding, and even stages if the number of layers allows some.
Problem narrow_to(Problem problem, pipeline::Schedule schedule, const Range& chunks) {
  Limits& limits = problem.limits;
  if (!limits.schedule) {
    limits.schedule = schedule;
    limits.chunks = {std::max(chunks.min, limits.chunks.min),
                     std::min(chunks.max, limits.chunks.max)};
  }
  limits.hybrid = false;
  constexpr i64 kUsualStages = 4;
  limits.even = limits.even || problem.config.model.layers() % kUsualStages == 0;
  return problem;
}

/// Returns the fastest plan that fits in such parts of the first nodes: the initial incumbent.
std::optional<Candidate> probe(const SearchContext& context, std::span<const NodeBound> all,
                               StageSplitCache& split_cache) {
  std::vector<NodeBound> some;  // the first that may fit
  for (const NodeBound& one : all) {
    if (some.size() == kProbed) break;
    if (one.min < kInfiniteTime) some.push_back(one);
  }
  std::optional<Candidate> best;
  for (const Problem& small :
       {narrow_to(context.problem, pipeline::Schedule::one_f_one_b, {1, 1}),
        narrow_to(context.problem, pipeline::Schedule::interleaved, {2, 4}),
        narrow_to(context.problem, pipeline::Schedule::interleaved_zb, {2, 4}),
        narrow_to(context.problem, pipeline::Schedule::zb_v, {2, 2})}) {
    SearchContext plain = make_context(small, context.calibration, {});
    plain.stop = context.stop;
    // The first nodes give the others an incumbent.
    for (std::size_t first = 0; first < some.size();) {
      const std::size_t last = best ? some.size() : std::min(first + kFirstRound, some.size());
      std::vector<std::optional<Candidate>> each(last - first);
      Incumbent incumbent{.best = {}, .leanest = Bytes{}};  // only plans that fit matter
      if (best) incumbent.best = best->time;
      tbb::parallel_for(first, last, [&](std::size_t k) {
        each[k - first] =
            explore(plain, some[k].node, incumbent, split_cache, some[k].fitting).best;
      });
      for (const std::optional<Candidate>& one : each)
        if (one && (!best || faster(*one, *best))) best = one;
      first = last;
    }
  }
  return best;
}

/// Searches the given nodes in parallel, all against one incumbent.
PartialResult run_round(const SearchContext& context, std::span<const NodeBound> some,
                        const Incumbent& incumbent, StageSplitCache& split_cache) {
  std::vector<PartialResult> each(some.size());
  tbb::parallel_for(std::size_t{0}, some.size(), [&](std::size_t k) {
    each[k] = explore(context, some[k].node, incumbent, split_cache, some[k].fitting);
  });
  PartialResult all;
  for (PartialResult& one : each) all.merge(std::move(one), context.windows);
  return all;
}

/// Searches all nodes, those with the lowest priority value first.
class BestFirstSearch {
 public:
  BestFirstSearch(const SearchContext& context, const SearchOptions& options)
      : context_(context),
        options_(options),
        split_cache_(options.split_cache ? options.split_cache
                                         : std::make_shared<StageSplitCache>()) {}

  SearchResult run();

 private:
  PartialResult& space() { return found_.space; }
  void find_node_bounds();
  void add_node_bounds(const std::vector<Node>& nodes);
  bool can_prune(const NodeBound& one) const {
    return context_.bounds && best_ && one.min > (1 + context_.windows.widest()) * *best_;
  }
  /// Returns whether no candidate of the node fits, and none is asked for as the leanest.
  bool is_too_large(const NodeBound& one) const {
    return context_.bounds && one.min == kInfiniteTime && (best_ || !options_.leanest);
  }
  /// Returns the next `count` nodes that must be searched. Counts the others before them.
  std::vector<NodeBound> take_next(std::size_t count);
  bool report_progress();
  void end_early();

  const SearchContext& context_;
  const SearchOptions& options_;
  std::vector<NodeBound> left_{};  // lowest priority value first
  std::size_t at_ = 0;             // index of the first undecided node
  i64 candidates_ = 0;
  std::optional<Candidate> probed_{};
  std::optional<Seconds> best_{};  // step time of the incumbent, probed or found
  std::shared_ptr<StageSplitCache> split_cache_;
  SearchResult found_{};
};

/// Computes the bounds of some nodes. Counts those that violate a constraint and keeps the others.
void BestFirstSearch::add_node_bounds(const std::vector<Node>& nodes) {
  std::vector<NodeBound> found(nodes.size());
  tbb::parallel_for(std::size_t{0}, nodes.size(), [&](std::size_t k) {
    if (!context_.stopped()) found[k] = bound_node(context_, nodes[k]);
  });
  for (NodeBound& one : found) {
    if (one.candidates == 0) continue;  // the search was stopped
    candidates_ += one.candidates;
    if (one.violation) {
      space().stats.candidates += one.candidates;
      space().stats.violations[one.violation.why] += one.candidates;
    } else {
      left_.push_back(one);
    }
  }
}

/// Computes the bounds of all nodes, in batches.
void BestFirstSearch::find_node_bounds() {
  std::vector<Node> batch;
  for_each_node(context_.problem, [&](const Node& node) {
    batch.push_back(node);
    if (batch.size() < kBatch) return true;
    add_node_bounds(batch);
    batch.clear();
    return !context_.stopped();
  });
  add_node_bounds(batch);
}

std::vector<NodeBound> BestFirstSearch::take_next(std::size_t count) {
  std::vector<NodeBound> some;
  for (; at_ < left_.size() && some.size() < count; ++at_) {
    const NodeBound& one = left_[at_];
    const bool large = is_too_large(one);
    if (!large && !can_prune(one)) {
      some.push_back(one);
      continue;
    }
    SearchStats& stats = space().stats;
    stats.candidates += one.candidates;
    (large ? stats.memory : stats.pruned) += one.candidates;
  }
  return some;
}

/// Calls the progress callback. Returns whether to continue.
bool BestFirstSearch::report_progress() {
  if (context_.stopped()) return false;
  if (!options_.go_on) return true;
  SearchProgress progress{.done = space().stats.candidates, .candidates = candidates_};
  progress.best = best_;
  return options_.go_on(progress);
}

/// Marks the result incomplete and adds the probe's plan if nothing faster was found. A complete
/// search does not need it: it finds that plan again.
void BestFirstSearch::end_early() {
  found_.complete = false;
  if (!probed_ || (space().best && space().best->time <= probed_->time)) return;
  space().merge({.best = probed_, .near = {*probed_}, .families = {*probed_}, .front = {*probed_}},
                context_.windows);
}

SearchResult BestFirstSearch::run() {
  find_node_bounds();
  std::stable_sort(left_.begin(), left_.end(),
                   [](const NodeBound& a, const NodeBound& b) { return a.priority < b.priority; });
  if (context_.bounds && !options_.known) probed_ = probe(context_, left_, *split_cache_);
  if (probed_) best_ = probed_->time;
  if (context_.bounds && options_.known) best_ = options_.known;
  for (std::size_t size = kFirstRound;; size = std::min(2 * size, kLastRound)) {
    if (!report_progress()) {
      end_early();
      break;
    }
    const std::vector<NodeBound> some = take_next(size);
    if (some.empty()) break;
    Incumbent incumbent{.best = best_, .leanest = {}};
    if (!options_.leanest)
      incumbent.leanest = Bytes{};
    else if (space().leanest)
      incumbent.leanest = space().leanest->memory;
    space().merge(run_round(context_, some, incumbent, *split_cache_), context_.windows);
    if (space().best && (!best_ || space().best->time < *best_)) best_ = space().best->time;
  }
  for (const NodeBound& one : take_next(left_.size())) found_.undecided += one.candidates;
  found_.undecided += space().undecided;
  std::stable_sort(space().near.begin(), space().near.end(), faster);
  std::stable_sort(space().families.begin(), space().families.end(), faster);
  return std::move(found_);
}

}  // namespace

SearchResult search(const Problem& problem, const cluster::Calibration& calibration,
                    const SearchOptions& options) {
  SearchContext context = make_context(problem, calibration, options.windows);
  context.bounds = options.bounds;
  context.stop = options.stop;
  SearchResult found;
  run_on_threads(options.threads, [&] { found = BestFirstSearch(context, options).run(); });
  return found;
}

std::optional<Seconds> find_similar_time(Problem problem, const Family& family,
                                         const cluster::Calibration& calibration,
                                         const SearchOptions& options) {
  Limits& limits = problem.limits;
  const auto keep = [](Range& range, i64 degree) {
    if (range.has(degree)) range = {degree, degree};
  };
  keep(limits.tp, family.tp);
  keep(limits.cp, family.cp);
  keep(limits.pp, family.pp);
  keep(limits.ep, family.ep);
  keep(limits.etp, family.etp);
  const SearchResult found = search(problem, calibration,
                                    {.threads = options.threads,
                                     .leanest = false,
                                     .split_cache = options.split_cache,
                                     .stop = options.stop});
  if (!found.space.best) return std::nullopt;
  return found.space.best->time;
}

}  // namespace rankwright::search
