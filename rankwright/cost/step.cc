#include "rankwright/cost/step.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "rankwright/cost/data_time.h"
#include "rankwright/cost/memory/offload_time.h"
#include "rankwright/cost/memory/states.h"
#include "rankwright/pipeline/order.h"
#include "rankwright/plan/adapters.h"
#include "rankwright/plan/encoder.h"
#include "rankwright/plan/frozen.h"
#include "rankwright/plan/messages.h"
#include "rankwright/plan/shares.h"
#include "rankwright/program/simulate.h"
#include "rankwright/program/transfers.h"

namespace rankwright::cost {
namespace {

constexpr cluster::Origin kCalibrated = cluster::Origin::calibrated,
                          kAssumed = cluster::Origin::assumed;

constexpr ItemRow kItemRows[] = {
    {Item::matmul, "matmuls", true, kCalibrated, "of the layers"},
    {Item::attention, "attention", true, kCalibrated,
     "the two matmuls over the sequence, and softmax"},
    {Item::elementwise, "memory-bound", true, kAssumed,
     "norms, residuals, activations, rotary embeddings"},
    {Item::casts, "casts", true, kAssumed, "to fp8 or fp4, if not fused into another kernel"},
    {Item::permute, "token permutation", true, kAssumed, "to and from experts, on the rank"},
    {Item::vocabulary, "vocabulary", true, kCalibrated, "embedding, output head and loss"},
    {Item::recompute, "recompute", true, kCalibrated, "repeated forward pass"},
    {Item::launch, "launches", true, kCalibrated, "kernel-launch overhead"},
    {Item::tp, "TP collectives", false, kCalibrated, "exposed"},
    {Item::cp, "CP exchange", false, kCalibrated, "exposed"},
    {Item::ep, "EP all-to-all", false, kAssumed, "exposed"},
    {Item::sends, "PP sends", false, kAssumed, "exposed"},
    {Item::imbalance, "imbalance", false, kCalibrated, "the slowest PP rank minus the average"},
    {Item::bubble, "bubble", false, kCalibrated, "fill and drain of the pipeline"},
    {Item::untuned, "untuned", true, kCalibrated, "untuned-recipe overhead"},
    {Item::dp, "DP and ZeRO", false, kCalibrated, "exposed gradient and parameter traffic"},
    {Item::optimizer, "optimizer", true, kAssumed, "optimizer and other once-per-step work"},
    {Item::reference, "reference model", true, kCalibrated,
     "forward of the reference model, with its communication"},
    {Item::offload, "offload", false, kAssumed, "transfers to the host, and its optimizer"},
    {Item::jitter, "jitter", false, kCalibrated, "waiting for the slowest of many nodes"},
};
static_assert(std::size(kItemRows) == kItems);

/// The parts that a stage is summed from: either total times, or computation only.
struct Parts {
  struct Layer {
    pipeline::StageTimes passes{};
    Seconds again{};  // recomputation
  };
  std::vector<Layer> layers{};  // by kind
  Layer encoder{};              // all its layers
  pipeline::StageTimes embedding{}, heads{}, mtp{};
  Seconds projection{};  // forward of an MTP module's projection
};

void add(pipeline::StageTimes& to, double count, const pipeline::StageTimes& each) {
  to.forward += count * each.forward;
  to.input += count * each.input;
  to.weight += count * each.weight;
}

/// Returns the exposed fraction of a send.
double exposed_share(const plan::TrainingConfig& config, const cluster::Calibration& c) {
  return config.plan.overlap.pp ? c[cluster::Constant::pp_shown] : 1;
}

/// Returns a lower bound on the exposed sends of one microbatch per chunk of the mean pp rank: at
/// least pp - 1 of the boundaries of pp stages are between ranks, each crossed twice.
Seconds min_chunk_sends(const plan::TrainingConfig& config, const cluster::Calibration& c,
                        const LayerCosts& prices) {
  const double pp = double(config.plan.pp);
  return 2 * (pp - 1) / pp * exposed_share(config, c) * prices.send();
}

/// X8: every rank zeroes, scales, checks and casts gradients and copies weights; on its shard, the
/// optimizer reads and writes its states. Muon also multiplies each matrix with its Gram matrix.
Seconds estimate_update_time(const plan::TrainingConfig& config, const cluster::Calibration& c,
                             const RankWork& on, const Rates& rates) {
  const plan::Plan& plan = config.plan;
  const plan::Share& share = on.trained;
  const double here = double(share.total());
  const double shard =
      double(share.dense) / double(plan.shards()) + double(share.expert) / double(plan.expert_dp());
  const double updated = (1 - plan.offload.optimizer) * (plan.zero >= 1 ? shard : here);
  const double touched =
      c[cluster::Constant::step_bytes] * (shards_weights(config) ? shard : here) +
      c[cluster::Constant::adam_bytes] * updated;
  Seconds time = Bytes{touched} / rates.memory;
  if (config.job.optimizer == plan::Optimizer::muon && !config.job.frozen()) {
    // Five Newton-Schulz steps of 4 m^2 n + 2 m^3 FLOPs each for a matrix of m x n, m <= n, about
    // as wide as the hidden size (X16).
    constexpr double kSteps = 5, kProducts = 4 + 2;
    const double narrow = double(config.model.hidden) / double(plan.tp);
    time += Flops{kSteps * kProducts * narrow * updated} / rates.half;
  }
  return time;
}

/// X17: the reference model runs forward on every microbatch, as a pipeline of its own, and ZeRO-3
/// gathers its weights.
Seconds estimate_reference_time(const plan::TrainingConfig& config, const cluster::Calibration& c,
                                const Links& links, const StageCosts& staged,
                                const plan::DataShape& shape) {
  if (!config.job.ref_model) return {};
  const double m = double(config.microbatches());
  const double fill = double(config.plan.pp - 1) / double(config.plan.virtual_stages);
  Seconds time = (m + fill) * staged.forward;
  if (config.plan.zero >= 3)
    time += m * estimate_zero3_waits(config, staged.heaviest, shape, links, c).forward;
  return find_overheads(config, c).untuned * time;
}

/// Sums the layers of a plan into stages and pp ranks.
class StageEstimator {
 public:
  StageEstimator(const plan::TrainingConfig& config, const cluster::Calibration& calibration,
                 const LayerCosts& prices)
      : config_(config),
        plan_(config.plan),
        c_(calibration),
        prices_(prices),
        mirrored_(config.plan.mirrored()),
        vee_(row(config.plan.schedule).stage_order == pipeline::StageOrder::vee) {
    add_stages();
  }

