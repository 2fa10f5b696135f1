#include "rankwright/search/answer.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "rankwright/cost/bands/layout_distance.h"
#include "rankwright/pipeline/order.h"
#include "rankwright/rules/change.h"
#include "rankwright/search/preference.h"

namespace rankwright::search {
namespace {

constexpr std::size_t kRivals = 4;
/// A plan that may run out of memory is worth its risk if one that fits with margin takes this much
/// more.
constexpr double kRiskWorth = 0.1;
constexpr double kEqual = 0.005;  // plans of one family closer than this count as equally fast

/// In closed form, the plan with the fastest simulation is at most this much slower than the
/// fastest plan, if closed forms are within kClosedFormError of their simulations.
constexpr double kNear = (1 + kClosedFormError) / (1 - kClosedFormError) - 1;

/// Simulates candidates. Each pipeline is simulated once: many candidates differ only outside it.
class Simulations {
 public:
  Simulations(const Problem& problem, const cluster::Calibration& calibration,
              std::function<bool()> stop)
      : problem_(problem), calibration_(calibration), stop_(std::move(stop)) {}

  /// Returns the step time of a candidate with its pipeline simulated; nothing if that is longer
  /// than `than`. Simulates only if a lower bound does not show it. Falls back to the closed form
  /// for pipelines that are too large, and once the search is stopped.
  std::optional<Seconds> time(const Candidate& candidate, Seconds than);

  i64 judged() const { return judged_; }
  i64 simulated() const { return ends_.size(); }
  double error() const { return error_; }

 private:
  const Problem& problem_;
  const cluster::Calibration& calibration_;
  std::function<bool()> stop_;
  cost::PipelineEnds ends_{};
  i64 judged_ = 0;
  double error_ = 0;
};

std::optional<Seconds> Simulations::time(const Candidate& candidate, Seconds than) {
  ++judged_;
  const plan::TrainingConfig config = config_of(problem_, candidate.plan);
  const pipeline::PipelineShape shape = make_pipeline_shape(config);
  const std::optional<i64> cells = pipeline::cell_count(shape);
  if (shape.pp == 1 || !cells || *cells > cost::kMaxSimulatedCells || (stop_ && stop_()))
    return candidate.time > than ? std::nullopt : std::optional(candidate.time);
  const cost::LayerCosts prices =
      estimate_layer_costs(config, cost::Links(config, calibration_), calibration_);
  const cost::StageCosts staged = estimate_stage_costs(config, calibration_, prices);
  const Seconds closed = estimate_pipeline_end(config, staged);
  const auto with = [&](Seconds end) {
    return candidate.time + cost::find_overheads(config, calibration_).lengthen(end - closed);
  };
  if (with(min_end(config, staged)) > than) return std::nullopt;
  const Seconds time = with(ends_.find(config, staged));
  error_ = std::max(error_, std::abs(candidate.time / time - 1));
  return time > than ? std::nullopt : std::optional(time);
}

/// Returns a key that orders the plans of one family, the one with the fewest special settings
/// first.
auto rank_by_settings(const plan::TrainingConfig& config) {
  const plan::Plan& p = config.plan;
  return std::tuple(!rules::same_order(config, mesh::kDefaultOrder), !p.stages.empty(),
                    p.shard_size != 0, p.schedule != pipeline::Schedule::one_f_one_b,
                    p.schedule != pipeline::Schedule::interleaved, p.virtual_stages, p.cp_comm);
}

/// Restricts limits to one family.
Limits limit_to(Limits limits, const Family& f) {
  const auto just = [](i64 value) { return Range{value, value}; };
  limits.tp = just(f.tp);
  limits.cp = just(f.cp);
  limits.pp = just(f.pp);
  limits.dp = just(f.dp);
  limits.ep = just(f.ep);
  limits.etp = just(f.etp);
  limits.zero = just(f.zero);
  limits.recompute = f.recompute;
  return limits;
}

/// Restricts limits to plans near a published run. The ranges of the degrees only save time.
Limits limit_to_published(Limits limits) {
  const i64 most = i64(std::exp2(cost::kNearLayout));
  i64 tp = 1, cp = 1, pp = 1, ep = 1;
  for (const catalog::ValidatedLayout& one : catalog::list_validated_layouts()) {
    tp = std::max(tp, most * one.tp);
    cp = std::max(cp, most * one.cp);
    pp = std::max(pp, most * one.pp);
    ep = std::max(ep, most * one.ep);
  }
  limits.tp.max = std::min(limits.tp.max, tp);
  limits.cp.max = std::min(limits.cp.max, cp);
  limits.pp.max = std::min(limits.pp.max, pp);
  limits.ep.max = std::min(limits.ep.max, ep);
  limits.published = true;
  return limits;
}

/// Searches a problem and ranks what it finds.
class Ranking {
 public:
  Ranking(const Problem& problem, const cluster::Calibration& calibration,
          const SearchOptions& options)
      : problem_(problem),
        calibration_(calibration),
        options_(options),
        simulations_(problem, calibration, options.stop) {
    answer_.band = cost::find_tie_band(problem.config);
    answer_.far_band = cost::find_far_band(problem.config);
    if (!options_.split_cache) options_.split_cache = std::make_shared<StageSplitCache>();
    answer_.window = (1 + answer_.band) * (1 + kNear) - 1;
    options_.windows = {.near = kNear, .family = answer_.window};
  }

