#include "rankwright/cost/layer_prices.h"

#include <utility>

#include "rankwright/plan/messages.h"

namespace rankwright {

LayerPrices layer_prices(const Setup& setup, const Calibration& calibration, Links links) {
  LayerPrices prices{.rates = rates(setup, calibration), .links = std::move(links)};
  const BlockTime block = block_time(setup, prices.links, calibration);
  prices.kinds.reserve(setup.model.runs.size());
  i64 first = 0;
  for (const LayerRun& run : setup.model.runs) {
    prices.kinds.push_back(
        {first, first + run.count,
         layer_time(setup, run.layer, prices.rates, prices.links, block, calibration),
         layer_share(setup.model, run.layer, setup.plan)});
    first += run.count;
  }
  prices.head = head_time(setup, prices.rates, prices.links, block, calibration);
  prices.embedding = embedding_time(setup, prices.rates, prices.links, block, calibration);
  if (setup.plan.pp > 1)
    prices.send = prices.links.time(Op::send_recv, boundary_message(setup, 0), GroupKind::pp);
  return prices;
}

LayerPrices layer_prices(const Setup& setup, const Calibration& calibration) {
  return layer_prices(setup, calibration, Links(setup, calibration));
}

}  // namespace rankwright
