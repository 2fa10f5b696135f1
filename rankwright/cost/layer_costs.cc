#include "rankwright/cost/layer_costs.h"

#include "rankwright/plan/messages.h"

namespace rankwright::cost {

LayerCosts estimate_layer_costs(const plan::TrainingConfig& config, const Links& links,
                                const cluster::Calibration& calibration) {
  LayerCosts prices{.rates = compute_rates(config, calibration)};
  const BlockTime block = estimate_block_time(config, links, calibration);
  prices.kinds.reserve(config.model.runs.size());
  i64 first = 0;
  for (const model::LayerRun& run : config.model.runs) {
    prices.kinds.push_back(
        {first, first + run.count,
         estimate_layer_time(config, run.layer, prices.rates, links, block, calibration),
         count_layer_share(config.model, run.layer, config.plan)});
    first += run.count;
  }
  prices.head = estimate_head_time(config, prices.rates, links, block, calibration);
  prices.embedding = estimate_embedding_time(config, prices.rates, links, block, calibration);
  prices.send = estimate_send_time(config, links);
  return prices;
}

Seconds estimate_send_time(const plan::TrainingConfig& config, const Links& links) {
  if (config.plan.pp == 1) return {};
  return links.time(plan::Op::send_recv, compute_boundary_message(config, 0), mesh::GroupKind::pp);
}

}  // namespace rankwright::cost
