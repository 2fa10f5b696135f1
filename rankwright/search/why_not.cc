#include "rankwright/search/why_not.h"

#include <algorithm>

#include "rankwright/rules/change.h"

namespace rankwright::search {
namespace {

using Kind = Neighbor::Kind;
using Verdict = Neighbor::Verdict;

/// An axis: where its degree stands in a plan, and what limits it.
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

class WhyNot {
 public:
  WhyNot(const Problem& problem, const Answer& answer, const cluster::Calibration& calibration,
         const SearchOptions& options)
      : problem_(problem),
        answer_(answer),
        plan_(answer.best->config.plan),
        calibration_(calibration),
        options_(options),
        rules_(find_refusals(problem.limits.target)) {}

  std::vector<Neighbor> all();

 private:
  bool search_anew(Kind kind, i64 degree, const Problem& narrower);
  void add_searched(Neighbor neighbour, i64 degree);
  void axis(const AxisRow& row, i64 degree);
  void data_alone();
  void orders_but_this();
  void schedules_but_this();
  Neighbor judge(Kind kind, const plan::Plan& plan) const;
  void change(Kind kind, const plan::Plan& plan) { found_.push_back(judge(kind, plan)); }

  const Problem& problem_;
  const Answer& answer_;
  const plan::Plan& plan_;
  const cluster::Calibration& calibration_;
  SearchOptions options_;
  std::vector<const rules::Rule*> rules_;
  std::vector<Neighbor> found_{};
};

Neighbor WhyNot::judge(Kind kind, const plan::Plan& plan) const {
  if (options_.stop && options_.stop()) return {};  // nobody looks at the rest
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
  const EvaluatedPlan price = evaluate_plan(problem_, plan, calibration_);
  one.memory = price.estimate.memory;
  one.verdict = price.estimate.fits() ? Verdict::evaluated : Verdict::memory;
  one.step = price.estimate.step;
  one.time = price.time();
  return one;
}

/// The fastest plan of a narrower problem, or the leanest where none fits; false where there is
/// neither.
bool WhyNot::search_anew(Kind kind, i64 degree, const Problem& narrower) {
  const SearchResult found = search(
      narrower, calibration_,
      {.threads = options_.threads, .split_cache = options_.split_cache, .stop = options_.stop});
  const std::optional<Candidate>& one = found.space.best ? found.space.best : found.space.leanest;
  if (one) add_searched(judge(kind, one->plan), degree);
  return one.has_value();
}

void WhyNot::add_searched(Neighbor neighbour, i64 degree) {
  neighbour.searched = true;
  neighbour.degree = degree;
  found_.push_back(std::move(neighbour));
}

/// The best plan whose axis has this degree.
void WhyNot::axis(const AxisRow& row, i64 degree) {
  if (!(problem_.limits.*row.range).has(degree)) return;
  const auto known = std::find_if(answer_.families.begin(), answer_.families.end(),
                                  [&](const Candidate& c) { return c.plan.*row.degree == degree; });
  if (known != answer_.families.end()) return add_searched(judge(row.kind, known->plan), degree);
  Problem other = problem_;
  other.limits.*row.range = {degree, degree};
  if (search_anew(row.kind, degree, other)) return;
  // Nothing was even weighed: the plan with this degree in place of its own says why.
  plan::Plan plan = plan_;
  const i64 rest = plan.*row.degree * plan.dp;
  plan.*row.degree = degree;
  if (row.kind != Kind::dp && row.kind != Kind::ep && rest % degree == 0) plan.dp = rest / degree;
  Neighbor neighbour = judge(row.kind, plan);
  // It may be outside the limits in another way, and then says nothing of what is inside them.
  if (neighbour.violation || !neighbour.rule.empty()) add_searched(std::move(neighbour), degree);
}

/// Why not FSDP, or plain replicas: the first thing that people ask.
void WhyNot::data_alone() {
  if (plan_.tp * plan_.cp * plan_.pp == 1) return;
  Problem other = problem_;
  for (Range* range : {&other.limits.tp, &other.limits.cp, &other.limits.pp}) {
    if (!range->has(1)) return;
    *range = {1, 1};
  }
  search_anew(Kind::data_alone, problem_.config.world, other);
}

/// The default order, where this is another, and the fastest of all others.
void WhyNot::orders_but_this() {
  const Node node = node_of(plan_);
  std::optional<Neighbor> fastest;
  for (const mesh::Order& order : list_orders(problem_, node)) {
    plan::Plan plan = plan_;
    plan.order = order;
    if (order == plan_.order) continue;
    Neighbor one = judge(Kind::order, plan);
    if (order == mesh::kDefaultOrder) {
      found_.push_back(one);
      continue;
    }
    // Ranks that lie alike are no other choice.
    if (one.verdict == Verdict::evaluated && one.time == answer_.best->time()) continue;
    const bool runs = one.verdict == Verdict::evaluated;
    if (runs && (!fastest || one.time < fastest->time)) fastest = std::move(one);
  }
  if (fastest) found_.push_back(std::move(*fastest));
}

/// The fastest of the schedules that this plan does not have, stages even; else the leanest.
void WhyNot::schedules_but_this() {
  const Node node = node_of(plan_);
  std::optional<Neighbor> fastest, leanest;
  for (const Pipe& pipe : list_pipes(problem_, node)) {
    if (pipe.balanced || pipe.schedule == plan_.schedule) continue;
    plan::Plan plan = plan_;
    choose(plan, pipe);
    choose(plan, plan.zero, plan.shard_size, problem_);
    Neighbor one = judge(Kind::schedule, plan);
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

std::vector<Neighbor> WhyNot::all() {
  for (const AxisRow& row : kAxisRows) {
    const i64 degree = plan_.*row.degree;
    if (row.kind == Kind::ep && !problem_.config.model.sparse()) continue;
    if (degree % 2 == 0) axis(row, degree / 2);
    if (2 * degree <= problem_.config.world) axis(row, 2 * degree);
  }
  orders_but_this();
  const Limits& limits = problem_.limits;
  for (const int zero : {plan_.zero - 1, plan_.zero + 1}) {
    if (!limits.zero.has(zero)) continue;
    if (zero > 0 && plan_.data_ranks() == 1 && !problem_.config.model.sparse()) continue;
    plan::Plan plan = plan_;
    choose(plan, zero, zero == 0 ? 0 : plan_.shard_size, problem_);
    change(Kind::zero, plan);
  }
  for (const plan::Recompute recompute :
       {plan::Recompute::none, plan::Recompute::selective, plan::Recompute::full}) {
    const int away = int(recompute) - int(plan_.recompute);
    if ((away != 1 && away != -1) || limits.recompute) continue;
    plan::Plan plan = plan_;
    plan.recompute = recompute;
    change(Kind::recompute, plan);
  }
  for (const i64 size :
       {plan_.micro_batch % 2 == 0 ? plan_.micro_batch / 2 : 0, 2 * plan_.micro_batch}) {
    if (!limits.micro_batch.has(size) || size == 0) continue;
    plan::Plan plan = plan_;
    plan.micro_batch = size;
    change(Kind::micro_batch, plan);
  }
  if (plan_.tp > 1 && !limits.sequence_parallel) {
    plan::Plan plan = plan_;
    plan.sequence_parallel = !plan.sequence_parallel;
    choose(plan, plan.zero, plan.shard_size, problem_);
    change(Kind::sequence_parallel, plan);
  }
  if (plan_.pp > 1) schedules_but_this();
  data_alone();
  return std::move(found_);
}

}  // namespace

std::vector<Neighbor> find_neighbors(const Problem& problem, const Answer& answer,
                                     const cluster::Calibration& calibration,
                                     const SearchOptions& options) {
  return WhyNot(problem, answer, calibration, options).all();
}

}  // namespace rankwright::search
