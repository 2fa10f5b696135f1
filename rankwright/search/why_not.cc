#include "rankwright/search/why_not.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <functional>

#include "rankwright/rules/change.h"
#include "rankwright/search/threads.h"

namespace rankwright::search {
namespace {

using Kind = Neighbor::Kind;
using Verdict = Neighbor::Verdict;

/// An axis with its degree in a plan and its limits.
struct AxisRow {
  Kind kind;
  i64 plan::Plan::*degree;
  Range Limits::*range;
};
constexpr AxisRow kAxisRows[] = {
    {Kind::tp, &plan::Plan::tp, &Limits::tp}, {Kind::cp, &plan::Plan::cp, &Limits::cp},
    {Kind::pp, &plan::Plan::pp, &Limits::pp}, {Kind::dp, &plan::Plan::dp, &Limits::dp},
    {Kind::ep, &plan::Plan::ep, &Limits::ep},
};

/// Collects the neighbors of a plan.
class NeighborFinder {
 public:
  NeighborFinder(const Problem& problem, const Answer& answer,
                 const cluster::Calibration& calibration, const SearchOptions& options)
      : problem_(problem),
        answer_(answer),
        plan_(answer.best->config.plan),
        calibration_(calibration),
        options_(options),
        rules_(find_refusals(problem.limits.target)) {}

  std::vector<Neighbor> run();

 private:
  bool search_anew(Kind kind, i64 degree, const Problem& narrower);
  void add_searched(Neighbor neighbor, i64 degree);
  void add_axis(const AxisRow& row, i64 degree);
  void add_data_alone();
  void add_orders();
  void add_schedule();
  std::optional<Neighbor> evaluate(Kind kind, const plan::Plan& plan, Seconds than);
  Neighbor evaluate(Kind kind, const plan::Plan& plan) {
    return *evaluate(kind, plan, kInfiniteTime);
  }
  std::vector<Neighbor> evaluate_fastest(Kind kind, const std::vector<plan::Plan>& plans,
                                         const std::function<bool(const Neighbor&)>& counts);
  void add_changed(Kind kind, const plan::Plan& plan) { found_.push_back(evaluate(kind, plan)); }

