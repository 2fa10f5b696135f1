#include "rankwright/cost/step.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "rankwright/cost/data_time.h"
#include "rankwright/cost/layer_time.h"
#include "rankwright/plan/messages.h"
#include "rankwright/plan/shares.h"

namespace rankwright {
namespace {

constexpr Origin kCalibrated = Origin::calibrated, kAssumed = Origin::assumed;

constexpr ItemRow kItemRows[] = {
    {Item::matmul, "matmuls", true, kCalibrated, "of the layers"},
    {Item::attention, "attention", true, kCalibrated,
     "its two products with the sequence, and the softmax"},
    {Item::elementwise, "memory-bound", true, kAssumed, "norms, residuals, activations, rotations"},
    {Item::casts, "casts", true, kAssumed, "to fp8 or fp4, where no kernel before does it"},
    {Item::permute, "token permutation", true, kAssumed, "to and from experts, on the rank"},
    {Item::vocabulary, "vocabulary", true, kCalibrated, "embedding, output head and loss"},
    {Item::recompute, "recompute", true, kCalibrated, "forward again before backward"},
    {Item::launch, "launches", true, kCalibrated, "the device waits for the host"},
    {Item::tp, "tp collectives", false, kCalibrated, "that are not hidden"},
    {Item::cp, "cp exchange", false, kCalibrated, "that attention does not hide"},
    {Item::ep, "ep all-to-all", false, kAssumed, "that is not hidden"},
    {Item::sends, "pp sends", false, kAssumed, "that are not hidden"},
    {Item::imbalance, "uneven stages", false, kCalibrated, "the slowest pp rank over the mean"},
    {Item::bubble, "bubble", false, kCalibrated, "fill and drain of the pipeline"},
    {Item::untuned, "untuned", true, kCalibrated, "what vendors gain by tuning a recipe"},
    {Item::dp, "dp and ZeRO", false, kCalibrated, "gradients and weights that nothing hides"},
    {Item::optimizer, "optimizer", true, kAssumed, "and what else a step does once"},
    {Item::jitter, "jitter", false, kCalibrated, "all wait for the slowest of many nodes"},
};
static_assert(std::size(kItemRows) == kItems);

/// One kind of layer of the model on this plan.
struct Kind {
  i64 first = 0, end = 0;  // layers of the model
  LayerTime time{};
  StageTimes sums{};  // of its passes
  Share share{};
};

Seconds computed(const Pass& pass) { return pass.total() - pass.tp - pass.cp - pass.ep; }

StageTimes sums(const Pass& forward, const Pass& input, const Pass& weight) {
  return {forward.total(), input.total(), weight.total()};
}

class Pricer {
 public:
  Pricer(const Setup& setup, const Calibration& calibration)
      : setup_(setup),
        plan_(setup.plan),
        c_(calibration),
        rates_(rates(setup, calibration)),
        links_(setup, calibration) {
    const BlockTime block = block_time(setup, links_, c_);
    i64 first = 0;
    for (const LayerRun& run : setup.model.runs) {
      const LayerTime time = layer_time(setup, run.layer, rates_, links_, block, c_);
      kinds_.push_back({first, first + run.count, time, sums(time.forward, time.input, time.weight),
                        layer_share(setup.model, run.layer, plan_)});
      first += run.count;
    }
    head_ = head_time(setup, rates_, links_, block, c_);
    embedding_ = embedding_time(setup, rates_, links_, block, c_);
    add_stages();
    if (plan_.pp > 1)
      send_ = links_.time(Op::send_recv, boundary_message(setup_, 0), GroupKind::pp);
  }

  StepTime step();
  CellTimes times() const;

