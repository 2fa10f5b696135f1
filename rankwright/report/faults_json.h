// Slow ranks, slow links and a dead rank as one JSON document, schema rankwright.faults/1: each
// part that was asked for, the others null.
#pragma once

#include <optional>
#include <string>

#include "rankwright/cost/failure.h"
#include "rankwright/cost/relief.h"
#include "rankwright/cost/slow_link.h"
#include "rankwright/report/failure_view.h"

namespace rankwright {

struct Faults {
  std::optional<LinkLoss> links{};
  std::optional<Straggler> slow{};
  Relief relief{};
  std::optional<i64> dead{};  // a rank
  Failure failure{};
  FailureSources from{};
};

std::string faults_json(const Setup& setup, const Faults& faults);

}  // namespace rankwright