  StageCosts staged() const;
  i64 heaviest_rank() const { return i64(heaviest_ - ranks_.data()); }
  plan::DataShape data_shape() const {
    return make_data_shape(config_, config_.stages(), heaviest_rank());
  }
  CellTimes times(const Links& links) const;

 private:
  std::vector<pipeline::StageTimes> computed_times() const;
  struct Sum {
    pipeline::StageTimes time{};
    Pass again{};  // recomputation, included in `time`
  };
  Sum sum(const plan::Stage& stage, i64 first, const Parts& parts) const;
  Parts all_parts() const;
  Parts computed_parts() const;
  /// Returns the pp rank of a stage, the lower one if two hold it; V and mirror orders turn back.
  std::size_t rank_of(i64 at, i64 pass) const {
    const i64 back = plan_.pp - 1 - at;
    if (mirrored_) return std::size_t(std::min(at, back));
    return std::size_t(vee_ && pass % 2 == 1 ? back : at);
  }
  void add_edges(const plan::Stage& stage, char& embeds, RankWork& to) const;
  void add_stages();
  void add_sends(const plan::Stages& stages);
  void add_exposed_sends(std::vector<pipeline::StageTimes>& stages, double exposed) const;
  /// Returns the index of a layer's kind.
  std::size_t kind_of(i64 layer) const {
    std::size_t k = 0;
    while (k + 1 < kinds().size() && kinds()[k].end <= layer) ++k;
    return k;
  }
  const std::vector<LayerKindCost>& kinds() const { return prices_.kinds; }

