#include "rankwright/cost/layer_costs.h"

#include "rankwright/plan/adapters.h"
#include "rankwright/plan/encoder.h"
#include "rankwright/plan/frozen.h"
#include "rankwright/plan/messages.h"

namespace rankwright::cost {
namespace {

/// Estimates the layers of the encoder on the images of a microbatch, each with its part of what is
/// before and after them. Its tensor-parallel collectives are not estimated.
std::vector<EncoderCost> estimate_encoder_time(const plan::TrainingConfig& config,
                                               const Rates& rates,
                                               const cluster::Calibration& calibration) {
  const plan::TrainingConfig encoder = make_encoder_config(config);
  const Links links = Links::none(encoder, calibration);
  const TensorComm tensor(encoder, links, calibration);
  const model::Encoder& shape = config.model.encoder;
  const double tokens = double(encoder.plan.micro_batch) * double(find_image_tokens(config));
  const Flops work{2 * tokens *
                   (double(shape.projector) + double(shape.merge) * double(shape.stem)) /
                   double(config.plan.tp * config.model.encoder_layers)};
  const Seconds ends = work / rates.half;
  std::vector<EncoderCost> kinds;
  for (const model::LayerRun& run : encoder.model.runs) {
    LayerTime time = estimate_layer_time(encoder, run.layer, rates, links, tensor, calibration);
    time.forward.matmul += ends;
    if (time.runs_backward) {
      time.input.matmul += ends;
      time.weight.matmul += ends;
    }
    time.recompute(config.plan);
    kinds.push_back({run.count, std::move(time)});
  }
  return kinds;
}

}  // namespace

LayerCosts estimate_layer_costs(const plan::TrainingConfig& config, const Links& links,
                                const cluster::Calibration& calibration) {
  LayerCosts prices{.rates = compute_rates(config, calibration)};
  const TensorComm tensor(config, links, calibration);
  prices.kinds.reserve(config.model.runs.size());
  i64 first = 0;
  for (std::size_t i = 0; i < config.model.runs.size(); ++i) {
    const model::LayerRun& run = config.model.runs[i];
    LayerKindCost kind{.first = first, .end = first + run.count};
    // Patterns repeat a few kinds of layers many times: each is priced once.
    std::size_t same = 0;
    while (same < i && config.model.runs[same].layer != run.layer) ++same;
    if (same < i) {
      kind.time = prices.kinds[same].time;
      kind.share = prices.kinds[same].share;
      kind.trained = prices.kinds[same].trained;
    } else {
      kind.time = estimate_layer_time(config, run.layer, prices.rates, links, tensor, calibration);
      kind.share = count_layer_share(config.model, run.layer, config.plan);
      kind.trained =
          has_frozen_weights(config) ? count_trained_share(config, run.layer) : kind.share;
    }
    prices.kinds.push_back(std::move(kind));
    first += run.count;
  }
  prices.head = estimate_head_time(config, prices.rates, links, tensor, calibration);
  prices.embedding = estimate_embedding_time(config, prices.rates, links, tensor, calibration);
  if (config.model.mtp_layers > 0) {
    prices.projection = estimate_projection_time(config, prices.rates, links, tensor, calibration);
    prices.mtp = prices.projection;
    prices.mtp += prices.embedding;
  }
  if (runs_encoder(config))  // L12
    prices.encoder = estimate_encoder_time(config, prices.rates, calibration);
  prices.sends = estimate_send_times(config, links);
  return prices;
}

std::vector<Seconds> estimate_send_times(const plan::TrainingConfig& config, const Links& links) {
  std::vector<Seconds> times;
  if (config.plan.pp == 1) return times;
  for (i64 mtp = 0; mtp <= config.model.mtp_layers; ++mtp)
    times.push_back(links.time(plan::TrafficKind::pp_forward, plan::Op::send_recv,
                               compute_boundary_message(config, mtp), mesh::GroupKind::pp));
  return times;
}

}  // namespace rankwright::cost
