#include "rankwright/search/lower_bounds.h"

#include <algorithm>
#include <utility>

#include "rankwright/cost/step.h"
#include "rankwright/pipeline/order.h"

namespace rankwright::search {

Seconds min_time_of_whole_layers(const SearchContext& context, const plan::TrainingConfig& config,
                                 const cost::LayerCosts& prices, bool halved) {
  const i64 parts = halved ? 2 : 1;
  // With full recomputation of n layers per stage, it is not known yet which layers those are.
  const bool again = config.plan.recompute_layers == 0;
  Seconds max{}, lightest = kInfiniteTime;
  i64 layers = 0;
  const auto add = [&](i64 count, Seconds each) {
    const i64 most = ceil_div(parts * count, config.plan.pp);
    max = std::max(max, double(most) / double(parts) * each);
  };
  for (const cost::LayerKindCost& kind : prices.kinds) {
    const bool last = &kind == &prices.kinds.back();
    const i64 count = kind.end - kind.first + (last ? config.model.mtp_layers : 0);
    const Seconds each = kind.time.forward.total() + kind.time.backward() +
                         (again ? kind.time.again.total() : Seconds{});
    add(count, each);
    layers += count;
    lightest = std::min(lightest, each);
  }
  add(layers, lightest);
  return context.overheads.lengthen(double(config.microbatches()) * max);
}

Seconds min_step_time(const SearchContext& context, const plan::TrainingConfig& config,
                      const cost::LayerCosts& prices) {
  return std::max(cost::min_time(config, context.calibration, prices),
                  min_time_of_whole_layers(context, config, prices, true));
}

Seconds min_compute_time(const SearchContext& context, plan::TrainingConfig& config) {
  const bool before = std::exchange(config.plan.sequence_parallel, true);
  if (find_first_violation(config)) config.plan.sequence_parallel = false;
  const plan::CpComm comm = std::exchange(config.plan.cp_comm, kFastestKernels);
  const Seconds min =
      min_step_time(context, config,
                    estimate_layer_costs(config, cost::Links::none(config, context.calibration),
                                         context.calibration));
  config.plan.sequence_parallel = before;
  config.plan.cp_comm = comm;
  return min;
}

ShareBounds bound_shares(const plan::TrainingConfig& config) {
  const model::Model& model = config.model;
  const plan::Plan& plan = config.plan;
  ShareBounds bounds;
  double least_dense = 1, least_expert = 1;  // fractions of a layer, of one with experts
  i64 without_experts = 0;
  const auto add = [&](const plan::Share& share, i64 count) {
    const double total = double(share.total());
    if (count == 0 || total == 0) return;
    bounds.all += count * share;
    least_dense = std::min(least_dense, double(share.dense) / total);
    if (share.expert > 0)
      least_expert = std::min(least_expert, double(share.expert) / total);
    else
      without_experts += count * share.total();
  };
  for (const model::LayerRun& run : model.runs)
    add(count_layer_share(model, run.layer, plan), run.count);
  if (model.mtp_layers > 0) add(count_mtp_share(config), model.mtp_layers);
  add(plan::count_embedding_share(model, plan.tp), 1);
  add(plan::count_encoder_share(model, plan.tp), 1);
  add(plan::count_head_share(model, plan.tp, !model.tied), 1);
  // The rank with the most has at least the mean. The fewest experts are there if it has all that
  // is without experts.
  const double mean = double(bounds.all.total()) / double(plan.pp);
  bounds.heaviest.dense = i64(least_dense * mean);
  if (bounds.all.expert > 0)
    bounds.heaviest.expert = i64(least_expert * std::max(0.0, mean - double(without_experts)));
  return bounds;
}

EndStages find_end_stages(const plan::Stages& stages, const Pipe& pipe, i64 pp, i64 recomputed) {
  const bool loop = row(pipe.schedule).stage_order == pipeline::StageOrder::loop;
  if (!loop || pp == 1 || !stages.front().embedding || !stages.back().loss) return {};
  EndStages ends{.known = true};
  i64 rank = 0;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const double layers = double(stages[s].layers + stages[s].mtp);
    const double again = double(std::min(stages[s].layers, recomputed));
    if (rank == 0) ends.first += layers, ends.first_again += again;
    if (rank == pp - 1) ends.last += layers, ends.last_again += again;
    if (i64(s) < pp - 1) ends.before += layers;
    if (++rank == pp) rank = 0;
  }
  return ends;
}

Seconds min_time(const SearchContext& context, const plan::TrainingConfig& config,
                 const PricedOrder& order, const Pipe& pipe, const EndStages& ends) {
  const Seconds min = order.min_with(pipe);
  if (!ends.known) return min;
  const cost::LayerCosts& p = order.prices;
  const auto backward = [](const cost::EmbeddingHeadTime& edge) {
    return edge.input.total() + edge.weight.total();
  };
  const double m = double(config.microbatches());
  const double hops = double(config.plan.pp - 1);
  const Seconds layer = order.forward + order.backward;
  const Seconds embedding = p.embedding.forward.total() + backward(p.embedding);
  const Seconds head =
      double(1 + config.model.mtp_layers) * (p.head.forward.total() + backward(p.head));
  Seconds last = ends.before * order.forward + p.embedding.forward.total() + hops * p.send() +
                 m * (ends.last * layer + ends.last_again * order.again + head);
  if (!row(pipe.schedule).splits_backward)
    last += ends.before * order.backward + backward(p.embedding) + hops * p.send();
  const Seconds first = m * (ends.first * layer + ends.first_again * order.again + embedding);
  return std::max(min, context.overheads.lengthen(std::max(first, last)));
}

}  // namespace rankwright::search