  const plan::TrainingConfig& config_;
  const plan::Plan& plan_;
  const cluster::Calibration& c_;
  const LayerCosts& prices_;
  const bool mirrored_, vee_;                  // stage orders that turn back
  i64 mtp_ = 0;                                // number of MTP modules
  std::vector<pipeline::StageTimes> times_{};  // by stage
  std::vector<RankWork> ranks_{};              // by pp rank
  std::vector<Seconds> outputs_{};  // by stage: sending its output to the next; 0 on one pp rank
  // Sums over all stages for one microbatch:
  Pass passes_{};      // of the layers
  Pass vocabulary_{};  // embedding, output head and loss
  Pass again_{};       // recomputation
  const RankWork* heaviest_ = nullptr;
};

Parts StageEstimator::all_parts() const {
  const auto sums = [](const auto& time) {
    return pipeline::StageTimes{time.forward.total(), time.input.total(), time.weight.total()};
  };
  Parts parts{.embedding = sums(prices_.embedding),
              .mtp = sums(prices_.mtp),
              .projection = prices_.projection.forward.total()};
  for (const EncoderCost& kind : prices_.encoder) {
    add(parts.encoder.passes, double(kind.count), sums(kind.time));
    parts.encoder.again += kind.count * kind.time.again.total();
  }
  add(parts.heads, double(1 + mtp_), sums(prices_.head));
  parts.layers.reserve(kinds().size());
  for (const LayerKindCost& kind : kinds())
    parts.layers.push_back({sums(kind.time), kind.time.again.total()});
  return parts;
}

Parts StageEstimator::computed_parts() const {
  const auto sums = [](const auto& time) {
    return pipeline::StageTimes{time.forward.compute(), time.input.compute(),
                                time.weight.compute()};
  };
  Parts parts{.embedding = sums(prices_.embedding),
              .mtp = sums(prices_.mtp),
              .projection = prices_.projection.forward.compute()};
  for (const EncoderCost& kind : prices_.encoder) {
    add(parts.encoder.passes, double(kind.count), sums(kind.time));
    parts.encoder.again += kind.count * kind.time.again.compute();
  }
  add(parts.heads, double(1 + mtp_), sums(prices_.head));
  for (const LayerKindCost& kind : kinds())
    parts.layers.push_back({sums(kind.time), kind.time.again.compute()});
  return parts;
}

/// Sums a stage whose first layer has index `first` in the model.
StageEstimator::Sum StageEstimator::sum(const plan::Stage& stage, i64 first,
                                        const Parts& parts) const {
  Sum sum;
  Seconds again_time{};
  i64 before = 0;  // layers of the stage so far; the first ones are recomputed
  const auto count_recomputed = [&](i64 count, bool outside) -> i64 {
    if (plan_.recompute == plan::Recompute::none) return 0;
    if (plan_.recompute == plan::Recompute::selective) return count;
    if (outside) return recomputes_everything(plan_) ? count : 0;
    return count_recomputed_layers(plan_, before, count);
  };
  const auto add_layers = [&](std::size_t k, i64 count, bool mtp) {
    if (count <= 0) return;
    const i64 recomputed = count_recomputed(count, mtp);
    add(sum.time, double(count), parts.layers[k].passes);
    before += count;
    if (mtp) add(sum.time, double(count), parts.mtp);
    if (recomputed == 0) return;
    again_time += recomputed * parts.layers[k].again;
    sum.again += double(recomputed) * kinds()[k].time.again;
    if (!mtp || plan_.recompute != plan::Recompute::full) return;
    again_time += recomputed * parts.projection;
    sum.again += double(recomputed) * prices_.projection.forward;
  };
  for (std::size_t k = 0; k < kinds().size(); ++k)
    add_layers(k, kinds()[k].layers_in(stage, first), false);
  add_layers(kinds().size() - 1, stage.mtp, true);
  if (stage.embedding) {
    add(sum.time, 1, parts.encoder.passes);
    if (count_recomputed(1, true) > 0) again_time += parts.encoder.again;
    for (const EncoderCost& kind : prices_.encoder)
      sum.again += double(count_recomputed(kind.count, true)) * kind.time.again;
  }
  sum.time.input += again_time;
  if (stage.embedding) add(sum.time, 1, parts.embedding);
  if (stage.loss) add(sum.time, 1, parts.heads);
  return sum;
}

/// Adds the parameters of a stage outside layers. An MTP module also embeds, and a tied head reads
/// the embedding; parameters that an earlier stage of the pp rank holds are not counted again.
void StageEstimator::add_edges(const plan::Stage& stage, char& embeds, RankWork& to) const {
  if ((stage.embedding || stage.mtp > 0) && !embeds) {
    const plan::Share embedding = plan::count_embedding_share(config_.model, plan_.tp);
    to.share += embedding;
    if (trains_embedding(config_)) to.trained += embedding;
    embeds = true;
  }
  if (stage.embedding) {
    const plan::Share encoder = plan::count_encoder_share(config_.model, plan_.tp);
    to.share += encoder;
    if (trains_encoder(config_)) to.trained += encoder;
  }
  if (!stage.loss) return;
  const bool own_weight = !(config_.model.tied && embeds);
  to.share += plan::count_head_share(config_.model, plan_.tp, own_weight);
  to.trained += count_trained_head_share(config_, own_weight);
}

/// X1
void StageEstimator::add_stages() {
  const plan::Stages stages = config_.stages();
  mtp_ = count_mtp_until(stages, i64(stages.size()) - 1);
  const Parts parts = all_parts();
  ranks_.resize(std::size_t(plan_.pp));
  times_.reserve(stages.size());
  std::vector<char> embeds(std::size_t(plan_.pp), false);  // by pp rank
  i64 first = 0;
  i64 at = 0, pass = 0;
  RankWork added;
  Sum taken;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const plan::Stage& stage = stages[s];
    const std::size_t home = rank_of(at, pass);
    RankWork& there = ranks_[home];
    // Most stages equal the previous one, so its sums are reused.
    const bool alike = s > 0 && stage == stages[s - 1] && !stage.embedding && !stage.loss &&
                       stage.mtp == 0 &&
                       kind_of(first - stage.layers) == kind_of(first + stage.layers - 1);
    if (!alike) {
      taken = sum(stage, first, parts);
      added = {.forward = taken.time.forward,
               .backward = taken.time.input + taken.time.weight,
               .layers = stage.layers + stage.mtp};
      add_edges(stage, embeds[home], added);
      for (const LayerKindCost& kind : kinds()) {
        const i64 count = std::max<i64>(0, kind.layers_in(stage, first));
        added.share += count * kind.share;
        added.trained += count * kind.trained;
      }
      if (stage.mtp > 0) {
        added.share += stage.mtp * count_mtp_share(config_);
        added.trained += stage.mtp * count_trained_mtp_share(config_);
      }
      if (stage.embedding) vocabulary_ += prices_.embedding.sum();
      if (stage.mtp > 0) vocabulary_ += double(stage.mtp) * prices_.mtp.sum();
      if (stage.loss) vocabulary_ += double(1 + mtp_) * prices_.head.sum();
    }
    times_.push_back(taken.time);
    if (plan_.recompute != plan::Recompute::none) again_ += taken.again;
    // If two pp ranks hold a stage, each runs half of its microbatches.
    there.add(added, mirrored_ ? 0.5 : 1);
    if (mirrored_) ranks_[std::size_t(plan_.pp) - 1 - home].add(added, 0.5);
    first += stage.layers;
    if (++at == plan_.pp) at = 0, ++pass;
  }
  add_sends(stages);
  for (const LayerKindCost& kind : kinds()) {
    const double count = double(kind.end - kind.first + (&kind == &kinds().back() ? mtp_ : 0));
    passes_ += count * kind.time.forward;
    passes_ += count * kind.time.input;
    passes_ += count * kind.time.weight;
  }
  for (const EncoderCost& kind : prices_.encoder)
    for (const Pass& each : {kind.time.forward, kind.time.input, kind.time.weight})
      passes_ += double(kind.count) * each;
  // The data-parallel traffic is that of trained parameters; under LoRA all ranks have few.
  const bool by_trained = config_.model.frozen.any() && !config_.job.frozen();
  const auto count = [&](const RankWork& on) {
    return (by_trained ? on.trained : on.share).total();
  };
  heaviest_ =
      &*std::max_element(ranks_.begin(), ranks_.end(),
                         [&](const RankWork& a, const RankWork& b) { return count(a) < count(b); });
}

/// X4: every boundary between two pp ranks is crossed by an activation, which its stage sends at
/// the end of forward, and by a gradient, which the next stage sends at the end of its input
/// gradient.
void StageEstimator::add_sends(const plan::Stages& stages) {
  outputs_.assign(stages.size(), {});
  if (plan_.pp == 1) return;
  const double share = mirrored_ ? 0.5 : 1;
  i64 mtp = 0;
  for (std::size_t s = 0; s + 1 < stages.size(); ++s) {
    mtp += stages[s].mtp;
    const i64 from = i64(s), to = from + 1;
    const std::size_t sender = rank_of(from % plan_.pp, from / plan_.pp);
    const std::size_t receiver = rank_of(to % plan_.pp, to / plan_.pp);
    if (sender == receiver && !mirrored_) continue;
    outputs_[s] = prices_.sends[std::size_t(std::min(mtp, i64(prices_.sends.size()) - 1))];
    for (const std::size_t rank : {sender, receiver}) {
      ranks_[rank].sends += share * outputs_[s];
      if (mirrored_) ranks_[std::size_t(plan_.pp) - 1 - rank].sends += share * outputs_[s];
    }
  }
}

/// X3 to X5
StageCosts StageEstimator::staged() const {
  const double m = double(config_.microbatches());
  const double part = m / double(plan_.pp);
  StageCosts staged{.heaviest = *heaviest_};
  StepTime& step = staged.step;
  step.heaviest = heaviest_rank();
  step[Item::matmul] = part * passes_.matmul;
  step[Item::attention] = part * passes_.attention;
  step[Item::elementwise] = part * passes_.elementwise;
  step[Item::casts] = part * passes_.casts;
  step[Item::permute] = part * passes_.permute;
  step[Item::vocabulary] = part * vocabulary_.compute();
  step[Item::recompute] = part * again_.compute();
  step[Item::launch] = part * passes_.launch;
  const auto add_comm = [&](Item item, CommTime Pass::*axis) {
    const CommTime sum = passes_.*axis + vocabulary_.*axis + again_.*axis;
    step[item] = part * sum.exposed;
    step.overlapped[std::size_t(item)] = part * sum.overlapped;
  };
  add_comm(Item::tp, &Pass::tp);
  add_comm(Item::cp, &Pass::cp);
  add_comm(Item::ep, &Pass::ep);
  for (const RankWork& on : ranks_) staged.forward = std::max(staged.forward, on.forward);
  if (plan_.pp == 1) return staged;

  // Exposed sends lengthen their cells; overlapped ones delay the receivers.
  const double exposed = exposed_share(config_, c_);
  Seconds mean{}, busiest{}, sends{};
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    const Seconds time = ranks_[r].forward + ranks_[r].backward + exposed * ranks_[r].sends;
    mean += time / double(plan_.pp);
    sends += ranks_[r].sends / double(plan_.pp);
    if (time > busiest) busiest = time, step.slowest = i64(r);
  }
  step[Item::sends] = m * exposed * sends;
  step.overlapped[std::size_t(Item::sends)] = m * (1 - exposed) * sends;
  step[Item::imbalance] = m * (busiest - mean);
  staged.busiest = m * busiest;
  staged.hop = (1 - exposed) * prices_.send();
  staged.stages = times_;
  add_exposed_sends(staged.stages, exposed);
  return staged;
}

