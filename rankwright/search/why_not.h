// Explains why a plan was chosen by its neighbors: what each would cost, or why it is impossible.
// report/ writes the sentences.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankwright/search/answer.h"

namespace rankwright::search {

/// A plan with one setting changed.
struct Neighbor {
  enum class Kind : unsigned char {
    tp,
    cp,
    pp,
    dp,
    ep,
    order,
    zero,
    recompute,
    micro_batch,
    sequence_parallel,
    schedule,
    data_alone,  // only dp, and ep with experts: FSDP or plain data parallelism
  };
  enum class Verdict : unsigned char {
    evaluated,  // it fits and takes `time`
    violation,  // it violates a constraint
    rule,       // a rule of the target refuses it
    memory,     // it does not fit
  };
  Kind kind{};
  /// True for a changed degree and for data_alone: all other settings were searched, and `config`
  /// is the fastest plan, or the leanest if none fits. False: all other settings are those of the
  /// plan.
  bool searched = false;
  i64 degree = 0;  // of a changed axis; all GPUs for data_alone
  Verdict verdict{};
  plan::TrainingConfig config;
  Seconds time{};                 // if evaluated
  cost::StepTime step{};          // if evaluated
  cost::MemoryEstimate memory{};  // of the fullest rank, if evaluated or memory
  plan::ConstraintViolation violation{};
  std::string detail{};     // violation: the message with numbers; planner/ fills it in
  std::string_view rule{};  // code of the rule
};

/// Returns the neighbors of the best plan of `answer`, in the order of Kind. Uses only threads,
/// split_cache and stop of the options. Requires: `answer` is that of `problem` and has a best
/// plan.
std::vector<Neighbor> find_neighbors(const Problem& problem, const Answer& answer,
                                     const cluster::Calibration& calibration,
                                     const SearchOptions& options = {});

}  // namespace rankwright::search
