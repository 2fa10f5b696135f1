#include "rankwright/cost/layer_prices.h"

#include "rankwright/plan/messages.h"

namespace rankwright {

LayerPrices layer_prices(const Setup& setup, const Links& links, const Calibration& calibration) {
  LayerPrices prices{.rates = rates(setup, calibration)};
  const BlockTime block = block_time(setup, links, calibration);
  prices.kinds.reserve(setup.model.runs.size());
  i64 first = 0;
  for (const LayerRun& run : setup.model.runs) {
    prices.kinds.push_back({first, first + run.count,
                            layer_time(setup, run.layer, prices.rates, links, block, calibration),
                            layer_share(setup.model, run.layer, setup.plan)});
    first += run.count;
  }
  prices.head = head_time(setup, prices.rates, links, block, calibration);
  prices.embedding = embedding_time(setup, prices.rates, links, block, calibration);
  prices.send = send_time(setup, links);
  return prices;
}

Seconds send_time(const Setup& setup, const Links& links) {
  if (setup.plan.pp == 1) return {};
  return links.time(Op::send_recv, boundary_message(setup, 0), GroupKind::pp);
}

}  // namespace rankwright