/// Adds `exposed` times the sends of each stage to its cells.
void StageEstimator::add_exposed_sends(std::vector<pipeline::StageTimes>& stages,
                                       double exposed) const {
  for (std::size_t s = 0; s < stages.size(); ++s) {
    stages[s].forward += exposed * outputs_[s];
    if (s > 0) stages[s].input += exposed * outputs_[s - 1];
  }
}

/// Returns the times of the stages without collectives.
std::vector<pipeline::StageTimes> StageEstimator::computed_times() const {
  const Parts parts = computed_parts();
  std::vector<pipeline::StageTimes> all;
  i64 first = 0;
  for (const plan::Stage& stage : config_.stages()) {
    all.push_back(sum(stage, first, parts).time);
    first += stage.layers;
  }
  return all;
}

/// X9: with exposed sends, the overhead of an untuned recipe, and jitter.
CellTimes StageEstimator::times(const Links& links) const {
  const double exposed = exposed_share(config_, c_);
  const double slower = find_overheads(config_, c_).lengthen(Seconds{1}).value;
  CellTimes times{.hop = slower * (1 - exposed) * prices_.send()};
  // The exposed communication of ZeRO-3 is spread over the cells.
  double forward = 1, backward = 1;
  if (plan_.zero >= 3 && heaviest_->forward.value > 0 && heaviest_->backward.value > 0) {
    const ZeroWaits waits = estimate_zero3_waits(config_, *heaviest_, data_shape(), links, c_);
    forward += waits.forward / heaviest_->forward;
    backward += waits.backward / heaviest_->backward;
  }
  for (const pipeline::StageTimes& stage : times_)
    times.stages.push_back({slower * forward * stage.forward, slower * backward * stage.input,
                            slower * backward * stage.weight});
  add_exposed_sends(times.stages, slower * exposed);
  times.sends.resize(times.stages.size());
  add_exposed_sends(times.sends, slower * exposed);
  for (const pipeline::StageTimes& stage : computed_times())
    times.compute.push_back({slower * stage.forward, slower * stage.input, slower * stage.weight});
  return times;
}

}  // namespace

