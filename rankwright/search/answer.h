// The answer to a Problem: the plan to run, its alternatives, and the statistics of the search. The
// search ranks by closed form; plans within its error of the fastest are simulated and ranked
// again. Among plans that tie, the preferred one wins (preference.h). report/ writes
// the text.
#pragma once

#include <optional>
#include <vector>

#include "rankwright/cost/estimate.h"
#include "rankwright/search/search.h"

namespace rankwright::search {

/// A plan and its estimate, with a simulated pipeline where that is affordable.
struct EvaluatedPlan {
  plan::TrainingConfig config;
  cost::Estimate estimate{};
  Seconds closed{};  // step time in closed form

  Seconds time() const { return estimate.time(); }
};

/// The plan to run for a Problem, and what is known about the others.
struct Answer {
  std::optional<EvaluatedPlan> best{};  // the plan to run; nothing if no plan fits
  /// The fastest plan, if a plan that ties with it and is preferred is the best.
  std::optional<EvaluatedPlan> fastest{};
  Seconds min{};  // step time of the fastest plan
  /// The fastest plan of each other family that ties with the fastest, fastest first. Only the
  /// first few.
  std::vector<EvaluatedPlan> rivals{};
  i64 tied = 0;     // families that tie, including that of `best`
  double band = 0;  // relative difference up to which two plans tie
  /// Relative difference up to which a plan near a published run ties with a faster one that is
  /// not.
  double far_band = 0;
  /// How much slower the fastest plan of another family is than the fastest plan, as a fraction.
  /// Nothing if there is no other family.
  std::optional<double> margin{};
  /// `families` and `front` are complete up to (1 + window) * the fastest time. Both are in closed
  /// form, fastest first.
  double window = 0;
  std::vector<Candidate> families{};     // the fastest of each family
  std::vector<Candidate> front{};        // Pareto front of step time and memory
  std::optional<EvaluatedPlan> safe{};   // the fastest that fits with margin, if `best` does not
  std::optional<EvaluatedPlan> usual{};  // the fastest in the default order, if one is reordered()
  std::optional<Candidate> leanest{};    // the plan with the least memory, if none fits
  SearchStats stats{};
  bool complete = true;
  i64 undecided = 0;  // candidates that an incomplete search did not decide
  /// Plans near the fastest that were simulated, or were certain to be slower without a simulation.
  i64 ranked_again = 0;
  i64 simulated = 0;            // pipelines
  double simulation_error = 0;  // maximum of |closed form / simulated - 1| among them

  /// Returns the best plan, or else the fastest, if its axis order is not the frameworks' default.
  const EvaluatedPlan* reordered() const;
};

/// Relative error of the closed form against the simulation, which 999 of 1000 random plans do not
/// exceed.
inline constexpr double kClosedFormError = 0.02;

/// Searches the space of a problem, and ranks the fastest plans by simulation.
Answer find_answer(const Problem& problem, const cluster::Calibration& calibration,
                   const SearchOptions& options = {});

/// Finds the answer. If nothing fits, but a plan is over within the estimate error, the leanest
/// such plan is the answer, and `problem` accepts that verdict from then on. So a plan is found if
/// and only if some plan's verdict is better than does_not_fit.
Answer find_possible_answer(Problem& problem, const cluster::Calibration& calibration,
                            const SearchOptions& options = {});

/// Returns the fastest plan in closed form, regardless of ties; nothing if no plan fits or the
/// search was stopped. For variants of a problem with other limits. Uses only threads,
/// split_cache and stop of the options.
std::optional<EvaluatedPlan> find_fastest_plan(const Problem& problem,
                                               const cluster::Calibration& calibration,
                                               const SearchOptions& options);

/// Returns the fastest candidate of a front that takes at most `max`; null if there is none.
/// Requires: the front is sorted, fastest first.
const Candidate* select_from_front(const std::vector<Candidate>& front, Bytes max);

/// Returns the problem's config with this plan.
plan::TrainingConfig config_of(const Problem& problem, const plan::Plan& plan);
/// Evaluates a plan against the problem's capacity. Requires: it violates no constraint.
EvaluatedPlan evaluate_plan(const Problem& problem, const plan::Plan& plan,
                            const cluster::Calibration& calibration);

}  // namespace rankwright::search
