#include "rankwright/validate/memory_gap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rankwright/base/format.h"
#include "rankwright/plan/messages.h"
#include "rankwright/plan/shares.h"
#include "rankwright/rules/change.h"

namespace rankwright::validate {
namespace {

constexpr double kSame = 0.02;  // sizes with a smaller relative difference count as equal

/// The plausible range of an entry relative to its formula.
struct GrowthRow {
  cost::Entry entry;
  double more, less;
  std::string_view reason, suggestion;
};
constexpr GrowthRow kGrowths[] = {
    {cost::Entry::parameters, 1.3, 1.3, "a second copy, or other sharding of the weights",
     "the run's ZeRO stage and weight formats"},
    {cost::Entry::gradients, 2, 2, "another gradient format than in the plan",
     "job.grad_dtype; --grad-reduce-in-bf16"},
    {cost::Entry::optimizer, 1.5, 2, "another format or sharding of the states",
     "the ZeRO stage; --use-distributed-optimizer; precision-aware optimizers"},
    {cost::Entry::activations, 1.4, 1.4, "kernels that keep more activations than needed",
     "parallelism.recompute; fused kernels; micro-batches in flight"},
    {cost::Entry::recomputed_layer, 2, 2, "recomputed activations stay until their layer is done",
     ""},
    {cost::Entry::layer_gradients, 2, 2, "gradients inside a layer stay longer", ""},
    {cost::Entry::logits, 2.5, 2.5, "fp32 copies of logits",
     "job.loss; --cross-entropy-loss-fusion"},
    {cost::Entry::gathered_units, 2, 2, "prefetched units, or units that are not resharded",
     "FSDP's wrapping and prefetching"},
    {cost::Entry::workspace, 30, 3, "library workspaces per stream", "CUBLAS_WORKSPACE_CONFIG"},
    {cost::Entry::reserve, 3, 3, "fragmentation",
     "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"},
};

Bytes get_figure(const cost::MemoryEstimate& estimate, MemoryFigure figure) {
  return figure == MemoryFigure::allocated ? estimate.allocated() : estimate.reserved();
}

/// Estimates the memory of a rank, or of the fullest pp rank if `rank` is not known.
cost::MemoryEstimate estimate_rank_memory(const plan::TrainingConfig& config,
                                          const cluster::Calibration& c, i64 rank) {
  if (rank < 0 || rank >= config.world) return cost::fullest(config, c);
  return cost::estimate_memory(config, config.plan.meshes().dense.coordinate(rank, mesh::Axis::pp),
                               c);
}

/// Adds, for each entry, the factor with which it alone explains the difference (V10).
void add_growths(MemoryGap& gap) {
  const bool more = gap.measured > gap.predicted;
  for (const GrowthRow& row : kGrowths) {
    const Bytes held = gap.memory_estimate[row.entry];
    const bool counted = row.entry != cost::Entry::reserve || gap.figure == MemoryFigure::reserved;
    if (held <= Bytes{} || !counted) continue;
    const double factor = (held + gap.measured - gap.predicted) / held;
    if (factor <= 0) continue;
    const double plausible = more ? row.more : row.less;
    gap.explanations.push_back({.name = std::string(rankwright::cost::row(row.entry).name),
                                .entry = row.entry,
                                .factor = factor,
                                .plausible = plausible,
                                .implausibility = std::abs(std::log(factor)) / std::log(plausible),
                                .evidence = std::string(row.reason),
                                .suggestion = std::string(row.suggestion)});
  }
}

/// Adds the settings, other than the plan's, that explain the difference.
void add_settings(MemoryGap& gap, const plan::TrainingConfig& config,
                  const cluster::Calibration& c) {
  const auto try_change = [&](const rules::Change& change) {
    if (!find_violations(change.config()).empty()) return;
    const cost::MemoryEstimate other =
        cost::estimate_memory(change.config(), gap.memory_estimate.pp_rank, c);
    const double off = std::abs(get_figure(other, gap.figure) / gap.measured - 1);
    if (off > kSame) return;
    cost::Entry max = cost::Entry::activations;
    double apart = -1;
    for (const cost::EntryRow& row : cost::entries())
      if (const double by = std::abs((other[row.entry] - gap.memory_estimate[row.entry]).value);
          by > apart)
        apart = by, max = row.entry;
    std::string typed;
    for (const Edit& edit : change.edits())
      typed += fmt::format("{}{}: {}", typed.empty() ? "" : ", ", edit.key, edit.value);
    gap.explanations.push_back(
        {.name = typed,
         .entry = max,
         .implausibility = 0.5 + off / kSame / 2,
         .evidence =
             fmt::format("predicted with it: {}", show_memory(get_figure(other, gap.figure))),
         .suggestion = "whether the run has this flag; if so, add it to the plan"});
  };
  for (const plan::Recompute what :
       {plan::Recompute::none, plan::Recompute::selective, plan::Recompute::full})
    if (what != config.plan.recompute) try_change(rules::Change(config).recompute(what));
  for (int zero = 0; zero <= 3; ++zero)
    if (zero != config.plan.zero) try_change(rules::Change(config).zero(zero));
  for (const plan::Loss loss :
       {plan::Loss::fused, plan::Loss::unfused, plan::Loss::sharded, plan::Loss::eager})
    if (loss != config.software.loss) try_change(rules::Change(config).loss(loss));
  if (config.plan.tp > 1)
    try_change(rules::Change(config).sequence_parallel(!config.plan.sequence_parallel));
  try_change(rules::Change(config).micro_batch(2 * config.plan.micro_batch));
}

constexpr importer::RunPhase kBuilding[] = {importer::RunPhase::building};
constexpr importer::RunPhase kPasses[] = {importer::RunPhase::forward,
                                          importer::RunPhase::backward};
constexpr importer::RunPhase kLoss[] = {importer::RunPhase::loss, importer::RunPhase::forward,
                                        importer::RunPhase::backward};
constexpr importer::RunPhase kStates[] = {importer::RunPhase::optimizer,
                                          importer::RunPhase::building};
constexpr importer::RunPhase kEdges[] = {
    importer::RunPhase::backward, importer::RunPhase::optimizer, importer::RunPhase::building};
constexpr importer::RunPhase kEdgeWeights[] = {importer::RunPhase::backward,
                                               importer::RunPhase::building};

void add_passes(std::vector<Tensor>& all, const plan::TrainingConfig& config,
                const plan::RankContents& on) {
  const plan::Messages sent = compute_messages(config);
  const double tokens =
      sent.hidden.value / double(config.model.hidden) / double(config.job.activation_bytes());
  const double tp = double(config.plan.tp);
  const double each = double(config.job.activation_bytes());
  const auto add = [&](std::string name, cost::Entry entry, double bytes,
                       std::span<const importer::RunPhase> phases) {
    if (bytes > 0) all.push_back({std::move(name), entry, Bytes{bytes}, phases});
  };
  const double logits = tokens * double(plan::count_vocabulary_rows(config.model, config.plan.tp));
  if (on.loss) {
    add("the fp32 logits of one micro-batch", cost::Entry::logits, 4 * logits, kLoss);
    add("the 16-bit logits of one micro-batch", cost::Entry::logits, 2 * logits, kLoss);
  }
  add("the hidden states of one micro-batch", cost::Entry::activations, sent.hidden.value, kPasses);
  if (sent.kept < sent.hidden)
    add("the hidden states of one TP rank", cost::Entry::activations, sent.kept.value, kPasses);
  for (const model::LayerRun& run : on.runs) {
    const model::FeedForward& ffn = run.layer.ffn;
    if (ffn.width > 0) {
      const double width = tokens * double(ffn.width) / tp * each;
      add("the feed-forward activations of one layer", cost::Entry::activations, width, kPasses);
      if (ffn.matrices == 3)
        add("the feed-forward gate and up projections of one layer", cost::Entry::activations,
            2 * width, kPasses);
    }
    if (ffn.sparse())
      add("the dispatched tokens of one layer", cost::Entry::activations,
          compute_expert_message(config, ffn).value, kPasses);
    const double scores =
        tokens * double(config.job.sequence) * double(run.layer.attention.heads) / tp;
    add("the 16-bit scores of unfused attention", cost::Entry::activations, 2 * scores, kPasses);
    add("the fp32 scores of unfused attention", cost::Entry::activations, 4 * scores, kPasses);
  }
}

void add_states(std::vector<Tensor>& all, const plan::TrainingConfig& config, i64 pp_rank) {
  const plan::Plan& plan = config.plan;
  const plan::Share share = count_rank_share(config, pp_rank);
  cost::RankLoads loads(config);
  const cost::RankLoad load = loads.of(pp_rank);
  const auto add = [&](std::string name, cost::Entry entry, double bytes,
                       std::span<const importer::RunPhase> phases) {
    if (bytes > 0) all.push_back({std::move(name), entry, Bytes{bytes}, phases});
  };
  const double dense = double(share.dense), shards = double(plan.shards());
  add("the gradient buffer", cost::Entry::gradients,
      dense * double(config.job.grad_bytes()) / (plan.zero >= 2 ? shards : 1), kBuilding);
  add("the weight buffer", cost::Entry::parameters,
      dense * double(config.job.param_bytes()) / (plan.zero >= 3 ? shards : 1), kBuilding);
  add("the experts' gradient buffer", cost::Entry::gradients,
      double(share.expert) * double(config.job.grad_bytes()), kBuilding);
  add("one fp32 optimizer state of all weights", cost::Entry::optimizer,
      4 * dense / (plan.zero >= 1 ? shards : 1), kStates);
  const double rows =
      double(plan::count_vocabulary_rows(config.model, plan.tp)) * double(config.model.hidden);
  add("the fp32 embedding or output head: a gradient or a state", cost::Entry::embedding_gradient,
      4 * rows, kEdges);
  add("the 16-bit embedding or output head: a weight or a gradient",
      cost::Entry::embedding_gradient, 2 * rows, kEdgeWeights);
  if (plan.zero >= 3)
    add("the gathered weights of one layer", cost::Entry::gathered_units,
        double(load.largest_layer) * double(config.job.activation_bytes()), kPasses);
}

/// Guesses the entry from the phase of the run, if no tensor has the size.
cost::Entry guess_by_phase(const OomGap& gap) {
  const cost::MemoryEstimate& estimate = gap.memory_estimate;
  const auto larger = [&](cost::Entry a, cost::Entry b) {
    return estimate[a] >= estimate[b] ? a : b;
  };
  const cost::Entry state =
      larger(larger(cost::Entry::optimizer, cost::Entry::gradients), cost::Entry::parameters);
  switch (gap.oom.phase) {
    case importer::RunPhase::building:
      return state;
    case importer::RunPhase::optimizer:
      return cost::Entry::optimizer;
    case importer::RunPhase::loss:
      return cost::Entry::logits;
    case importer::RunPhase::forward:
      return cost::Entry::activations;
    case importer::RunPhase::backward:
      return larger(cost::Entry::activations, cost::Entry::layer_gradients);
    case importer::RunPhase::unknown:
      break;
  }
  const bool states = gap.oom.allocated > Bytes{} && gap.oom.allocated < estimate.states();
  return gap.oom.steps == 0 && states ? state : cost::Entry::activations;
}

bool in_phase(const Tensor& tensor, importer::RunPhase phase) {
  return phase == importer::RunPhase::unknown ||
         std::find(tensor.phases.begin(), tensor.phases.end(), phase) != tensor.phases.end();
}

/// Finds the entry whose allocation failed (V11).
void find_entry(OomGap& gap, const plan::TrainingConfig& config) {
  for (const Tensor& tensor : list_tensors(config, gap.memory_estimate.pp_rank))
    if (std::abs(tensor.bytes / gap.oom.wanted - 1) <= kSame) gap.alike.push_back(tensor);
  std::stable_partition(gap.alike.begin(), gap.alike.end(),
                        [&](const Tensor& t) { return in_phase(t, gap.oom.phase); });
  if (gap.oom.unallocated >= gap.oom.wanted) {
    gap.entry = cost::Entry::reserve;
    gap.why = fmt::format("the allocator holds {} in pieces that are too small",
                          show_memory(gap.oom.unallocated));
  } else if (!gap.alike.empty() && in_phase(gap.alike.front(), gap.oom.phase)) {
    gap.entry = gap.alike.front().entry;
    gap.why =
        fmt::format("{} are {}", show_memory(gap.alike.front().bytes), gap.alike.front().name);
  } else {
    gap.entry = guess_by_phase(gap);
    gap.why = gap.oom.phase == importer::RunPhase::unknown
                  ? fmt::format(
                        "no tensor of the plan has this size, and the log does not show the "
                        "operation; after {}",
                        plural(gap.oom.steps, "step", "steps"))
                  : fmt::format("no tensor of the plan has this size; the traceback ends in: {}",
                                name(gap.oom.phase));
  }
}

}  // namespace

bool MemoryGap::inside() const { return std::abs(error()) <= band.within; }

std::optional<MemoryGap> explain_memory_gap(const plan::TrainingConfig& config,
                                            const cluster::Calibration& calibration,
                                            const importer::RunLog& log) {
  MemoryGap gap{.band = {}};
  for (const auto& [rank, peak] : log.peaks) {
    const MemoryFigure figure =
        peak.allocated > Bytes{} ? MemoryFigure::allocated : MemoryFigure::reserved;
    const Bytes held = figure == MemoryFigure::allocated ? peak.allocated : peak.reserved;
    if (held <= gap.measured) continue;
    gap.rank = rank, gap.figure = figure, gap.measured = held;
  }
  if (gap.measured <= Bytes{} || config.reference_model) return std::nullopt;
  gap.memory_estimate = estimate_rank_memory(config, calibration, gap.rank);
  gap.predicted = get_figure(gap.memory_estimate, gap.figure);
  gap.band = cost::estimate_plan(config, calibration).memory_band;
  add_growths(gap);
  add_settings(gap, config, calibration);
  std::stable_sort(gap.explanations.begin(), gap.explanations.end(),
                   [](const MemoryExplanation& a, const MemoryExplanation& b) {
                     return a.implausibility < b.implausibility;
                   });
  return gap;
}

std::vector<Tensor> list_tensors(const plan::TrainingConfig& config, i64 pp_rank) {
  std::vector<Tensor> all;
  add_states(all, config, pp_rank);
  add_passes(all, config, contents(config, pp_rank));
  return all;
}

std::optional<OomGap> explain_oom(const plan::TrainingConfig& config,
                                  const cluster::Calibration& calibration,
                                  const importer::RunLog& log) {
  if (!log.oom || config.reference_model) return std::nullopt;
  const cost::Estimate now = cost::estimate_plan(config, calibration);
  OomGap gap{.oom = *log.oom,
             .memory_estimate = estimate_rank_memory(
                 config, calibration, log.oom->rank.value_or(importer::kUnknownRank)),
             .capacity = log.oom->capacity > Bytes{} ? log.oom->capacity : now.capacity,
             .band = now.memory_band};
  find_entry(gap, config);
  // If the estimate fits the device although the run did not, a plan must be below the estimate,
  // not the capacity, by what was missing.
  plan::TrainingConfig tighter = config;
  const Bytes missing = std::max(Bytes{}, gap.short_of());
  tighter.cluster.device.memory = std::min(gap.capacity, gap.memory_estimate.total()) - missing;
  if (tighter.cluster.device.memory > Bytes{})
    gap.fits = find_cheapest_fits(tighter, rules::Target::any, 3);
  return gap;
}

}  // namespace rankwright::validate