std::span<const ItemRow> items() { return kItemRows; }

const ItemRow& row(Item item) { return kItemRows[std::size_t(item)]; }

Item find_item(plan::TrafficKind kind) {
  using K = plan::TrafficKind;
  // Gradients of norms are summed over tp at the end of the step, together with those over dp.
  if (kind == K::tp_norm_grads) return Item::dp;
  if (kind <= K::tp_cross_entropy) return Item::tp;
  if (kind <= K::cp_all_to_all) return Item::cp;
  if (kind <= K::etp_reduce_scatter) return Item::ep;
  if (kind <= K::pp_backward) return Item::sends;
  return Item::dp;
}

Seconds StepTime::total() const { return std::accumulate(items.begin(), items.end(), Seconds{}); }

Seconds StepTime::compute() const {
  Seconds sum{};
  for (const ItemRow& row : kItemRows)
    if (row.computes) sum += (*this)[row.item];
  return sum;
}

Overheads find_overheads(const plan::TrainingConfig& config, const cluster::Calibration& c) {
  // Jitter grows with the log2 of the number of nodes of 8 devices.
  const double doublings = std::log2(std::max(1.0, double(config.world) / 8));
  return {.untuned = config.software.tuned ? 1 : c[cluster::Constant::untuned],
          .jitter = c[cluster::Constant::jitter] / 100 * doublings};
}