 private:
  std::vector<StageTimes> computed_times() const;
  /// Of `count` layers behind `before` others on their pp rank: how many run again, or in part.
  i64 again(i64 count, i64 before) const {
    return plan_.recompute == Recompute::full ? run_again(plan_, before, count) : count;
  }
  /// The pp rank of a stage, the lower one where two hold it: V and mirror turn back.
  std::size_t rank_of(i64 at, i64 pass) const {
    const i64 back = plan_.pp - 1 - at;
    if (plan_.mirrored()) return std::size_t(std::min(at, back));
    return std::size_t(row(plan_.schedule).order == StageOrder::vee && pass % 2 == 1 ? back : at);
  }
  Share edge_share(const Stage& stage, char& embeds) const;
  void add_stages();
  void add_layers(const Kind& kind, i64 count, StageTimes& stage, RankWork& on);
  /// Which kind a layer is of.
  std::size_t kind_of(i64 layer) const {
    std::size_t k = 0;
    while (k + 1 < kinds_.size() && kinds_[k].end <= layer) ++k;
    return k;
  }
  double shown() const { return plan_.overlap.pp ? c_[Constant::pp_shown] : 1; }
  /// Of nodes of 8.
  double doublings() const { return std::log2(std::max(1.0, double(setup_.world) / 8)); }
  void pipeline(StepTime& step);

