#include "rankwright/search/explore.h"

namespace rankwright::search {
namespace {

/// Returns the list of the context that has the rules with the dependency of `rule`.
std::vector<const rules::Rule*>& select_list(SearchContext& context, const rules::Rule& rule) {
  using Depends = rules::Rule::Depends;
  switch (rule.depends) {
    case Depends::plan:
      return context.rules;
    case Depends::order:
      return context.order_rules;
    case Depends::schedule:
    case Depends::even_stages:
      return context.pipeline_rules;
    case Depends::sequence_parallel:
      return context.sequence_rules;
    case Depends::zero:
      return context.zero_rules;
  }
  return context.rules;
}

}  // namespace

SearchContext make_context(const Problem& problem, const cluster::Calibration& calibration,
                           const Windows& windows) {
  SearchContext context{.problem = problem,
                        .calibration = calibration,
                        .windows = windows,
                        .overheads = cost::find_overheads(problem.config, calibration),
                        .limit = problem.limit(),
                        .safe = problem.safe()};
  for (const rules::Rule* rule : find_refusals(problem.limits.target))
    select_list(context, *rule).push_back(rule);
  return context;
}

}  // namespace rankwright::search