Seconds min_time(const plan::TrainingConfig& config, const cluster::Calibration& calibration,
                 const LayerCosts& prices) {
  const plan::Plan& plan = config.plan;
  const i64 mtp = config.model.mtp_layers;
  // With full recomputation of n layers per stage, it is not known yet which layers those are.
  const bool again = plan.recompute_layers == 0;
  const auto total = [](const auto& time) {
    return time.forward.total() + time.input.total() + time.weight.total();
  };
  Seconds once = double(1 + mtp) * total(prices.head) + total(prices.embedding);
  for (const EncoderCost& kind : prices.encoder) once += double(kind.count) * total(kind.time);
  for (const LayerKindCost& kind : prices.kinds) {
    const i64 count = kind.end - kind.first + (&kind == &prices.kinds.back() ? mtp : 0);
    once += double(count) * (total(kind.time) + (again ? kind.time.again.total() : Seconds{}));
  }
  const Seconds sends = min_chunk_sends(config, calibration, prices);
  const double m = double(config.microbatches());
  return find_overheads(config, calibration).lengthen(m * (once / double(plan.pp) + sends));
}

Seconds min_time_per_extra_chunk(const plan::TrainingConfig& config,
                                 const cluster::Calibration& calibration,
                                 const LayerCosts& prices) {
  const Seconds sends = min_chunk_sends(config, calibration, prices);
  return find_overheads(config, calibration).lengthen(double(config.microbatches()) * sends);
}

