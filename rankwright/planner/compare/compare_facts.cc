#include "rankwright/planner/compare/compare_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rankwright/base/format.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/memory/states.h"
#include "rankwright/cost/rates.h"
#include "rankwright/model/flops.h"
#include "rankwright/pipeline/bubble.h"
#include "rankwright/plan/shares.h"
#include "rankwright/planner/explain/stages_view.h"

namespace rankwright::planner {
namespace {

/// Returns the layer kind with the most layers.
const model::Layer& most_common_layer(const model::Model& model) {
  return std::max_element(
             model.runs.begin(), model.runs.end(),
             [](const model::LayerRun& a, const model::LayerRun& b) { return a.count < b.count; })
      ->layer;
}

/// Work of the layers: matmuls and attention core.
struct LayerWork {
  Flops matmuls{}, core{};
};

/// Returns the work of one device in a step, forward and backward, including MTP modules.
LayerWork compute_layer_work(const FactContext& s) {
  const plan::TrainingConfig& config = s.config();
  LayerWork sum;
  const auto add = [&](i64 layers, const model::Layer& layer) {
    const model::LayerFlops each = count_layer_flops(config.model, layer, config.job.sequence);
    sum.matmuls += layers * (each.projections + each.mlp + each.experts);
    sum.core += layers * each.core;
  };
  for (const model::LayerRun& run : config.model.runs) add(run.count, run.layer);
  if (config.model.mtp_layers > 0) add(config.model.mtp_layers, config.model.runs.back().layer);
  const double times = 3 * s.tokens() / double(config.world);
  return {times * sum.matmuls, times * sum.core};
}

/// Returns "61.2 %": the share of the device's peak that the work reaches.
std::string percent_of_peak(Flops work, Seconds time, FlopsPerSecond max) {
  return percent(std::round(1000 * (work / time / max)) / 1000);
}

/// Returns "4,096 x 3,584": rows and columns of the feed-forward's first matrix on a rank.
Fact matmul_shape(const plan::TrainingConfig& s) {
  const plan::Plan& p = s.plan;
  const model::FeedForward& ffn = most_common_layer(s.model).ffn;
  const double rows = double(p.micro_batch) * double(s.job.sequence) / double(p.cp) *
                      (ffn.sparse() ? 1 / double(p.tp) : 1);
  if (!ffn.sparse())
    return {"", fmt::format("{} x {}", count(std::llround(rows)), count(ffn.width / p.tp)),
            " rows and columns of a feed-forward matrix on a rank"};
  const double visits = rows * double(ffn.active * p.ep * p.etp) / double(ffn.experts);
  return {"", fmt::format("{} x {}", count(std::llround(visits)), count(ffn.expert_width / p.etp)),
          " rows and columns of an expert's matrix on a rank"};
}

/// Returns the number of GPUs that share the work of a step.
Fact world_size(const FactContext& s) {
  return {"on ", s.plan.by_token ? "" : count(s.config().world), " GPUs", true};
}

/// Returns the peak throughput that a share of peak is relative to.
Fact peak_rate(FlopsPerSecond max) {
  return {"a peak of ", count(std::llround(max / 1.0_TFLOPS)), " TFLOP/s", true};
}

Facts list_matmul_facts(const FactContext& s) {
  const FlopsPerSecond max = cost::find_layer_peak(s.config());
  return {
      world_size(s),
      peak_rate(max),
      {"", percent_of_peak(compute_layer_work(s).matmuls, s.step()[s.item], max), " of peak"},
      matmul_shape(s.config()),
      {"",
       std::string(s.config().job.matmul == plan::Matmul::same ? name(s.config().job.param_dtype)
                                                               : name(s.config().job.matmul)),
       ""}};
}

Facts list_attention_facts(const FactContext& s) {
  const plan::TrainingConfig& config = s.config();
  const FlopsPerSecond max = cost::peak(config.cluster.device, plan::Dtype::bf16);
  return {world_size(s),
          peak_rate(max),
          {"", percent_of_peak(compute_layer_work(s).core, s.step()[s.item], max), " of peak"},
          {"", count(config.job.sequence), " tokens per sequence"},
          {"", std::string(name(config.software.attention)), " kernel"}};
}

Facts list_elementwise_facts(const FactContext& s) {
  const plan::Plan& p = s.config().plan;
  return {
      {"layers cut over tp ", count(p.tp), ""},
      {"norms ", p.tp > 1 && p.sequence_parallel ? "cut along the sequence" : "whole", ""},
      {"at ", show(cost::compute_rates(s.config(), select_calibration(s.config())).memory), ""}};
}

Facts list_cast_facts(const FactContext& s) {
  return {{"matmuls in ", std::string(name(s.config().job.matmul)), ""},
          {"layers cut over tp ", count(s.config().plan.tp), ""}};
}

Facts list_permute_facts(const FactContext& s) {
  return {{"ep ", count(s.config().plan.ep), ""}, {"tp ", count(s.config().plan.tp), ""}};
}

Facts list_vocabulary_facts(const FactContext& s) {
  return {{"vocabulary cut over tp ", count(s.config().plan.tp), ""},
          {"head on one of ", count(s.config().plan.pp), " PP ranks"},
          {"loss ", std::string(name(s.config().software.loss)), ""}};
}

/// Returns the link of the tensor-parallel collectives, which recomputation repeats.
Fact recompute_link(const plan::TrainingConfig& config) {
  const int level = cost::find_span(config, mesh::GroupKind::tp).level;
  if (level < 0) return {};
  return {"with tp collectives on ", config.cluster.levels[std::size_t(level)].name, ""};
}

Facts list_recompute_facts(const FactContext& s) {
  const plan::Plan& p = s.config().plan;
  const std::string layers =
      p.recompute == plan::Recompute::full && p.recompute_layers > 0
          ? fmt::format(" of {} per stage", plural(p.recompute_layers, "layer", "layers"))
          : "";
  return {{"", std::string(name(p.recompute)) + layers, ""}, recompute_link(s.config())};
}

Facts list_launch_facts(const FactContext& s) {
  const plan::TrainingConfig& config = s.config();
  const i64 passes = config.microbatches() * ceil_div(config.model.layers(), config.plan.pp);
  return {{"", s.scale_count(passes), " layers to launch on a rank"},
          {"layers cut over tp ", count(config.plan.tp), ""},
          {"", std::string(name(config.software.launch)), ""}};
}

/// Returns the number of calls. Recomputed layers repeat their calls; the time of these is
/// recompute's.
Fact count_calls(const FactContext& s, i64 n) {
  const bool in_layers =
      s.item == cost::Item::tp || s.item == cost::Item::cp || s.item == cost::Item::ep;
  const bool again = in_layers && s.config().plan.recompute == plan::Recompute::full;
  return {"", s.scale_count(n) + (again ? " (with recompute's)" : ""),
          s.plan.by_token ? " calls a million tokens" : " calls"};
}

/// Returns the collective's link, its calls and its bytes.
Facts list_collective_facts(const FactContext& s) {
  if (s.collective == nullptr) return {};
  const cost::TrafficCost& p = s.collective->evaluated;
  return {{"on ", s.collective->level, ""},
          {"over ", count(p.span.size), " ranks"},
          count_calls(s, p.traffic.calls),
          {"of ", show(p.traffic.bytes()), ""},
          {"", show(p.total / p.traffic.calls), " a call"}};
}

Facts append(Facts facts, Fact more) {
  if (!facts.empty()) facts.push_back(std::move(more));
  return facts;
}

Facts list_tp_facts(const FactContext& s) {
  return append(list_collective_facts(s),
                {"", s.config().plan.overlap.tp ? "with" : "without", " overlap"});
}

Facts list_send_facts(const FactContext& s) {
  return append(list_collective_facts(s),
                {"", s.config().plan.overlap.pp ? "with" : "without", " overlap"});
}

/// Returns the time that the mean pp rank takes for its microbatches: the sum of the items before
/// sends.
Seconds mean_rank_time(const cost::StepTime& step) {
  Seconds sum{};
  for (const cost::ItemRow& of : cost::items()) {
    if (of.item == cost::Item::sends) break;
    sum += step[of.item];
  }
  return sum;
}

Facts list_imbalance_facts(const FactContext& s) {
  const i64 slowest = s.step().slowest;
  const plan::RankContents on_rank = contents(s.config(), slowest);
  const std::string edges = describe_edges(on_rank);
  return {
      {"the slowest is PP rank ", count(slowest), ""},
      {"", plural(on_rank.layers, "layer", "layers") + (edges.empty() ? "" : ", ") + edges,
       " on it"},
      {"", percent(s.step()[cost::Item::imbalance] / mean_rank_time(s.step())), " over the mean"}};
}

/// Returns the time of the slowest pp rank, including its sends.
Seconds slowest_rank_time(const cost::StepTime& step) {
  return mean_rank_time(step) + step[cost::Item::sends] + step[cost::Item::imbalance];
}

/// Returns the length of a slot, the unit of idle time; if the batches differ, the share of the
/// bubble.
Fact slot_length(const FactContext& s) {
  const cost::StepTime& step = s.step();
  if (s.plan.by_token)
    return {"", percent(step[cost::Item::bubble] / step.total()), " of the step"};
  const Seconds slot = slowest_rank_time(step) / s.config().microbatches();
  return {"a micro-batch takes ", show(slot), " on the slowest PP rank"};
}

Facts list_bubble_facts(const FactContext& s) {
  const plan::Plan& p = s.config().plan;
  const i64 m = s.config().microbatches();
  return {{"", std::string(name(p.schedule)), ""},
          {"", count(p.pp), " PP ranks"},
          {"", count(p.virtual_stages), p.virtual_stages == 1 ? " chunk each" : " chunks each"},
          {"", count(m), m == 1 ? " micro-batch" : " micro-batches"},
          {"", percent(pipeline::bubble_fraction(p.schedule, p.pp, p.virtual_stages, m)),
           " ideal bubble"},
          slot_length(s)};
}

/// This item and jitter are a share of all others: if the share is equal, there is nothing to
/// explain.
Facts list_untuned_facts(const FactContext& s) {
  return {{"the recipe is ", s.config().software.tuned ? "tuned" : "not tuned", ""}};
}

Facts list_jitter_facts(const FactContext& s) { return {{"", count(s.config().world), " GPUs"}}; }

Facts list_dp_facts(const FactContext& s) {
  const Seconds shown = s.step()[cost::Item::dp], hidden = s.step().comm(cost::Item::dp).overlapped;
  Facts facts = list_collective_facts(s);
  if (facts.empty()) return facts;
  const int zero = s.config().plan.zero;
  const double share = hidden / (shown + hidden);
  facts.insert(facts.begin(), {{"", percent(std::round(100 * share) / 100), " hidden"},
                               {"", zero == 0 ? "no ZeRO" : fmt::format("ZeRO-{}", zero), ""}});
  return facts;
}

Facts list_optimizer_facts(const FactContext& s) {
  plan::Share max;
  for (const plan::RankContents& on_rank : list_rank_contents(s.config()))
    if (const plan::Share share = count_rank_share(s.config(), on_rank);
        share.total() > max.total())
      max = share;
  const plan::Plan& p = s.config().plan;
  const double all = double(max.total());
  const double shard =
      double(max.dense) / double(p.shards()) + double(max.expert) / double(p.expert_dp());
  // X8: gradients are cast and weights copied on what a rank holds, states updated on its shard.
  return {{"a rank casts and copies ",
           format_short_count(cost::shards_weights(s.config()) ? shard : all), " parameters"},
          {"", format_short_count(p.zero == 0 ? all : shard), " updated"}};
}

Facts list_reference_facts(const FactContext& s) {
  return {{"", s.config().job.ref_model ? "a" : "no", " reference model"}};
}

Facts list_offload_facts(const FactContext& s) {
  return {{"offloads ", show(s.config().plan.offload), ""}};
}

constexpr CauseRow kRows[] = {
    {cost::Item::matmul, list_matmul_facts},
    {cost::Item::attention, list_attention_facts},
    {cost::Item::elementwise, list_elementwise_facts},
    {cost::Item::casts, list_cast_facts},
    {cost::Item::permute, list_permute_facts},
    {cost::Item::vocabulary, list_vocabulary_facts},
    {cost::Item::recompute, list_recompute_facts},
    {cost::Item::launch, list_launch_facts},
    {cost::Item::tp, list_tp_facts},
    {cost::Item::cp, list_collective_facts},
    {cost::Item::ep, list_collective_facts},
    {cost::Item::sends, list_send_facts},
    {cost::Item::imbalance, list_imbalance_facts},
    {cost::Item::bubble, list_bubble_facts},
    {cost::Item::untuned, list_untuned_facts, true},
    {cost::Item::dp, list_dp_facts},
    {cost::Item::optimizer, list_optimizer_facts},
    {cost::Item::reference, list_reference_facts},
    {cost::Item::offload, list_offload_facts},
    {cost::Item::jitter, list_jitter_facts, true},
};
static_assert(std::size(kRows) == cost::kItems);

}  // namespace

std::string FactContext::scale_count(i64 n) const {
  return count(std::llround(plan.scale * double(n)));
}

const CauseRow& find_cause_row(cost::Item item) { return kRows[std::size_t(item)]; }

}  // namespace rankwright::planner
