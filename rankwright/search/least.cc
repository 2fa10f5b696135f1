#include <algorithm>

#include "rankwright/cost/activations.h"
#include "rankwright/model/parameters.h"
#include "rankwright/program/schedule.h"
#include "rankwright/search/explorer.h"

namespace rankwright {

Seconds unlinked_time(const Ground& ground, Setup& setup) {
  const bool before = std::exchange(setup.plan.sequence_parallel, true);
  if (first_misfit(setup)) setup.plan.sequence_parallel = false;
  const Seconds least = rankwright::least_time(
      setup, ground.calibration,
      layer_prices(setup, Links::none(setup, ground.calibration), ground.calibration));
  setup.plan.sequence_parallel = before;
  return least;
}

/// What no rank's states are below on average, whatever is sharded of them that the limits allow.
void Explorer::weigh_states() {
  const Job& job = setup_.job;
  const Parameters all = parameters(setup_.model);
  const double stages = double(node_.pp);
  const double expert = double(all.experts) / double(node_.etp * node_.ep) / stages;
  const double dense = double(all.total() - all.experts) / double(node_.tp) / stages;
  const double each[] = {double(job.param_bytes()), double(job.grad_bytes()),
                         double(job.optimizer_bytes())};
  const double shard = dense / double(node_.dp * node_.cp) + expert / double(plan().expert_dp());
  // FSDP keeps its weights in shards from ZeRO-2 on.
  const int weights = setup_.software.fsdp ? 2 : 3;
  const int from[] = {weights, 2, 1};  // ZeRO stage that shards parameters, gradients, optimizer
  states_ = kEndless;
  for (const Sharding& sharding : shardings_) {
    double sum = 0;
    for (std::size_t k = 0; k < 3; ++k)
      sum += each[k] * (sharding.zero >= from[k] ? shard : dense + expert);
    states_ = std::min(states_, Bytes{sum});
  }
}

/// For every recompute, with the plan's microbatch and sequence parallelism.
void Explorer::weigh_layers() {
  const Recompute before = plan().recompute;
  for (const Recompute recompute : recomputes_) {
    plan().recompute = recompute;
    LayerWeights& sum = weights_[std::size_t(recompute)] = {.kept = {}, .lightest = kEndless};
    for (const LayerRun& run : setup_.model.runs) {
      const LayerActivations a = activations(setup_, run.layer);
      const Bytes each = recompute == Recompute::full ? a.input : a.kept;
      sum.kept += double(run.count) * each;
      sum.lightest = std::min(sum.lightest, each);
    }
  }
  plan().recompute = before;
}

/// No pipe of any recompute fits.
bool Explorer::never_fits() {
  const Recompute before = plan().recompute;
  const bool never = std::all_of(recomputes_.begin(), recomputes_.end(), [&](Recompute one) {
    plan().recompute = one;
    return std::all_of(pipes_.begin(), pipes_.end(),
                       [&](const Pipe& pipe) { return too_large(least_memory(pipe)); });
  });
  plan().recompute = before;
  return never;
}

/// The fullest pp rank holds no less than the mean: all its chunks of one microbatch, whose
/// backward begins behind its last forward (with DualPipe one of two stages), and its states.
Bytes Explorer::least_memory(const Pipe& pipe) const {
  const bool mirror = row(pipe.schedule).order == StageOrder::mirror;
  return (mirror ? 0.5 : 1) / double(node_.pp) * weights().kept + states_;
}

/// Pp rank 0 holds so many of its smallest chunk at least.
Bytes Explorer::least_on_first() const {
  const StageOrder order = row(setup_.plan.schedule).order;
  const i64 pp = node_.pp, stages = i64(stages_.size());
  i64 layers = stages_.front().layers;
  for (i64 pass = 1; pass * pp < stages; ++pass) {
    const bool back = order == StageOrder::vee && pass % 2 == 1;
    layers = std::min(layers, stages_[std::size_t(pass * pp + (back ? pp - 1 : 0))].layers);
  }
  if (order == StageOrder::mirror) layers = std::min(layers, stages_.back().layers);
  return double(most_in_flight(pipeline_shape(setup_), 0) * layers) * weights().lightest + states_;
}

Ends Explorer::ends(const Pipe& pipe) const {
  const bool loop = row(pipe.schedule).order == StageOrder::loop;
  const i64 pp = node_.pp;
  if (!loop || pp == 1 || !stages_.front().embedding || !stages_.back().loss) return {};
  Ends ends{.known = true};
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    const double layers = double(stages_[s].layers + stages_[s].mtp);
    const i64 rank = i64(s) % pp;
    if (rank == 0) ends.first += layers;
    if (rank == pp - 1) ends.last += layers;
    if (i64(s) < pp - 1) ends.before += layers;
  }
  return ends;
}

/// PT8 of the first and the last pp rank, without going through the stages.
Seconds Explorer::least_time(const Route& route, const Pipe& pipe, const Ends& ends) const {
  const Seconds least = route.least_with(pipe);
  if (!ends.known) return least;
  const LayerPrices& p = route.prices;
  const auto backward = [](const EdgeTime& edge) {
    return edge.input.total() + edge.weight.total();
  };
  const double m = double(setup_.microbatches());
  const double hops = double(node_.pp - 1);
  const Seconds layer = route.forward + route.backward;
  const Seconds embedding = p.embedding.forward.total() + backward(p.embedding);
  const Seconds head =
      double(1 + setup_.model.mtp_layers) * (p.head.forward.total() + backward(p.head));
  Seconds last = ends.before * route.forward + p.embedding.forward.total() + hops * p.send +
                 m * (ends.last * layer + head);
  if (!row(pipe.schedule).splits_backward)
    last += ends.before * route.backward + backward(p.embedding) + hops * p.send;
  const Seconds first = m * (ends.first * layer + embedding);
  return std::max(least, slowed(setup_, ground_.calibration, std::max(first, last)));
}

/// What needs so much does not fit, and where nothing is known to fit it is not the leanest either.
bool Explorer::too_large(Bytes least) const {
  return ground_.bounds && least > problem_.capacity && (best_ < kNever || least >= leanest_);
}

}  // namespace rankwright
