#include "rankwright/planner/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "rankwright/base/format.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/memory/offload_time.h"
#include "rankwright/planner/plan/plan_defaults.h"
#include "rankwright/planner/plan/plan_hosts.h"
#include "rankwright/planner/plan/plan_options.h"
#include "rankwright/planner/plan/plan_problem.h"

namespace rankwright::planner {
namespace {

constexpr i64 kMaxHosts = 512;  // limit to which a too small cluster is grown

/// The searches of one request. They share stage splits and report progress to the caller.
class SearchRun {
 public:
  SearchRun(const SearchControl& control, const PlanRequest& request)
      : control_(control),
        watch_(request.budget, control.should_stop),
        exhaustive_(request.exhaustive),
        threads_(request.threads) {}

  bool stopped() const { return watch_.stopped(); }
  StopReason stop_reason() const { return watch_.reason(); }

  void begin(const std::string& phase) const {
    if (control_.phase) control_.phase(phase);
  }
  /// Begins a phase and reports empty progress, so that the caller can show the phase at once.
  void begin_shown(const std::string& phase) const {
    begin(phase);
    show({});
  }

  search::SearchOptions options() const {
    search::SearchOptions all{
        .bounds = !exhaustive_, .threads = threads_, .split_cache = split_cache_};
    all.go_on = [this](const search::SearchProgress& progress) {
      show(progress);
      return !stopped();
    };
    all.stop = [this] { return stopped(); };
    return all;
  }

 private:
  void show(const search::SearchProgress& progress) const {
    if (control_.progress) control_.progress(progress);
  }

