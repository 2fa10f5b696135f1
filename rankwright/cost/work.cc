#include "rankwright/cost/work.h"

#include <algorithm>
#include <numeric>

#include "rankwright/model/flops.h"

namespace rankwright {

std::vector<Flops> work(const Setup& setup) {
  std::vector<Flops> by_rank;
  for (i64 r = 0; r < setup.plan.pp; ++r) {
    const RankContents on_rank = contents(setup, r);
    Flops sum{};
    for (const LayerRun& run : on_rank.runs)
      sum += run.count * forward_flops(setup.model, run.layer, setup.job.sequence);
    const Layer& last = setup.model.runs.back().layer;
    // An MTP module has a layer and a head of its own.
    sum += on_rank.mtp *
           (forward_flops(setup.model, last, setup.job.sequence) + head_forward_flops(setup.model));
    if (on_rank.loss) sum += head_forward_flops(setup.model);
    by_rank.push_back(sum);
  }
  return by_rank;
}

double imbalance(const std::vector<Flops>& work) {
  const Flops most = *std::max_element(work.begin(), work.end());
  const Flops mean = std::accumulate(work.begin(), work.end(), Flops{}) / double(work.size());
  return most / mean - 1;
}

}  // namespace rankwright
