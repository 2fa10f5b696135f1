#include "rankwright/search/explore.h"

#include <algorithm>

#include "rankwright/search/explorer.h"

namespace rankwright::search {

SearchContext context(const Problem& problem, const cluster::Calibration& calibration,
                      const Windows& windows) {
  return {.problem = problem,
          .calibration = calibration,
          .windows = windows,
          .safe = problem.safe(),
          .rules = refusals(problem.limits.target)};
}

NodeBound bound_node(const SearchContext& context, const Node& node) {
  plan::TrainingConfig config = config_of(context.problem, node);
  NodeBound bound_node{.node = node,
                       .min = kInfiniteTime,
                       .priority = kInfiniteTime,
                       .candidates = candidates(context.problem, node)};
  // What the pipeline's schedule or the order asks may be met by another choice.
  bound_node.violation = first_misfit(config);
  if (bound_node.violation) return bound_node;
  const cost::Links links(config, context.calibration);
  for (const i64 size : micro_batches(context.problem, node)) {
    config.plan.micro_batch = size;
    bound_node.min = std::min(bound_node.min, unlinked_time(context, config));
    bound_node.priority = std::min(
        bound_node.priority,
        min_time(config, context.calibration, layer_prices(config, links, context.calibration)));
  }
  return bound_node;
}

PartialResult explore(const SearchContext& context, const Node& node, const Incumbent& incumbent,
                      StageSplitCache& split_cache) {
  return Explorer(context, node, incumbent, split_cache).all();
}

}  // namespace rankwright::search