  const SearchControl& control_;
  SearchWatch watch_;
  bool exhaustive_ = false;
  int threads_ = 0;
  std::shared_ptr<search::StageSplitCache> split_cache_ =
      std::make_shared<search::StageSplitCache>();
};

/// Returns the smallest larger GPU count of the same system that fits a plan, if any.
std::optional<search::CountRow> find_larger(const search::Problem& problem, const SearchRun& run) {
  const i64 host = std::max<i64>(1, problem.config.cluster.host_devices);
  const std::optional<cluster::Cluster> larger =
      grow_cluster(problem.config.cluster, kMaxHosts * host);
  if (!larger || larger->devices() <= problem.config.world) return std::nullopt;
  search::Problem other = problem;
  other.config.cluster = *larger;
  other.accepts = cost::MemoryVerdict::fits_with_margin;
  run.begin("nothing fits; looking for more GPUs");
  return find_fewest_gpus(other, select_calibration(other.config), run.options());
}

/// Finds the fewest GPUs on which a plan fits with margin, and the fewest on which one is tight, if
/// those are fewer. If no plan of the cluster fits with margin, the best verdict that one has is
/// asked for instead. The problem then accepts no worse verdict than that of the count.
void choose_fewest(PlanAnswer& answer, const SearchRun& run) {
  search::Problem& problem = answer.problem;
  const cost::MemoryVerdict asked = problem.accepts;
  const auto find = [&](cost::MemoryVerdict worst) {
    problem.accepts = worst;
    return find_fewest_gpus(problem, select_calibration(problem.config), run.options());
  };
  for (const cost::MemoryVerdict worst :
       {cost::MemoryVerdict::fits_with_margin, cost::MemoryVerdict::tight,
        cost::MemoryVerdict::over_within_error}) {
    if (run.stopped()) break;
    answer.fewest = find(worst);
    if (!answer.fewest) continue;
    if (worst == cost::MemoryVerdict::fits_with_margin) {
      std::optional<search::CountRow> tight = find(cost::MemoryVerdict::tight);
      if (tight && tight->gpus < answer.fewest->gpus) answer.fewest_tight = std::move(tight);
    }
    problem.accepts = worst;
    return;
  }
  problem.accepts = asked;
}

/// Chooses the world size if the request leaves it open.
void choose_world(PlanAnswer& answer, const PlanRequest& request, const SearchRun& run) {
  plan::TrainingConfig& config = answer.problem.config;
  if (request.fit) {
    run.begin("the fewest GPUs");
    answer.fit_asked = true;
    choose_fewest(answer, run);
    if (answer.fewest) config.world = answer.fewest->gpus;
    run.begin("searching");
  }
  if (request.excluded) {
    run.begin("numbers of hosts");
    answer.hosts = choose_hosts(answer.problem, *request.excluded, run.options());
    const i64 hosts = answer.hosts->used > 0 ? answer.hosts->used : answer.hosts->left;
    config.world = hosts * config.cluster.host_devices;
    run.begin("searching");
  }
}

/// Chooses the value that an objective other than time asks for: the largest that fits with margin,
/// or the largest that is tight if none does.
void choose_largest(PlanAnswer& answer, Objective objective, const SearchRun& run) {
  answer.objective = objective;
  if (objective == Objective::time) return;
  run.begin_shown(objective == Objective::max_seq ? "the longest sequence"
                                                  : "the largest micro-batch");
  search::Problem& problem = answer.problem;
  const cluster::Calibration& constants = select_calibration(problem.config);
  for (const cost::MemoryVerdict worst :
       {cost::MemoryVerdict::fits_with_margin, cost::MemoryVerdict::tight}) {
    answer.largest = find_largest(problem, objective, [&](const search::Problem& one) {
      search::Problem asked = one;
      asked.accepts = worst;
      return !run.stopped() && find_fastest_plan(asked, constants, run.options()).has_value();
    });
    if (!answer.largest) continue;
    problem = set_objective(problem, objective, *answer.largest);
    problem.accepts = worst;
    break;
  }
  run.begin("searching");
}

/// Searches again with states on the host if nothing fits otherwise, moving as little as possible.
void allow_offload(PlanAnswer& answer, const SearchRun& run) {
  if (answer.answer.best || !answer.answer.complete || answer.answer.stats.memory == 0) return;
  for (const SavingRow& row : saving_rows()) {
    if (!row.offload || !applies(row, answer.problem) || run.stopped()) continue;
    run.begin_shown(fmt::format("nothing fits; {}", row.name));
    search::Problem changed = apply_saving(answer.problem, row);
    search::Answer found =
        find_possible_answer(changed, select_calibration(changed.config), run.options());
    if (!found.best || !fits_host(found.best->config, found.best->estimate.memory)) continue;
    answer.problem = std::move(changed);
    answer.answer = std::move(found);
    answer.offloaded = &row;
    return;
  }
}

/// Returns the problem, and if its framework is assumed, the same job for those with more ways to
/// save memory.
std::vector<search::Problem> find_saving_problems(const search::Problem& problem,
                                                  const PlanRequest& request) {
  std::vector<search::Problem> all{problem};
  const auto& assumed = problem.config.assumed;
  if (std::none_of(assumed.begin(), assumed.end(),
                   [](const plan::Assumption& one) { return one.key == "software.target"; }))
    return all;
  for (const rules::Target target : {rules::Target::accelerate, rules::Target::deepspeed}) {
    if (target == problem.limits.target) continue;
    PlanRequest other = request;
    other.target = target;
    if (Outcome<PlanProblem> read = read_plan_problem(other)) {
      read->problem.config.world = problem.config.world;
      all.push_back(std::move(read->problem));
    }
  }
  return all;
}

/// Finds the neighbors of the best plan and, if asked, its trade-offs. If nothing fits, looks for
/// settings that save memory and for more GPUs.
void look_around(PlanAnswer& answer, const PlanRequest& request, const SearchRun& run) {
  const search::Answer& found = answer.answer;
  const cluster::Calibration& constants = select_calibration(answer.problem.config);
  if (!found.best) {
    if (!found.complete || found.stats.memory == 0) return;
    run.begin_shown("nothing fits; looking for settings that save memory");
    const std::vector<search::Problem> problems = find_saving_problems(answer.problem, request);
    answer.savings = find_savings(problems, [&](const search::Problem& problem) {
      std::optional<search::EvaluatedPlan> fastest;
      if (!run.stopped())
        fastest = find_fastest_plan(problem, select_calibration(problem.config), run.options());
      if (fastest && !fits_host(fastest->config, fastest->estimate.memory)) fastest.reset();
      return fastest;
    });
    if (!answer.hosts) answer.fewest = find_larger(answer.problem, run);
    return;
  }
  if (run.stopped()) return;
  run.begin_shown("why not otherwise");
  // Discard the results of a stopped search: half a table would mislead.
  std::vector<search::Neighbor> around =
      find_neighbors(answer.problem, found, constants, run.options());
  if (run.stopped()) return;
  answer.neighbors = std::move(around);
  if (!request.trade_offs) return;
  run.begin_shown("what headroom and fewer GPUs cost");
  // With --fit the problem accepts only what leaves a margin; fewer GPUs may be tight.
  search::Problem other = answer.problem;
  other.accepts = std::max(other.accepts, cost::MemoryVerdict::tight);
  std::vector<search::TradePoint> points =
      find_trade_points(other, found, constants, run.options());
  if (!run.stopped()) answer.trade = std::move(points);
}

/// Evaluates the fastest plan of each family but the best plan's, up to `max` plans in all.
/// Families beyond the window of the search are unknown.
void list_top(PlanAnswer& answer, i64 max) {
  const search::Answer& found = answer.answer;
  if (!found.best) return;
  const search::Family best = search::find_family(found.best->config.plan);
  for (const search::Candidate& one : found.families) {
    if (i64(answer.top.size()) + 1 >= max) break;
    if (search::find_family(one.plan) == best) continue;
    answer.top.push_back(
        evaluate_plan(answer.problem, one.plan, select_calibration(answer.problem.config)));
  }
}

/// Adds the row of one GPU count. Returns false if the search was stopped.
bool add_count(PlansByCount& answer, i64 gpus, const SearchRun& run) {
  run.begin(fmt::format("{} GPUs", count(gpus)));
  std::vector<search::CountRow> row = search_counts(
      answer.problem, {gpus}, select_calibration(answer.problem.config), run.options());
  if (run.stopped()) return false;
  answer.rows.push_back(std::move(row.front()));
  choose_count(answer);
  return true;
}

/// Returns whether the chosen row meets the deadline at every error of its estimate.
bool meets_deadline(const PlansByCount& answer) {
  return answer.chosen && answer.has_verdict(*answer.chosen, DeadlineVerdict::meets);
}

/// Adds GPU counts below the chosen row, in ascending order, until one meets the deadline.
void add_counts_between(PlansByCount& answer, i64 host, const SearchRun& run) {
  const auto first = answer.rows.begin() + i64(*answer.chosen);
  std::vector<search::CountRow> more(std::make_move_iterator(first),
                                     std::make_move_iterator(answer.rows.end()));
  answer.rows.resize(*answer.chosen);
  choose_count(answer);
  for (const i64 gpus : search::counts_between(host, answer.rows.back().gpus, more.front().gpus))
    if (!add_count(answer, gpus, run) || meets_deadline(answer)) break;
  answer.rows.insert(answer.rows.end(), std::make_move_iterator(more.begin()),
                     std::make_move_iterator(more.end()));
  choose_count(answer);
}

}  // namespace

Outcome<PlanAnswer> find_plan(const PlanRequest& request, const SearchControl& control) {
  if (request.several_counts())
    return refuse_usage("--gpus asks for several plans", "--gpus with one number");
  Outcome<PlanProblem> asked = read_plan_problem(request);
  if (!asked) return tl::unexpected(std::move(asked.error()));
  const SearchRun run(control, request);
  PlanAnswer found{.problem = std::move(asked->problem),
                   .own = std::move(asked->own),
                   .training = request.training,
                   .budget = request.budget};
  choose_world(found, request, run);
  choose_largest(found, request.objective, run);
  found.answer =
      find_possible_answer(found.problem, select_calibration(found.problem.config), run.options());
  if (request.allow_offload) allow_offload(found, run);
  list_top(found, request.top);
  look_around(found, request, run);
  if (found.hosts) apply_placement(found, place_around(*found.hosts, found.problem.config.cluster));
  found.stopped = run.stop_reason();
  complete_figures(found);
  return found;
}

Outcome<PlansByCount> find_plans_by_count(const PlanRequest& request,
                                          const SearchControl& control) {
  if (!request.gpus) return refuse_usage("missing --gpus", "--gpus 8..512");
  Outcome<PlanProblem> asked = read_plan_problem(request);
  if (!asked) return tl::unexpected(std::move(asked.error()));
  const SearchRun run(control, request);
  const i64 host = std::max<i64>(1, asked->problem.config.cluster.host_devices);
  PlansByCount found{
      .problem = std::move(asked->problem), .training = request.training, .budget = request.budget};
  for (const i64 gpus : search::count_ladder(host, request.gpus->min, request.gpus->max))
    if (!add_count(found, gpus, run)) break;
  if (meets_deadline(found) && *found.chosen > 0 && !run.stopped())
    add_counts_between(found, host, run);
  found.stopped = run.stop_reason();
  if (found.chosen) found.targets = check_targets(found.chosen_plan().config);
  return found;
}

PlanAnswer search_around(const search::EvaluatedPlan& plan, const importer::Draft& stated,
                         rules::Target target, const SearchControl& control) {
  const SearchRun run(control, {});
  const cluster::Calibration& constants = select_calibration(plan.config);
  PlanAnswer found{.problem = open_problem(plan.config, stated, {.target = target})};
  found.answer = find_possible_answer(found.problem, constants, run.options());
  if (!run.stopped()) {
    run.begin_shown("why not otherwise");
    search::Answer around = found.answer;
    around.best = plan;
    std::vector<search::Neighbor> others =
        find_neighbors(found.problem, around, constants, run.options());
    if (!run.stopped()) found.neighbors = std::move(others);
  }
  if (!found.answer.best && found.answer.complete && found.answer.stats.memory > 0)
    found.fewest = find_larger(found.problem, run);
  found.stopped = run.stop_reason();
  complete_figures(found);
  return found;
}

}  // namespace rankwright::planner