  const Setup& setup_;
  const Plan& plan_;
  const Calibration& c_;
  Rates rates_;
  Links links_;
  std::vector<Kind> kinds_{};
  EdgeTime head_{}, embedding_{};
  i64 mtp_ = 0;                      // modules
  Seconds send_{};                   // X2: one activation or gradient to the next stage
  std::vector<StageTimes> times_{};  // by stage
  std::vector<RankWork> ranks_{};    // by pp rank
  // Over all stages, one microbatch:
  Pass passes_{};
  Seconds vocabulary_{}, again_{};
  Seconds stage_again_{};  // of the stage that was added last
  const RankWork* heaviest_ = nullptr;
};

/// `on` is what the pp rank has so far: of full recompute of n layers a pp rank the first n run
/// again.
void Pricer::add_layers(const Kind& kind, i64 count, StageTimes& stage, RankWork& on) {
  if (count <= 0) return;
  const i64 redone = again(count, on.layers);
  stage.forward += count * kind.sums.forward;
  stage.input += count * kind.sums.input + redone * kind.time.again;
  stage.weight += count * kind.sums.weight;
  stage_again_ += redone * kind.time.again;
  on.layers += count;
  on.share += count * kind.share;
}

/// What a stage holds beside layers. An MTP module embeds too, and a tied head reads the embedding:
/// what its pp rank has of an earlier stage is not held twice.
Share Pricer::edge_share(const Stage& stage, char& embeds) const {
  Share sum;
  if ((stage.embedding || stage.mtp > 0) && !embeds) {
    sum += embedding_share(setup_.model, plan_.tp);
    embeds = true;
  }
  if (stage.loss) sum += head_share(setup_.model, plan_.tp, !(setup_.model.tied && embeds));
  return sum;
}

/// X1
void Pricer::add_stages() {
  const Stages stages = setup_.stages();
  for (const Stage& stage : stages) mtp_ += stage.mtp;
  const double heads = double(1 + mtp_);
  const StageTimes embedded = sums(embedding_.forward, embedding_.input, embedding_.weight);
  const StageTimes ends = sums(head_.forward, head_.input, head_.weight);
  const auto add_edge = [&](double count, const StageTimes& edge, StageTimes& stage) {
    stage.forward += count * edge.forward;
    stage.input += count * edge.input;
    stage.weight += count * edge.weight;
    vocabulary_ += count * (edge.forward + edge.input + edge.weight);
  };

  ranks_.resize(std::size_t(plan_.pp));
  times_.reserve(stages.size());
  std::vector<char> embeds(std::size_t(plan_.pp), false);  // by pp rank
  const bool mirrored = plan_.mirrored();
  const bool by_rank = plan_.recompute_layers > 0;
  i64 first = 0;
  i64 at = 0, pass = 0;
  RankWork added;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const Stage& stage = stages[s];
    const std::size_t home = rank_of(at, pass);
    RankWork& there = ranks_[home];
    // Most stages are like the one before them.
    const bool alike = s > 0 && !by_rank && stage == stages[s - 1] && !stage.embedding &&
                       !stage.loss && stage.mtp == 0 &&
                       kind_of(first - stage.layers) == kind_of(first + stage.layers - 1);
    if (!alike) {
      StageTimes time{};
      stage_again_ = {};
      RankWork after = there;
      for (const Kind& kind : kinds_)
        add_layers(kind, std::min(kind.end, first + stage.layers) - std::max(kind.first, first),
                   time, after);
      add_layers(kinds_.back(), stage.mtp, time, after);
      if (stage.mtp > 0)  // the projection of two hidden states to one, and its norms
        after.share.dense += stage.mtp * (mtp_share(setup_).dense - kinds_.back().share.dense);
      if (stage.embedding) add_edge(1, embedded, time);
      if (stage.loss) add_edge(heads, ends, time);
      after.share += edge_share(stage, embeds[home]);
      added = {.forward = time.forward,
               .backward = time.input + time.weight,
               .share = {.dense = after.share.dense - there.share.dense,
                         .expert = after.share.expert - there.share.expert},
               .layers = after.layers - there.layers};
      times_.push_back(time);
    } else {
      times_.push_back(times_.back());
    }
    again_ += stage_again_;
    // Where two pp ranks hold a stage each runs half of its microbatches.
    there.add(added, mirrored ? 0.5 : 1);
    if (mirrored) ranks_[std::size_t(plan_.pp) - 1 - home].add(added, 0.5);
    first += stage.layers;
    if (++at == plan_.pp) at = 0, ++pass;
  }
  for (const Kind& kind : kinds_) {
    const double count = double(kind.end - kind.first + (&kind == &kinds_.back() ? mtp_ : 0));
    passes_ += count * kind.time.forward;
    passes_ += count * kind.time.input;
    passes_ += count * kind.time.weight;
  }
  heaviest_ = &*std::max_element(
      ranks_.begin(), ranks_.end(),
      [](const RankWork& a, const RankWork& b) { return a.share.total() < b.share.total(); });
}

/// X3 to X5
void Pricer::pipeline(StepTime& step) {
  const double m = double(setup_.microbatches());
  const double part = m / double(plan_.pp);
  step[Item::matmul] = part * passes_.matmul;
  step[Item::attention] = part * passes_.attention;
  step[Item::elementwise] = part * passes_.elementwise;
  step[Item::casts] = part * passes_.casts;
  step[Item::permute] = part * passes_.permute;
  step[Item::vocabulary] = part * vocabulary_;
  step[Item::recompute] = part * again_;
  step[Item::launch] = part * passes_.launch;
  step[Item::tp] = part * passes_.tp;
  step[Item::cp] = part * passes_.cp;
  step[Item::ep] = part * passes_.ep;
  if (plan_.pp == 1) return;

  Seconds mean{}, busiest{};
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    const Seconds time = ranks_[r].forward + ranks_[r].backward;
    mean += time / double(plan_.pp);
    if (time > busiest) busiest = time, step.slowest = i64(r);
  }
  // X4: sends that show lengthen every stage; the others delay what waits for them.
  const Seconds sent = shown() * send_;
  const Seconds sends = 2 * double(plan_.virtual_stages) * sent;
  step[Item::sends] = m * sends;
  step[Item::imbalance] = m * (busiest - mean);
  for (StageTimes& stage : times_) stage.forward += sent, stage.input += sent;
  const Seconds end = pipeline_time(pipeline_shape(setup_), times_, send_ - sent);
  step[Item::bubble] = std::max(Seconds{}, end - m * (busiest + sends));
}