Seconds min_time_with_data(const Overheads& overheads, Seconds pipeline, const MinDataTime& data) {
  const double untuned = overheads.untuned, jitter = overheads.jitter;
  const auto step = [&](Seconds end) { return (1 + jitter) * (untuned * end + data.exposed(end)); };
  const Seconds end = pipeline / (untuned * (1 + jitter));
  // A longer pipeline may hide more than it adds, until it has hidden all.
  Seconds min = step(end);
  if (data.spread > end) min = std::min(min, step(data.spread));
  if (const Seconds hidden = (1 - data.shown) * data.windowed; hidden > data.window * end)
    min = std::min(min, step(hidden / data.window));
  return min;
}

StageCosts estimate_stage_costs(const plan::TrainingConfig& config,
                                const cluster::Calibration& calibration, const LayerCosts& prices) {
  return StageEstimator(config, calibration, prices).staged();
}

Seconds min_end(const plan::TrainingConfig& config, const StageCosts& staged) {
  if (config.plan.pp == 1) return {};
  // The busiest pp rank's work is also summed elsewhere in another order; max hides rounding.
  return std::max(staged.busiest,
                  min_pipeline_time(make_pipeline_shape(config), staged.stages, staged.hop));
}

Seconds estimate_pipeline_end(const plan::TrainingConfig& config, const StageCosts& staged) {
  if (config.plan.pp == 1) return {};
  return std::max(staged.busiest,
                  estimate_pipeline_time(make_pipeline_shape(config), staged.stages, staged.hop));
}

Seconds simulate_pipeline_end(const plan::TrainingConfig& config, const StageCosts& staged) {
  if (config.plan.pp == 1) return {};
  const pipeline::PipelineShape shape = make_pipeline_shape(config);
  const program::Program program =
      program::add_transfers(pipeline::cells(shape), shape.stages(), shape.microbatches);
  program::Durations times;
  for (const pipeline::StageTimes& t : staged.stages)
    times.cells.push_back({t.forward, t.input + t.weight, t.input, t.weight});
  times.activation.assign(staged.stages.size() - 1, staged.hop);
  times.gradient = times.activation;
  times.steps.resize(program.steps.size());
  return std::max(staged.busiest, simulate(program, times).end);
}

plan::DataShape make_heaviest_shape(const plan::TrainingConfig& config, const StageCosts& staged) {
  return make_data_shape(config, config.stages(), staged.step.heaviest);
}

StepTime estimate_step_time(const plan::TrainingConfig& config, const cluster::Calibration& c,
                            const Links& links, const LayerCosts& prices, const StageCosts& staged,
                            const plan::DataShape& shape, Seconds end) {
  StepTime step = staged.step;
  step[Item::bubble] = std::max(Seconds{}, end - staged.busiest);
  const Overheads overheads = find_overheads(config, c);
  step[Item::untuned] = (overheads.untuned - 1) * step.total();
  const CommTime data = estimate_data_time(config, staged.heaviest, shape, links, c);
  step[Item::dp] = data.exposed;
  step.overlapped[std::size_t(Item::dp)] = data.overlapped;
  step[Item::optimizer] = estimate_update_time(config, c, staged.heaviest, prices.rates);
  step[Item::reference] = estimate_reference_time(config, c, links, staged, shape);
  const RankWork& on = staged.heaviest;
  // X15, X18
  const OffloadTime offload =
      estimate_offload_time(config, {on.share, on.trained, on.layers, on.forward, on.backward});
  step[Item::offload] = offload.exposed;
  step.overlapped[std::size_t(Item::offload)] = offload.overlapped;
  step[Item::jitter] = overheads.jitter * step.total();
  return step;
}

StepTime estimate_step_time(const plan::TrainingConfig& config,
                            const cluster::Calibration& calibration) {
  const Links links(config, calibration);
  const LayerCosts prices = estimate_layer_costs(config, links, calibration);
  const StageCosts staged = estimate_stage_costs(config, calibration, prices);
  return estimate_step_time(config, calibration, links, prices, staged,
                            make_heaviest_shape(config, staged),
                            estimate_pipeline_end(config, staged));
}

CellTimes estimate_cell_times(const plan::TrainingConfig& config,
                              const cluster::Calibration& calibration) {
  const Links links(config, calibration);
  const LayerCosts prices = estimate_layer_costs(config, links, calibration);
  return StageEstimator(config, calibration, prices).times(links);
}

}  // namespace rankwright::cost
