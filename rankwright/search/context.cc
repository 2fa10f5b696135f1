#include <algorithm>
#include <string_view>

#include "rankwright/search/explore.h"

namespace rankwright::search {
namespace {

/// Rules that depend, besides model, job and degrees, on one choice alone. They remove the choice
/// from a node before its memory and time are bounded, so these bounds are tighter.
constexpr std::string_view kSequenceRules[] = {"RW0507", "RW0536", "RW0553", "RW0589"};
constexpr std::string_view kZeroRules[] = {"RW0510", "RW0525", "RW0529", "RW0531",
                                           "RW0541", "RW0562", "RW0569", "RW0583"};

}  // namespace

SearchContext make_context(const Problem& problem, const cluster::Calibration& calibration,
                           const Windows& windows) {
  SearchContext context{.problem = problem,
                        .calibration = calibration,
                        .windows = windows,
                        .limit = problem.limit(),
                        .safe = problem.safe()};
  const auto list_of = [&](const rules::Rule& rule) -> std::vector<const rules::Rule*>& {
    using Depends = rules::Rule::Depends;
    if (rule.depends == Depends::order) return context.order_rules;
    if (rule.depends != Depends::plan) return context.pipeline_rules;
    if (std::ranges::count(kSequenceRules, rule.page.code) > 0) return context.sequence_rules;
    if (std::ranges::count(kZeroRules, rule.page.code) > 0) return context.zero_rules;
    return context.rules;
  };
  for (const rules::Rule* rule : find_refusals(problem.limits.target))
    list_of(*rule).push_back(rule);
  return context;
}

}  // namespace rankwright::search