/// Of the stages' times what no collective takes. What runs again is a forward: its collectives
/// take the same share.
std::vector<StageTimes> Pricer::computed_times() const {
  const Stages stages = setup_.stages();
  const EdgeTime heads{(1 + double(mtp_)) * head_.forward, (1 + double(mtp_)) * head_.input,
                       (1 + double(mtp_)) * head_.weight};
  std::vector<i64> layers(std::size_t(plan_.pp), 0);  // of each pp rank so far
  std::vector<StageTimes> all;
  i64 first = 0;
  for (i64 s = 0; s < i64(stages.size()); ++s) {
    const Stage& stage = stages[std::size_t(s)];
    i64& before = layers[rank_of(s % plan_.pp, s / plan_.pp)];
    StageTimes time{};
    const auto add = [&](const Kind& kind, i64 count) {
      if (count <= 0) return;
      const Seconds forward = kind.sums.forward;
      const bool whole = plan_.recompute == Recompute::full && forward.value > 0;
      const double share = whole ? computed(kind.time.forward) / forward : 1;
      time.forward += count * computed(kind.time.forward);
      time.input +=
          count * computed(kind.time.input) + share * (again(count, before) * kind.time.again);
      time.weight += count * computed(kind.time.weight);
      before += count;
    };
    const auto add_edge = [&](const EdgeTime& edge) {
      time.forward += computed(edge.forward);
      time.input += computed(edge.input);
      time.weight += computed(edge.weight);
    };
    for (const Kind& kind : kinds_)
      add(kind, std::min(kind.end, first + stage.layers) - std::max(kind.first, first));
    add(kinds_.back(), stage.mtp);
    first += stage.layers;
    if (stage.embedding) add_edge(embedding_);
    if (stage.loss) add_edge(heads);
    all.push_back(time);
  }
  return all;
}

/// X9: with the sends that are not hidden, what tuning would gain, and jitter.
CellTimes Pricer::times() const {
  const double slower = (setup_.software.tuned ? 1 : c_[Constant::untuned]) *
                        (1 + c_[Constant::jitter] / 100 * doublings());
  const Seconds sent = shown() * send_;
  CellTimes times{.hop = slower * (send_ - sent)};
  // Of ZeRO-3 every cell waits for its share.
  double forward = 1, backward = 1;
  if (plan_.zero >= 3 && heaviest_->forward.value > 0 && heaviest_->backward.value > 0) {
    const ZeroWaits waits = zero3_waits(setup_, *heaviest_, links_, c_);
    forward += waits.forward / heaviest_->forward;
    backward += waits.backward / heaviest_->backward;
  }
  for (const StageTimes& stage : times_)
    times.stages.push_back({slower * (forward * stage.forward + sent),
                            slower * (backward * stage.input + sent),
                            slower * backward * stage.weight});
  for (const StageTimes& stage : computed_times())
    times.compute.push_back({slower * stage.forward, slower * stage.input, slower * stage.weight});
  return times;
}

StepTime Pricer::step() {
  StepTime step;
  pipeline(step);
  const Seconds pipe = step.total();
  if (!setup_.software.tuned) step[Item::untuned] = (c_[Constant::untuned] - 1) * pipe;
  const DataTime data = data_time(setup_, *heaviest_, links_, c_);
  step[Item::dp] = data.shown;
  step.hidden_dp = data.hidden;
  // X8: on every rank gradients are zeroed, scaled, checked, cast and weights copied; on its shard
  // the optimizer reads and writes its states. FSDP holds no more than the shard from ZeRO-2 on.
  const int whole_until = setup_.software.fsdp ? 2 : 3;
  const Share& share = heaviest_->share;
  const double here = double(share.total());
  const double shard = double(share.dense) / double(plan_.shards()) +
                       double(share.expert) / double(plan_.expert_dp());
  const double touched = c_[Constant::step_bytes] * (plan_.zero >= whole_until ? shard : here) +
                         c_[Constant::adam_bytes] * (plan_.zero >= 1 ? shard : here);
  step[Item::optimizer] = Bytes{touched} / rates_.memory;
  step[Item::jitter] = c_[Constant::jitter] / 100 * doublings() * step.total();
  return step;
}

}  // namespace

std::span<const ItemRow> items() { return kItemRows; }

const ItemRow& row(Item item) { return kItemRows[std::size_t(item)]; }

Seconds StepTime::total() const { return std::accumulate(items.begin(), items.end(), Seconds{}); }

Seconds StepTime::compute() const {
  Seconds sum{};
  for (const ItemRow& row : kItemRows)
    if (row.computes) sum += (*this)[row.item];
  return sum;
}

StepTime step_time(const Setup& setup, const Calibration& calibration) {
  return Pricer(setup, calibration).step();
}

CellTimes cell_times(const Setup& setup, const Calibration& calibration) {
  return Pricer(setup, calibration).times();
}

}  // namespace rankwright
