// Why not otherwise: the neighbors of a plan, and what each would cost or what refuses it. Numbers
// only; the sentences are report/.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankwright/search/answer.h"

namespace rankwright::search {

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
    data_alone,  // no axis but dp, and ep with experts: FSDP or plain replicas
  };
  enum class Verdict : unsigned char {
    evaluated,  // it runs, and takes `time`
    violation,  // arithmetic refuses it
    rule,       // the target refuses it
    memory,     // it does not fit
  };
  Kind kind{};
  /// A degree doubled or halved is the whole change of an axis, and of data_alone that the others
  /// are 1: everything else was searched anew, and `config` is the fastest plan of those, or the
  /// leanest where none fits. Else one key was changed and all others were kept.
  bool searched = false;
  i64 degree = 0;  // of an axis: what was asked
  Verdict verdict{};
  plan::TrainingConfig config;
  Seconds time{};                 // evaluated
  cost::StepTime step{};          // evaluated
  cost::MemoryEstimate memory{};  // evaluated and memory: of the fullest rank
  plan::ConstraintViolation violation{};
  std::string detail{};  // violation: what arithmetic says, with the numbers; planner/ fills it in
  std::string_view rule{};  // code
};

/// In the order of Kind, of the best that `answer` found for `problem`. Of the options threads and
/// balance count.
std::vector<Neighbor> find_neighbors(const Problem& problem, const Answer& answer,
                                     const cluster::Calibration& calibration,
                                     const SearchOptions& options = {});

}  // namespace rankwright::search
