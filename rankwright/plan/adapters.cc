#include "rankwright/plan/adapters.h"

#include <algorithm>
#include <utility>

#include "rankwright/plan/frozen.h"

namespace rankwright::plan {
namespace {

constexpr i64 kGated = 3;  // matrices of a gated feed-forward

/// Returns whether the config runs LoRA on this project's runtime.
bool adapted_by_runtime(const TrainingConfig& config) {
  return config.job.frozen() && config.software.bare;
}

/// Appends the linear layers of a feed-forward of `width`.
void add_feed_forward(std::vector<AdaptedLinear>& list, const LoraModules& modules, i64 hidden,
                      const model::FeedForward& ffn, i64 width, i64 count, bool expert) {
  if (width == 0) return;
  const bool gate = modules.gate_proj && ffn.matrices == kGated;
  if (gate) list.push_back({hidden, width, count, expert});
  if (modules.up_proj) list.push_back({hidden, width, count, expert, !gate});
  if (modules.down_proj)
    list.push_back(
        {.in = width, .out = hidden, .count = count, .expert = expert, .splits_input = true});
}

void add_attention(std::vector<AdaptedLinear>& list, const LoraModules& modules, i64 hidden,
                   const model::Attention& a) {
  if (!a.present()) return;
  const bool latent = a.kind == model::Attention::Kind::latent;
  if (a.recurrent()) {
    if (modules.q_proj || modules.k_proj || modules.v_proj)
      list.push_back({hidden, a.projected_width()});
  } else if (latent) {
    if (modules.q_proj) list.push_back({a.q_rank > 0 ? a.q_rank : hidden, a.query_width()});
    if (modules.k_proj || modules.v_proj)
      list.push_back({a.kv_rank, a.heads * (a.nope_dim + a.value_dim)});
  } else {
    const i64 key = a.kv_heads * a.head_dim;
    bool first = true;
    const auto add = [&](bool adapted, i64 out) {
      if (adapted) list.push_back({hidden, out, 1, false, std::exchange(first, false)});
    };
    add(modules.q_proj, a.heads * a.head_dim);
    add(modules.k_proj, key);
    add(modules.v_proj, key);
  }
  if (modules.o_proj)
    list.push_back(
        {.in = a.value_width(), .out = hidden, .of_attention_output = true, .splits_input = true});
}

/// Returns the parameters of an adapter of the runtime on one tp rank. The half that all tp ranks
/// hold sees only a part of the inputs or outputs, with or without sequence parallelism.
Share count_half_split(const AdaptedLinear& linear, i64 rank, i64 tp) {
  const i64 split = ceil_div(linear.splits_input ? linear.in : linear.out, tp);
  const i64 whole = linear.splits_input ? linear.out : linear.in;
  return {
      .dense = rank * (split + whole), .sequence_shared = rank * whole, .head_norms = rank * whole};
}

}  // namespace

i64 adapter_bytes(const Job& job) { return std::max(Job::kAdapterBytes, job.scalar_bytes()); }

std::vector<AdaptedLinear> list_adapted(const TrainingConfig& config, const model::Layer& layer) {
  std::vector<AdaptedLinear> list;
  const Job& job = config.job;
  if (!job.frozen() || layer.training != model::Training::full) return list;
  const model::FeedForward& ffn = layer.ffn;
  const i64 hidden = config.model.hidden;
  add_attention(list, job.lora_modules, hidden, layer.attention);
  add_feed_forward(list, job.lora_modules, hidden, ffn, ffn.sparse() ? ffn.shared_width : ffn.width,
                   1, false);
  if (ffn.sparse())
    add_feed_forward(list, job.lora_modules, hidden, ffn, ffn.expert_width,
                     ceil_div(ffn.experts, config.plan.ep), true);
  return list;
}

Share count_adapter_share(const TrainingConfig& config, const model::Layer& layer) {
  Share share;
  for (const AdaptedLinear& linear : list_adapted(config, layer)) {
    if (adapted_by_runtime(config) && !linear.expert) {
      share += count_half_split(linear, config.job.lora_rank, config.plan.tp);
      continue;
    }
    const i64 both = config.job.lora_rank * (linear.in + linear.out);
    i64& sum = linear.expert ? share.expert : share.dense;
    sum += linear.count * ceil_div(both, linear.expert ? config.plan.etp : config.plan.tp);
  }
  return share;
}

Share count_adapter_share(const TrainingConfig& config, const RankContents& on_rank) {
  Share sum;
  if (!config.job.frozen()) return sum;
  for (const model::LayerRun& run : on_rank.runs)
    sum += run.count * count_adapter_share(config, run.layer);
  if (on_rank.mtp > 0)
    sum += on_rank.mtp * count_adapter_share(config, config.model.runs.back().layer);
  return sum;
}

Share count_trained_share(const TrainingConfig& config, const model::Layer& layer) {
  if (config.job.frozen()) return count_adapter_share(config, layer);
  if (layer.training != model::Training::full) return {};
  return count_layer_share(config.model, layer, config.plan);
}

Share count_trained_mtp_share(const TrainingConfig& config) {
  const model::Layer& last = config.model.runs.back().layer;
  if (config.job.frozen()) return count_adapter_share(config, last);
  return last.training == model::Training::full ? count_mtp_share(config) : Share{};
}

Share count_trained_share(const TrainingConfig& config, const RankContents& on_rank) {
  if (config.job.frozen()) return count_adapter_share(config, on_rank);
  Share sum;
  for (const Unit& unit : list_units(config, on_rank))
    if (unit.trained) sum += unit.count * unit.share;
  return sum;
}

bool gathers_adapters(const TrainingConfig& config) {
  return config.plan.zero >= 3 && adapted_by_runtime(config);
}

bool reads_attention_input_again(const TrainingConfig& config, const model::Layer& layer) {
  if (layer.training != model::Training::full) return false;
  const LoraModules& lora = config.job.lora_modules;
  return !adapted_by_runtime(config) ||
         (layer.attention.present() && (lora.q_proj || lora.k_proj || lora.v_proj));
}

bool reads_ffn_input_again(const TrainingConfig& config, const model::Layer& layer) {
  if (layer.training != model::Training::full) return false;
  const LoraModules& lora = config.job.lora_modules;
  return !adapted_by_runtime(config) || lora.up_proj ||
         (lora.gate_proj && layer.ffn.matrices == kGated);
}

bool reads_embedding_gradient(const TrainingConfig& config) {
  return !adapted_by_runtime(config) && !skips_embedding(config);
}

bool reads_head_input_again(const TrainingConfig& config) {
  const model::FrozenParts& frozen = config.model.frozen;
  return !adapted_by_runtime(config) && !(config.model.tied ? frozen.embedding : frozen.head);
}

}  // namespace rankwright::plan
