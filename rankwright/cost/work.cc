#include "rankwright/cost/work.h"

#include <algorithm>
#include <numeric>

#include "rankwright/model/flops.h"
#include "rankwright/plan/encoder.h"

namespace rankwright::cost {
namespace {

/// Returns the FLOPs of an MTP module: a layer like the last one and the projection of two hidden
/// states to one.
Flops mtp_flops(const plan::TrainingConfig& config) {
  const model::Model& model = config.model;
  const Flops projection{2 * 2 * double(model.hidden) * double(model.hidden)};
  return projection + forward_flops(model, model.runs.back().layer, config.job.attended());
}

/// Returns the FLOPs of the encoder per token of the sequence.
Flops encoder_flops(const plan::TrainingConfig& config) {
  return count_encoder_flops(config) / config.job.sequence;
}

/// Returns the fraction of a stage's work that one rank does.
double share_of_stage(const plan::TrainingConfig& config) {
  return config.plan.mirrored() ? 0.5 : 1;
}

i64 count_mtp_modules(const plan::TrainingConfig& config) {
  i64 modules = 0;
  for (const plan::Stage& stage : config.stages()) modules += stage.mtp;
  return modules;
}

split::StageMap make_stage_map(const plan::Plan& plan) {
  switch (row(plan.schedule).stage_order) {
    case pipeline::StageOrder::loop:
      break;
    case pipeline::StageOrder::vee:
      return split::map_v_shape(plan.pp, plan.virtual_stages);
    case pipeline::StageOrder::mirror:
      if (plan.mirrored()) return split::map_both_ends(plan.pp);
  }
  return split::map_round_robin(plan.pp, plan.virtual_stages);
}

}  // namespace

std::vector<Flops> work(const plan::TrainingConfig& config) {
  const i64 heads = 1 + count_mtp_modules(config);  // the model's own and one per MTP module
  std::vector<Flops> by_rank;
  for (const plan::RankContents& on_rank : list_rank_contents(config)) {
    Flops sum = on_rank.mtp * mtp_flops(config);
    for (const model::LayerRun& run : on_rank.runs)
      sum += run.count * forward_flops(config.model, run.layer, config.job.attended());
    if (on_rank.embedding) sum += encoder_flops(config);
    if (on_rank.loss) sum += heads * head_forward_flops(config.model);
    by_rank.push_back(share_of_stage(config) * sum);
  }
  return by_rank;
}

double imbalance(const std::vector<Flops>& work) {
  const Flops max = *std::max_element(work.begin(), work.end());
  const Flops mean = std::accumulate(work.begin(), work.end(), Flops{}) / double(work.size());
  return max / mean - 1;
}

split::SplitTask make_split_task(const plan::TrainingConfig& config) {
  const i64 modules = count_mtp_modules(config);
  split::SplitTask task{
      .embedding = {.weight = encoder_flops(config).value},
      .mtp = {.weight = mtp_flops(config).value},
      .mtp_modules = modules,
      .head = {.weight = ((1 + modules) * head_forward_flops(config.model)).value}};
  for (const model::LayerRun& run : config.model.runs)
    task.layers.push_back(
        {run.count,
         {.weight = forward_flops(config.model, run.layer, config.job.attended()).value}});
  task.map = make_stage_map(config.plan);
  return task;
}

}  // namespace rankwright::cost
