#include "rankwright/cost/work.h"

#include <algorithm>
#include <numeric>

#include "rankwright/model/flops.h"

namespace rankwright {

namespace {

/// An MTP module: a layer like the last, and the projection of two hidden states to one.
Flops mtp_flops(const Setup& setup) {
  const Model& model = setup.model;
  const Flops projection{2 * 2 * double(model.hidden) * double(model.hidden)};
  return projection + forward_flops(model, model.runs.back().layer, setup.job.sequence);
}

/// Of a stage's work what one rank that holds it does.
double part(const Setup& setup) { return setup.plan.mirrored() ? 0.5 : 1; }

}  // namespace

std::vector<Flops> work(const Setup& setup) {
  i64 heads = 1;  // the model's own and one for every MTP module
  for (const Stage& stage : setup.stages()) heads += stage.mtp;
  std::vector<Flops> by_rank;
  for (i64 r = 0; r < setup.plan.pp; ++r) {
    const RankContents on_rank = contents(setup, r);
    Flops sum = on_rank.mtp * mtp_flops(setup);
    for (const LayerRun& run : on_rank.runs)
      sum += run.count * forward_flops(setup.model, run.layer, setup.job.sequence);
    if (on_rank.loss) sum += heads * head_forward_flops(setup.model);
    by_rank.push_back(part(setup) * sum);
  }
  return by_rank;
}

std::vector<Flops> work_again(const Setup& setup) {
  std::vector<Flops> by_rank;
  for (i64 r = 0; r < setup.plan.pp; ++r) {
    const RankContents on_rank = contents(setup, r);
    Flops sum = run_again(setup.plan, on_rank.layers, on_rank.mtp) * mtp_flops(setup);
    i64 before = 0;
    for (const LayerRun& run : on_rank.runs) {
      sum += run_again(setup.plan, before, run.count) *
             forward_flops(setup.model, run.layer, setup.job.sequence);
      before += run.count;
    }
    by_rank.push_back(part(setup) * sum);
  }
  return by_rank;
}

double imbalance(const std::vector<Flops>& work) {
  const Flops most = *std::max_element(work.begin(), work.end());
  const Flops mean = std::accumulate(work.begin(), work.end(), Flops{}) / double(work.size());
  return most / mean - 1;
}

}  // namespace rankwright
