#include "rankwright/cost/bands/layout_distance.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "rankwright/model/parameters.h"

namespace rankwright::cost {
namespace {

/// Returns by how many doublings two positive numbers differ.
double doublings(double a, double b) { return std::abs(std::log2(a) - std::log2(b)); }

/// Returns the distance between a layout with FSDP and one without. With experts it is beyond
/// kNearLayout: the estimates of published runs with FSDP are off by more than twice as much
/// (docs/explanation/accuracy.md).
double fsdp_distance(bool sparse) { return sparse ? 3 : 1; }

/// Returns whether two degrees alone put their layouts farther apart than kNearLayout. A search
/// asks for each of a million nodes, and this needs no logarithm.
bool are_far(i64 a, i64 b) {
  static_assert(kNearLayout == 2);
  constexpr i64 kMost = 4;  // two doublings
  return a > kMost * b || b > kMost * a;
}

}  // namespace

bool is_fsdp(bool sparse, int zero) { return zero == 3 || (sparse && zero == 2); }

catalog::ValidatedLayout make_layout(const plan::TrainingConfig& config) {
  const plan::Plan& p = config.plan;
  return {.sparse = config.model.sparse(),
          .generation = config.cluster.device.generation,
          .tp = p.tp,
          .cp = p.cp,
          .pp = p.pp,
          .ep = p.ep,
          .fsdp = is_fsdp(config.model.sparse(), p.zero),
          .sequence = config.job.sequence,
          .billions = double(count_parameters(config.model).total()) / 1e9};
}

double layout_distance(const catalog::ValidatedLayout& a, const catalog::ValidatedLayout& b) {
  if (a.sparse != b.sparse) return std::numeric_limits<double>::infinity();
  return doublings(double(a.tp), double(b.tp)) + doublings(double(a.cp), double(b.cp)) +
         doublings(double(a.pp), double(b.pp)) + doublings(double(a.ep), double(b.ep)) +
         doublings(double(a.sequence), double(b.sequence)) / 2 +
         doublings(a.billions, b.billions) / 2 + (a.fsdp != b.fsdp ? fsdp_distance(a.sparse) : 0) +
         (a.generation != b.generation ? 1 : 0);
}

bool near_validated(const plan::TrainingConfig& config) {
  return near_validated(make_layout(config));
}

bool near_validated(const catalog::ValidatedLayout& layout) {
  return std::ranges::any_of(catalog::list_validated_layouts(),
                             [&](const catalog::ValidatedLayout& one) {
                               return !are_far(layout.tp, one.tp) && !are_far(layout.cp, one.cp) &&
                                      !are_far(layout.pp, one.pp) && !are_far(layout.ep, one.ep) &&
                                      layout_distance(layout, one) <= kNearLayout;
                             });
}

}  // namespace rankwright::cost
