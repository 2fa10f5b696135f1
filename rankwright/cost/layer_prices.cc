#include "rankwright/cost/layer_prices.h"

#include "rankwright/plan/messages.h"

namespace rankwright::cost {

LayerPrices layer_prices(const plan::TrainingConfig& config, const Links& links,
                         const cluster::Calibration& calibration) {
  LayerPrices prices{.rates = rates(config, calibration)};
  const BlockTime block = block_time(config, links, calibration);
  prices.kinds.reserve(config.model.runs.size());
  i64 first = 0;
  for (const model::LayerRun& run : config.model.runs) {
    prices.kinds.push_back({first, first + run.count,
                            layer_time(config, run.layer, prices.rates, links, block, calibration),
                            layer_share(config.model, run.layer, config.plan)});
    first += run.count;
  }
  prices.head = head_time(config, prices.rates, links, block, calibration);
  prices.embedding = embedding_time(config, prices.rates, links, block, calibration);
  prices.send = send_time(config, links);
  return prices;
}

Seconds send_time(const plan::TrainingConfig& config, const Links& links) {
  if (config.plan.pp == 1) return {};
  return links.time(plan::Op::send_recv, boundary_message(config, 0), mesh::GroupKind::pp);
}

}  // namespace rankwright::cost
