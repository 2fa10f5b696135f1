#include "rankwright/search/explore.h"

#include <algorithm>

#include "rankwright/search/explorer.h"

namespace rankwright {

Ground ground(const Problem& problem, const Calibration& calibration, const Windows& windows) {
  return {.problem = problem,
          .calibration = calibration,
          .windows = windows,
          .safe = problem.safe(),
          .rules = refusals(problem.limits.target)};
}

Prospect prospect(const Ground& ground, const Node& node) {
  Setup setup = setup_of(ground.problem, node);
  Prospect prospect{.node = node,
                    .least = kNever,
                    .promise = kNever,
                    .candidates = candidates(ground.problem, node)};
  // What the pipeline's schedule or the order asks may be met by another choice.
  prospect.misfit = first_misfit(setup);
  if (prospect.misfit) return prospect;
  const Links links(setup, ground.calibration);
  for (const i64 size : micro_batches(ground.problem, node)) {
    setup.plan.micro_batch = size;
    prospect.least = std::min(prospect.least, unlinked_time(ground, setup));
    prospect.promise = std::min(
        prospect.promise,
        least_time(setup, ground.calibration, layer_prices(setup, links, ground.calibration)));
  }
  return prospect;
}

Explored explore(const Ground& ground, const Node& node, const Known& known, Balance& balance) {
  return Explorer(ground, node, known, balance).all();
}

}  // namespace rankwright
