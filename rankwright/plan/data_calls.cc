#include "rankwright/plan/data_calls.h"

namespace rankwright::plan {
namespace {

/// Adds calls to a piece of the same size, or a new piece.
void add_piece(std::vector<CallPiece>& pieces, i64 elements, i64 calls) {
  if (elements <= 0 || calls <= 0) return;
  for (CallPiece& piece : pieces)
    if (piece.elements == elements) {
      piece.calls += calls;
      return;
    }
  pieces.push_back({elements, calls});
}

/// Adds the buckets of one chunk: full ones, and one with the rest.
void add_buckets(std::vector<CallPiece>& pieces, i64 elements, i64 bucket) {
  add_piece(pieces, bucket, elements / bucket);
  add_piece(pieces, elements % bucket, 1);
}

/// Adds the adapters of a chunk, one unit per layer.
void add_adapters(DataShape& shape, const TrainingConfig& config, const RankContents& chunk) {
  const auto add = [&](const model::Layer& layer, i64 count) {
    const Share each = count_adapter_share(config, layer);
    add_piece(shape.dense_trained, each.dense, count);
    add_piece(shape.expert_trained, each.expert, count);
  };
  for (const model::LayerRun& run : chunk.runs) add(run.layer, run.count);
  if (chunk.mtp > 0) add(config.model.runs.back().layer, chunk.mtp);
}

}  // namespace

DataShape make_data_shape(const TrainingConfig& config, const Stages& stages, i64 pp_rank) {
  DataShape shape{.copies = config.plan.pp > 1 && has_vocabulary_copies(config, stages)};
  const i64 bucket = count_bucket_elements(config.plan);
  const std::vector<RankContents> chunks = list_chunk_contents(config, stages, pp_rank);
  for (const Holding& chunk : list_chunk_holdings(config, pp_rank, chunks, shape.copies)) {
    add_buckets(shape.dense[0], chunk.share.dense, bucket);
    add_piece(shape.dense[1], chunk.apart, 1);
    add_buckets(shape.dense[1], chunk.share.dense - chunk.apart, bucket);
    add_buckets(shape.expert, chunk.share.expert, bucket);
    shape.share += chunk.share;
  }
  for (const RankContents& chunk : chunks) {
    shape.vocabulary = shape.vocabulary || chunk.embeds() || (config.model.tied && chunk.loss);
    for (const Unit& unit : list_units(config, chunk, shape.copies)) {
      add_piece(unit.backward ? shape.dense_units : shape.dense_forward, unit.share.dense,
                unit.count);
      add_piece(unit.backward ? shape.expert_units : shape.expert_forward, unit.share.expert,
                unit.count);
      if (!has_frozen_weights(config) || !unit.trained) continue;
      add_piece(shape.dense_trained, unit.share.dense, unit.count);
      add_piece(shape.expert_trained, unit.share.expert, unit.count);
    }
    if (config.job.frozen()) add_adapters(shape, config, chunk);
    if (reduces_weights_alone(config)) {
      const auto add = [&](const std::vector<i64>& weights, i64 count) {
        for (const i64 elements : weights) add_piece(shape.partial, elements, count);
      };
      for (const model::LayerRun& run : chunk.runs)
        add(list_partial_weights(config, run.layer), run.count);
      if (chunk.mtp > 0) add(list_partial_mtp_weights(config), chunk.mtp);
      if (chunk.loss) add(list_partial_head_weights(config), 1);
    }
  }
  return shape;
}

bool keeps_gathered_weights(const TrainingConfig& config) {
  return config.plan.zero >= 3 && config.software.fsdp && config.plan.pp > 1;
}

i64 partial_gradient_bytes(const TrainingConfig& config) {
  return reduces_every_microbatch(config) ? config.job.activation_bytes() : config.job.grad_bytes();
}

i64 count_weight_gathers(const TrainingConfig& config) {
  if (config.plan.zero < 3) return config.plan.zero == 0 ? 0 : 1;
  const i64 m = config.stage_microbatches();
  return keeps_gathered_weights(config) ? m + 1 : 2 * m;
}

Bytes count_tied_gradient_bytes(const TrainingConfig& config, const DataShape& shape) {
  if (!shape.copies || !trains_embedding(config)) return {};
  const Plan& plan = config.plan;
  return bytes(count_vocabulary_weight(config.model, plan.tp).dense, config.job.grad_bytes()) /
         (plan.zero >= 2 ? plan.shards() : 1);
}

}  // namespace rankwright::plan