  Answer run();

 private:
  struct SimulatedPlan {
    Candidate candidate;
    Seconds time{};
  };
  SimulatedPlan find_fastest(const std::vector<Candidate>& some);
  const Candidate& find_plainest(const std::vector<Candidate>& some, const SimulatedPlan& fastest,
                                 Seconds tie);
  const Candidate* find_preferred(const std::vector<Candidate>& families,
                                  const SimulatedPlan& first, Seconds tie);
  EvaluatedPlan choose_in_family(const Candidate& one, Seconds tie);
  std::optional<EvaluatedPlan> find_published(Seconds fastest) const;
  void choose(const PartialResult& space);
  void compare(const PartialResult& space);
  const std::optional<EvaluatedPlan>& find_fastest_safe(const std::vector<Candidate>& front);
  std::optional<EvaluatedPlan> find_fastest_usual() const;
  EvaluatedPlan evaluate(const Candidate& one) const {
    return evaluate_plan(problem_, one.plan, calibration_);
  }

  const Problem& problem_;
  const cluster::Calibration& calibration_;
  SearchOptions options_;
  Simulations simulations_;
  std::optional<std::optional<EvaluatedPlan>> safe_{};  // of find_fastest_safe(), once it ran
  Answer answer_{};
};

Ranking::SimulatedPlan Ranking::find_fastest(const std::vector<Candidate>& some) {
  SimulatedPlan best{some.front(), simulations_.time(some.front(), kInfiniteTime).value()};
  for (const Candidate& one : some)
    if (const std::optional<Seconds> time = simulations_.time(one, best.time);
        time && *time < best.time)
      best = {one, *time};
  return best;
}

/// Returns the plan of the fastest one's family with the fewest special settings that is as certain
/// to fit, and within kEqual of the fastest time, and no slower than `tie`.
const Candidate& Ranking::find_plainest(const std::vector<Candidate>& some,
                                        const SimulatedPlan& fastest, Seconds tie) {
  const Family same = find_family(fastest.candidate.plan);
  std::vector<const Candidate*> plainer;
  for (const Candidate& one : some)
    if (find_family(one.plan) == same && one.sure >= fastest.candidate.sure)
      plainer.push_back(&one);
  std::stable_sort(plainer.begin(), plainer.end(), [&](const Candidate* a, const Candidate* b) {
    return rank_by_settings(config_of(problem_, a->plan)) <
           rank_by_settings(config_of(problem_, b->plan));
  });
  for (const Candidate* one : plainer)
    if (simulations_.time(*one, std::min(tie, (1 + kEqual) * fastest.time))) return *one;
  return fastest.candidate;
}

/// Returns the family to choose instead of the fastest plan's, by preference among those that tie;
/// null if it is preferred itself.
const Candidate* Ranking::find_preferred(const std::vector<Candidate>& families,
                                         const SimulatedPlan& first, Seconds tie) {
  const auto rank = [&](const Candidate& one) {
    return rank_preference(config_of(problem_, one.plan), one.sure);
  };
  const Preference of_first = rank(first.candidate);
  std::vector<std::pair<Preference, const Candidate*>> preferred;
  for (const Candidate& one : families)
    if (const Preference of_one = rank(one); of_one < of_first)
      preferred.emplace_back(of_one, &one);
  std::ranges::stable_sort(preferred, {}, &std::pair<Preference, const Candidate*>::first);
  for (const auto& [preference, one] : preferred)
    if (simulations_.time(*one, tie)) return one;
  return nullptr;
}

/// Returns the plan to run of one family: the one with the fewest special settings among those that
/// are equally fast.
EvaluatedPlan Ranking::choose_in_family(const Candidate& one, Seconds tie) {
  Problem inside = problem_;
  inside.limits = limit_to(problem_.limits, find_family(one.plan));
  SearchOptions options = options_;
  options.windows = {.near = kNear, .family = 0};
  options.go_on = {};
  if (one.sure) inside.accepts = cost::MemoryVerdict::fits_with_margin;
  std::vector<Candidate> found = search(inside, calibration_, options).space.near;
  if (found.empty()) found.push_back(one);  // the search was stopped
  for (Candidate& each : found) each.sure = one.sure;
  return evaluate(find_plainest(found, find_fastest(found), tie));
}

/// Returns the preferred plan of those near a published run; nothing if none fits with margin, or
/// if it is slower than the fastest by more than the error of an estimate that is not near one.
std::optional<EvaluatedPlan> Ranking::find_published(Seconds fastest) const {
  Problem near = problem_;
  near.accepts = std::min(near.accepts, cost::MemoryVerdict::fits_with_margin);
  near.limits = limit_to_published(problem_.limits);
  SearchOptions options = options_;
  options.go_on = {};
  options.leanest = false;
  Ranking inside(near, calibration_, options);
  const SearchResult found = search(near, calibration_, inside.options_);
  if (!found.space.best) return std::nullopt;
  inside.choose(found.space);
  if (inside.answer_.best->time() > (1 + answer_.far_band) * fastest) return std::nullopt;
  return inside.answer_.best;
}

/// Chooses the best plan: that of the preferred family among those that tie with the fastest plan.
/// If no published run is near it, a plan near one, if that is within the error of the fastest. If
/// it does not fit with margin, one that does, if that is not much slower.
void Ranking::choose(const PartialResult& space) {
  const SimulatedPlan first = find_fastest(space.near);
  const Seconds tie = (1 + answer_.band) * first.time;
  answer_.min = first.time;
  const Candidate* const other = find_preferred(space.families, first, tie);
  const Candidate& chosen = other != nullptr ? *other : first.candidate;
  std::optional<EvaluatedPlan> published;
  const bool stopped = options_.stop && options_.stop();
  const bool among_published = problem_.limits.published;
  if (!stopped && !among_published && !cost::near_validated(config_of(problem_, chosen.plan)))
    published = find_published(first.time);
  std::optional<EvaluatedPlan> safe;
  if (!stopped && !published && !chosen.sure) safe = find_fastest_safe(space.front);
  if (safe && safe->time() > (1 + kRiskWorth) * first.time) safe.reset();
  answer_.best = published          ? *published
                 : safe             ? *safe
                 : other != nullptr ? choose_in_family(*other, tie)
                                    : evaluate(find_plainest(space.near, first, tie));
  if (published || safe || other != nullptr) answer_.fastest = evaluate(first.candidate);
}

/// Compares the best plan with others: fills in the rivals, the margin, the front, and the fastest
/// plans that fit with margin or have the default order.
void Ranking::compare(const PartialResult& space) {
  const Family chosen = find_family(answer_.best->config.plan);
  const Family of_first = answer_.fastest ? find_family(answer_.fastest->config.plan) : chosen;
  const Seconds tie = (1 + answer_.band) * answer_.min;
  std::set<Family> seen;
  for (const Candidate& one : space.families) {
    const Family of = find_family(one.plan);
    if (!seen.insert(of).second) continue;  // listed twice: with and without margin
    if (one.time <= tie) ++answer_.tied;
    if (of == of_first || (answer_.margin && answer_.rivals.size() >= kRivals)) continue;
    if (options_.stop && options_.stop()) break;
    EvaluatedPlan other = evaluate(one);
    const double more = other.time() / answer_.min - 1;
    answer_.margin = std::min(answer_.margin.value_or(more), more);
    if (of != chosen && other.time() <= tie && answer_.rivals.size() < kRivals)
      answer_.rivals.push_back(std::move(other));
  }
  answer_.families = space.families;
  answer_.front = space.front;
  if (answer_.best->estimate.memory.total() > problem_.safe())
    answer_.safe = find_fastest_safe(space.front);
  if (answer_.reordered()) answer_.usual = find_fastest_usual();
}

/// Returns the fastest plan that fits with margin.
const std::optional<EvaluatedPlan>& Ranking::find_fastest_safe(
    const std::vector<Candidate>& front) {
  if (safe_) return *safe_;
  if (const Candidate* known = select_from_front(front, problem_.safe()))
    return safe_.emplace(evaluate(*known));
  Problem other = problem_;
  other.accepts = cost::MemoryVerdict::fits_with_margin;
  return safe_.emplace(find_fastest_plan(other, calibration_, options_));
}

/// Returns the fastest plan with the default axis order.
std::optional<EvaluatedPlan> Ranking::find_fastest_usual() const {
  Problem other = problem_;
  other.limits.order = mesh::kDefaultOrder;
  SearchOptions options = options_;
  options.known =
      find_similar_time(other, find_family(answer_.best->config.plan), calibration_, options_);
  return find_fastest_plan(other, calibration_, options);
}

Answer Ranking::run() {
  const SearchResult found = search(problem_, calibration_, options_);
  answer_.stats = found.space.stats;
  answer_.complete = found.complete;
  answer_.undecided = found.undecided;
  answer_.leanest = found.space.leanest;
  if (found.space.best) {
    choose(found.space);
    compare(found.space);
  }
  answer_.ranked_again = simulations_.judged();
  answer_.simulated = simulations_.simulated();
  answer_.simulation_error = simulations_.error();
  return std::move(answer_);
}

}  // namespace

const EvaluatedPlan* Answer::reordered() const {
  const auto is_reordered = [](const std::optional<EvaluatedPlan>& one) {
    return one && !rules::same_order(one->config, mesh::kDefaultOrder);
  };
  return is_reordered(best) ? &*best : is_reordered(fastest) ? &*fastest : nullptr;
}

std::optional<EvaluatedPlan> find_fastest_plan(const Problem& problem,
                                               const cluster::Calibration& calibration,
                                               const SearchOptions& options) {
  const SearchResult found = search(problem, calibration,
                                    {.threads = options.threads,
                                     .leanest = false,
                                     .split_cache = options.split_cache,
                                     .known = options.known,
                                     .stop = options.stop});
  if (!found.complete || !found.space.best) return std::nullopt;
  return evaluate_plan(problem, found.space.best->plan, calibration);
}

const Candidate* select_from_front(const std::vector<Candidate>& front, Bytes max) {
  for (const Candidate& one : front)
    if (one.memory <= max) return &one;
  return nullptr;
}

plan::TrainingConfig config_of(const Problem& problem, const plan::Plan& plan) {
  plan::TrainingConfig config = problem.config;
  config.plan = plan;
  return config;
}

EvaluatedPlan evaluate_plan(const Problem& problem, const plan::Plan& plan,
                            const cluster::Calibration& calibration) {
  EvaluatedPlan one{.config = config_of(problem, plan)};
  one.closed = cost::estimate_step_time(one.config, calibration).total();
  one.estimate = cost::estimate_closely(one.config, calibration);
  one.estimate.capacity = problem.capacity;
  return one;
}

Answer find_answer(const Problem& problem, const cluster::Calibration& calibration,
                   const SearchOptions& options) {
  return Ranking(problem, calibration, options).run();
}

Answer find_possible_answer(Problem& problem, const cluster::Calibration& calibration,
                            const SearchOptions& options) {
  constexpr double kRounding = 1e-9;
  Answer answer = find_answer(problem, calibration, options);
  if (answer.best || !answer.complete || !answer.leanest) return answer;
  const Bytes leanest = (1 + kRounding) * answer.leanest->memory;
  Problem wider = problem;
  wider.accepts = cost::MemoryVerdict::over_within_error;
  if (leanest > wider.limit()) return answer;
  problem.accepts = wider.accepts;
  wider.max_memory = leanest;
  return find_answer(wider, calibration, options);
}

}  // namespace rankwright::search