  const Problem& problem_;
  const Answer& answer_;
  const plan::Plan& plan_;
  const cluster::Calibration& calibration_;
  SearchOptions options_;
  std::vector<const rules::Rule*> rules_;
  cost::PipelineEnds ends_{};
  std::vector<Neighbor> found_{};
};

/// Evaluates a plan, or finds the constraint or rule that it violates. Returns nothing if it is
/// known to take longer than `than`.
std::optional<Neighbor> NeighborFinder::evaluate(Kind kind, const plan::Plan& plan, Seconds than) {
  if (options_.stop && options_.stop()) return Neighbor{};  // the result is discarded
  Neighbor one{.kind = kind, .config = config_of(problem_, plan)};
  one.violation = find_first_violation(one.config);
  if (one.violation) {
    one.verdict = Verdict::violation;
    return one;
  }
  for (const rules::Rule* rule : rules_)
    if (rule->fault(one.config)) {
      one.rule = rule->page.code;
      one.verdict = Verdict::rule;
      return one;
    }
  const std::optional<cost::Estimate> estimate =
      estimate_faster(one.config, calibration_, ends_, than);
  if (!estimate) return std::nullopt;
  one.memory = estimate->memory;
  one.verdict = one.memory.total() <= problem_.limit() ? Verdict::evaluated : Verdict::memory;
  one.step = estimate->step;
  one.time = estimate->time();
  return one;
}

/// Evaluates plans on several threads, because most of the time is that of simulations. Leaves out
/// those that are known to be slower than another one that fits and, if it is given, that `counts`.
std::vector<Neighbor> NeighborFinder::evaluate_fastest(
    Kind kind, const std::vector<plan::Plan>& plans,
    const std::function<bool(const Neighbor&)>& counts) {
  std::vector<std::optional<Neighbor>> all(plans.size());
  std::atomic<double> fastest = kInfiniteTime.value;
  run_on_threads(options_.threads, [&] {
    tbb::parallel_for(std::size_t{0}, plans.size(), [&](std::size_t k) {
      all[k] = evaluate(kind, plans[k], Seconds{fastest});
      if (!all[k] || all[k]->verdict != Verdict::evaluated || (counts && !counts(*all[k]))) return;
      double known = fastest;
      while (all[k]->time.value < known &&
             !fastest.compare_exchange_weak(known, all[k]->time.value)) {
      }
    });
  });
  std::vector<Neighbor> some;
  for (std::optional<Neighbor>& one : all)
    if (one) some.push_back(std::move(*one));
  return some;
}

/// Adds the fastest plan of a narrower problem, or the leanest if none fits. Returns false if there
/// is neither.
bool NeighborFinder::search_anew(Kind kind, i64 degree, const Problem& narrower) {
  const SearchResult found =
      search(narrower, calibration_,
             {.threads = options_.threads,
              .split_cache = options_.split_cache,
              .known = find_similar_time(narrower, find_family(plan_), calibration_, options_),
              .stop = options_.stop});
  const std::optional<Candidate>& one = found.space.best ? found.space.best : found.space.leanest;
  if (one) add_searched(evaluate(kind, one->plan), degree);
  return one.has_value();
}

void NeighborFinder::add_searched(Neighbor neighbor, i64 degree) {
  neighbor.searched = true;
  neighbor.degree = degree;
  found_.push_back(std::move(neighbor));
}

/// Adds the best plan with this degree of an axis.
void NeighborFinder::add_axis(const AxisRow& row, i64 degree) {
  if (!(problem_.limits.*row.range).has(degree)) return;
  const auto known = std::find_if(answer_.families.begin(), answer_.families.end(),
                                  [&](const Candidate& c) { return c.plan.*row.degree == degree; });
  if (known != answer_.families.end()) return add_searched(evaluate(row.kind, known->plan), degree);
  Problem other = problem_;
  other.limits.*row.range = {degree, degree};
  if (search_anew(row.kind, degree, other)) return;
  // No plan with this degree is valid: changing the degree of the best plan shows why.
  plan::Plan plan = plan_;
  const i64 rest = plan.*row.degree * plan.dp;
  plan.*row.degree = degree;
  if (row.kind != Kind::dp && row.kind != Kind::ep && rest % degree == 0) plan.dp = rest / degree;
  Neighbor neighbor = evaluate(row.kind, plan);
  // A valid plan is outside the limits in another way, and does not explain it.
  if (neighbor.violation || !neighbor.rule.empty()) add_searched(std::move(neighbor), degree);
}

/// Adds the best plan with data parallelism alone (FSDP or plain replicas): the first alternative
/// that people ask about.
void NeighborFinder::add_data_alone() {
  if (plan_.tp * plan_.cp * plan_.pp == 1) return;
  Problem other = problem_;
  for (Range* range : {&other.limits.tp, &other.limits.cp, &other.limits.pp}) {
    if (!range->has(1)) return;
    *range = {1, 1};
  }
  search_anew(Kind::data_alone, problem_.config.world, other);
}

/// Adds the default axis order, if the plan has another, and the fastest of all others.
void NeighborFinder::add_orders() {
  std::vector<plan::Plan> plans;
  for (const mesh::Order& order : list_orders(problem_, node_of(plan_))) {
    if (order == plan_.order) continue;
    plan::Plan plan = plan_;
    plan.order = order;
    if (order == mesh::kDefaultOrder)
      add_changed(Kind::order, plan);
    else
      plans.push_back(std::move(plan));
  }
  // An order with the same time has an equivalent placement.
  const auto differs = [&](const Neighbor& one) { return one.time != answer_.best->time(); };
  std::optional<Neighbor> fastest;
  for (Neighbor& one : evaluate_fastest(Kind::order, plans, differs))
    if (one.verdict == Verdict::evaluated && differs(one) && (!fastest || one.time < fastest->time))
      fastest = std::move(one);
  if (fastest) found_.push_back(std::move(*fastest));
}

/// Adds the fastest other schedule with even stages, or the leanest if none fits.
void NeighborFinder::add_schedule() {
  std::vector<plan::Plan> plans;
  for (const Pipe& pipe : list_pipes(problem_, node_of(plan_))) {
    if (pipe.balanced || pipe.schedule == plan_.schedule) continue;
    plan::Plan& plan = plans.emplace_back(plan_);
    choose(plan, pipe);
    choose(plan, plan.zero, plan.shard_size, problem_);
  }
  std::optional<Neighbor> fastest, leanest;
  for (Neighbor& one : evaluate_fastest(Kind::schedule, plans, {})) {
    if (one.verdict == Verdict::evaluated && (!fastest || one.time < fastest->time))
      fastest = std::move(one);
    else if (one.verdict == Verdict::memory &&
             (!leanest || one.memory.total() < leanest->memory.total()))
      leanest = std::move(one);
  }
  if (fastest)
    found_.push_back(std::move(*fastest));
  else if (leanest)
    found_.push_back(std::move(*leanest));
}

std::vector<Neighbor> NeighborFinder::run() {
  for (const AxisRow& row : kAxisRows) {
    const i64 degree = plan_.*row.degree;
    if (row.kind == Kind::ep && !problem_.config.model.sparse()) continue;
    if (degree % 2 == 0) add_axis(row, degree / 2);
    if (2 * degree <= problem_.config.world) add_axis(row, 2 * degree);
  }
  add_orders();
  const Limits& limits = problem_.limits;
  for (const int zero : {plan_.zero - 1, plan_.zero + 1}) {
    if (!limits.zero.has(zero)) continue;
    if (zero > 0 && plan_.data_ranks() == 1 && !problem_.config.model.sparse()) continue;
    plan::Plan plan = plan_;
    choose(plan, zero, zero == 0 ? 0 : plan_.shard_size, problem_);
    add_changed(Kind::zero, plan);
  }
  for (const plan::Recompute recompute :
       {plan::Recompute::none, plan::Recompute::selective, plan::Recompute::full}) {
    const int away = int(recompute) - int(plan_.recompute);
    if ((away != 1 && away != -1) || limits.recompute) continue;
    plan::Plan plan = plan_;
    plan.recompute = recompute;
    add_changed(Kind::recompute, plan);
  }
  for (const i64 size :
       {plan_.micro_batch % 2 == 0 ? plan_.micro_batch / 2 : 0, 2 * plan_.micro_batch}) {
    if (!limits.micro_batch.has(size) || size == 0) continue;
    plan::Plan plan = plan_;
    plan.micro_batch = size;
    add_changed(Kind::micro_batch, plan);
  }
  if (plan_.tp > 1 && !limits.sequence_parallel) {
    plan::Plan plan = plan_;
    plan.sequence_parallel = !plan.sequence_parallel;
    choose(plan, plan.zero, plan.shard_size, problem_);
    add_changed(Kind::sequence_parallel, plan);
  }
  if (plan_.pp > 1) add_schedule();
  add_data_alone();
  return std::move(found_);
}

}  // namespace

std::vector<Neighbor> find_neighbors(const Problem& problem, const Answer& answer,
                                     const cluster::Calibration& calibration,
                                     const SearchOptions& options) {
  return NeighborFinder(problem, answer, calibration, options).run();
}

}  // namespace rankwright::search
