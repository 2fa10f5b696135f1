// The answer to a Problem: what to run, what it was held against, and the certificate. The search
// ranks by closed form; everything within its error of the fastest is simulated and ranked again,
// and within the error of any comparison a plan that surely fits wins, then the simpler one. Words
// for people are report/.
#pragma once

#include <optional>
#include <vector>

#include "rankwright/cost/estimate.h"
#include "rankwright/search/search.h"

namespace rankwright::search {

/// A plan with its whole price, its pipeline simulated.
struct EvaluatedPlan {
  plan::TrainingConfig config;
  cost::Estimate estimate{};
  Seconds closed{};  // the step by closed form

  Seconds time() const { return estimate.time(); }
};

struct Answer {
  std::optional<EvaluatedPlan> best{};  // what to run; nothing where nothing fits
  std::optional<EvaluatedPlan>
      fastest{};  // of all, where a safer or simpler plan that ties with it won
  Seconds min{};  // what the fastest of all takes
  /// The fastest of each other family that ties with the fastest, fastest first; the first few.
  std::vector<EvaluatedPlan> rivals{};
  i64 tied = 0;     // families that tie, the best's among them
  double band = 0;  // two plans closer than this are a tie
  /// Of the fastest plan to the runner-up, the fastest of another family: how much slower, as a
  /// share. Nothing where there is no other.
  std::optional<double> margin{};
  /// What else the search is certain of, as far as `window` (a share) from the fastest: the fastest
  /// of each family, and the front: nothing is faster and smaller. By closed form, fastest first.
  double window = 0;
  std::vector<Candidate> families{};
  std::vector<Candidate> front{};
  std::optional<EvaluatedPlan> safe{};   // the fastest that fits with margin
  std::optional<EvaluatedPlan> usual{};  // where there is a reordered() plan: the fastest without
  std::optional<Candidate> leanest{};    // where nothing fits: what needs least
  // The certificate.
  SearchStats stats{};
  bool complete = true;
  i64 undecided = 0;
  i64 ranked_again =
      0;  // plans near the fastest: simulated, or certain to be slower without a simulate
  i64 simulated = 0;  // pipelines
  double simulation_error =
      0;  // the largest difference of closed form and simulate among them, as a share

  /// The best, or else the fastest, where it numbers its ranks otherwise than frameworks do by
  /// default.
  const EvaluatedPlan* reordered() const;
};

/// Of the closed form: nine hundred and ninety-nine of a thousand random plans are within it of
/// their simulate.
inline constexpr double kClosedFormError = 0.02;

Answer find_answer(const Problem& problem, const cluster::Calibration& calibration,
                   const SearchOptions& options = {});

/// The fastest plan by closed form, ties or not: for limits and capacities beside the problem that
/// is answered. Of the options threads and balance count.
std::optional<EvaluatedPlan> fastest_plan(const Problem& problem,
                                          const cluster::Calibration& calibration,
                                          const SearchOptions& options);

/// The fastest of a front that takes no more; nothing where none does.
const Candidate* smaller(const std::vector<Candidate>& front, Bytes capacity);

/// A candidate as a config that stands alone.
plan::TrainingConfig config_of(const Problem& problem, const plan::Plan& plan);
/// And with its whole price.
EvaluatedPlan evaluate_plan(const Problem& problem, const plan::Plan& plan,
                            const cluster::Calibration& calibration);

}  // namespace rankwright::search
