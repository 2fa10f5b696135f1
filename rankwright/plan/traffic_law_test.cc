// Compares the closed-form rows with an independent count: every microbatch, stage and layer is
// visited, and each collective is recorded as a framework would issue it.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "rankwright/plan/shares.h"
#include "rankwright/plan/traffic.h"
#include "tests/support/sample.h"
#include "tests/support/stage_routes.h"

namespace rankwright::plan {
namespace traffic_law_test {

using K = TrafficKind;
using G = mesh::GroupKind;
using stage_routes::held;
using stage_routes::way;

struct Sum {
  i64 calls = 0;
  double bytes = 0;
};
using Account = std::map<std::tuple<K, Op, G>, Sum>;

class ReferenceFramework {
 public:
  ReferenceFramework(const TrainingConfig& config, i64 pp_rank)
      : s_(config),
        p_(config.plan),
        rank_(pp_rank),
        held_(held(config, pp_rank)),
        sizes_(sizes()) {}

  Account step() {
    for (i64 i = 0; i < s_.microbatches(); ++i) {
      microbatch(way(s_, i));
      const std::set<i64> met = stage_routes::met(s_, i, rank_);
      if (!once()) reduce_gradients(met);
      if (p_.zero == 3) gather_parameters(met);  // frees them; the next pass gathers them again
      if (p_.zero == 3 && !once()) gather_parameters(met);
    }
    if (once()) reduce_gradients(held_);
    if (p_.zero == 3 && once()) gather_parameters(held_);
    if (p_.zero == 1 || p_.zero == 2) gather_parameters(held_);
    finish();
    return account_;
  }

 private:
  std::map<G, i64> sizes() const {
    const i64 data = p_.dp * p_.cp;
    const i64 shard = p_.shard_size == 0 ? data : p_.shard_size;
    return {{G::tp, p_.tp},
            {G::cp, p_.cp},
            {G::dp_cp, data},
            {G::shard, shard},
            {G::pp, p_.pp},
            {G::replicate, data / shard},
            {G::edges, p_.pp},
            {G::mirror, p_.pp},
            {G::model, p_.tp * p_.pp},
            {G::ep, p_.ep},
            {G::etp, p_.etp},
            {G::world, data * p_.tp * p_.pp},
            {G::edp, data * p_.tp / p_.ep / p_.etp}};
  }
  i64 size_of(G group) const { return sizes_.at(group); }
  void issue(K kind, Op op, G group, double bytes) {
    if (size_of(group) == 1) return;
    Sum& sum = account_[{kind, op, group}];
    ++sum.calls;
    sum.bytes += bytes;
  }

  bool sp() const { return p_.sequence_parallel && p_.tp > 1; }
  double tokens() const { return double(s_.job.sequence) * double(p_.micro_batch) / double(p_.cp); }
  bool fp64() const { return s_.job.param_dtype == Dtype::fp64; }
  double number() const { return s_.job.param_dtype == Dtype::fp32 ? 4 : fp64() ? 8 : 2; }
  double sum() const { return fp64() ? 8 : 4; }  // bytes per element of the loss and of the norm
  double wide(i64 width) const { return tokens() * number() * double(width); }
  double hidden() const { return wide(s_.model.hidden); }
  double gradient() const { return s_.job.grad_dtype == Dtype::fp32 ? 4 : 2; }

  /// Returns whether backward gathers again what forward gathered: PyTorch keeps it, except that
  /// selective checkpointing does not.
  bool again() const { return !s_.software.eager_ops || p_.recompute == Recompute::selective; }
  void gather(double bytes) { issue(K::tp_all_gather, Op::all_gather, G::tp, bytes); }
  void scatter(double bytes) { issue(K::tp_reduce_scatter, Op::reduce_scatter, G::tp, bytes); }
  void all_reduce(double bytes) { issue(K::tp_all_reduce, Op::all_reduce, G::tp, bytes); }

  /// The widths of what a block reads: inputs of column-parallel matmuls, and a tensor that is only
  /// added to their outputs.
  struct Inputs {
    std::vector<i64> matmuls{};
    i64 added = 0;
  };
  Inputs mlp_inputs() const { return {{s_.model.hidden}}; }
  Inputs attention_inputs(const model::Attention& a) const {
    if (a.kind == model::Attention::Kind::grouped) return {{s_.model.hidden}};
    // Every tp rank compresses its own tokens. A query without compression reads hidden states.
    return {{a.q_rank > 0 ? a.q_rank : s_.model.hidden, a.kv_rank}, a.rope_dim};
  }
  void block_forward(const Inputs& in) {
    if (!sp()) return all_reduce(hidden());
    for (const i64 width : in.matmuls) gather(wide(width));
    if (in.added > 0) gather(wide(in.added));
    scatter(hidden());
  }
  void block_backward(const Inputs& in) {
    if (sp()) {
      gather(hidden());  // the output's gradient
      if (again())
        for (const i64 width : in.matmuls) gather(wide(width));  // for the weight gradient
    }
    std::vector<i64> gradients = in.matmuls;
    if (in.added > 0) gradients.push_back(in.added);
    for (const i64 width : gradients) sp() ? scatter(wide(width)) : all_reduce(wide(width));
  }

  struct Widths {
    i64 query, key, value, output;
  };
  Widths widths(const model::Attention& a) const {
    if (a.kind == model::Attention::Kind::latent) {
      const i64 qk = a.heads / p_.tp * (a.nope_dim + a.rope_dim);
      return {qk, qk, a.heads / p_.tp * a.value_dim, a.heads / p_.tp * a.value_dim};
    }
    const i64 q = a.heads / p_.tp * a.head_dim;
    const i64 kv = std::max<i64>(1, a.kv_heads / p_.tp) * a.head_dim;
    return {q, kv, kv, q};
  }
  void attention_forward(const model::Attention& a) {
    if (p_.cp == 1) return;
    const Widths w = widths(a);
    if (p_.cp_comm == CpComm::p2p)
      for (i64 i = 1; i < p_.cp; ++i)
        issue(K::cp_ring, Op::send_recv, G::cp, wide(w.key + w.value));
    if (p_.cp_comm == CpComm::all_gather)
      for (const i64 width : {w.key, w.value})
        issue(K::cp_all_gather, Op::all_gather, G::cp, double(p_.cp) * wide(width));
    if (p_.cp_comm == CpComm::a2a)
      for (const i64 width : {w.query, w.key, w.value, w.output})
        issue(K::cp_all_to_all, Op::all_to_all, G::cp, wide(width));
  }
  void attention_backward(const model::Attention& a) {
    // As forward: keys and values, or gradients instead of activations.
    if (p_.cp_comm != CpComm::all_gather || again()) attention_forward(a);
    if (p_.cp == 1) return;
    const Widths w = widths(a);
    if (p_.cp_comm == CpComm::p2p)  // the gradients of keys and values follow them
      for (i64 i = 1; i < p_.cp; ++i)
        issue(K::cp_ring, Op::send_recv, G::cp, wide(w.key + w.value));
    if (p_.cp_comm == CpComm::all_gather)
      for (const i64 width : {w.key, w.value})
        issue(K::cp_reduce_scatter, Op::reduce_scatter, G::cp, double(p_.cp) * wide(width));
  }

  void experts(const model::FeedForward& ffn) {
    const double copies = double(ffn.active) * hidden() / (sp() ? double(p_.tp) : 1);
    // In 8 bits, an fp32 scale follows every 128 elements.
    const bool fp8 = s_.software.fp8_dispatch && s_.job.matmul != Matmul::same;
    issue(K::ep_all_to_all, Op::all_to_all, G::ep,
          fp8 ? copies / number() * (1 + 4.0 / 128) : copies);
    // torchtitan without ep gathers tokens, not copies of them
    const double inside = s_.software.dtensor && p_.ep == 1 ? hidden() : double(p_.etp) * copies;
    issue(K::etp_all_gather, Op::all_gather, G::etp, inside);
    issue(K::etp_reduce_scatter, Op::reduce_scatter, G::etp, inside);
    issue(K::ep_all_to_all, Op::all_to_all, G::ep, copies);
  }
  static bool has_mlp(const model::FeedForward& ffn) {
    return !ffn.sparse() || ffn.shared_width > 0;
  }
  void forward(const model::Layer& layer) {
    block_forward(attention_inputs(layer.attention));
    attention_forward(layer.attention);
    if (has_mlp(layer.ffn)) block_forward(mlp_inputs());
    if (layer.ffn.sparse() && s_.software.dtensor)  // an int64 per expert
      issue(K::ep_token_counts, Op::all_to_all, G::ep, 8 * double(layer.ffn.experts));
    if (layer.ffn.sparse()) experts(layer.ffn);
  }
  void backward(const model::Layer& layer) {
    block_backward(attention_inputs(layer.attention));
    attention_backward(layer.attention);
    if (has_mlp(layer.ffn)) block_backward(mlp_inputs());
    if (layer.ffn.sparse()) experts(layer.ffn);
  }
  /// Returns whether the nth layer of its stage runs forward a second time.
  bool again(i64 nth) const {
    return p_.recompute == Recompute::full &&
           (p_.recompute_layers == 0 || nth < p_.recompute_layers);
  }
  void layer(const model::Layer& layer, i64 nth) {
    forward(layer);
    if (again(nth)) forward(layer);
    // Torch's policy saves the output of attention.
    if (p_.recompute == Recompute::selective && !s_.software.recomputes_ops)
      attention_forward(layer.attention);
    backward(layer);
  }

  void embed() {
    const bool scatters = sp() && s_.model.positions == 0;
    issue(K::tp_embedding, scatters ? Op::reduce_scatter : Op::all_reduce, G::tp, hidden());
    if (sp()) issue(K::tp_embedding_grad, Op::all_gather, G::tp, hidden());
  }
  void head_and_loss() {
    if (sp()) {
      issue(K::tp_head_gather, Op::all_gather, G::tp, hidden());
      if (!s_.software.eager_ops) issue(K::tp_head_gather, Op::all_gather, G::tp, hidden());
    }
    issue(K::tp_head_reduce, sp() ? Op::reduce_scatter : Op::all_reduce, G::tp, hidden());
    const int chunks = s_.software.loss == Loss::chunked ? 8 : 1;
    for (int i = 0; i < 3 * chunks; ++i)
      issue(K::tp_cross_entropy, Op::all_reduce, G::tp, sum() * tokens() / chunks);
  }
  void join_forward() {  // embedding and hidden state through the 2h -> h projection
    if (sp()) gather(2 * hidden());
    gather(hidden());
  }
  void join_backward() {
    if (sp()) gather(hidden());
    scatter(hidden());
    if (!sp()) return all_reduce(2 * hidden());
    gather(2 * hidden());
    scatter(2 * hidden());
  }
  void mtp() {
    constexpr i64 kNotCounted = std::numeric_limits<i64>::max();
    embed();
    join_forward();
    if (again(kNotCounted)) join_forward();
    layer(s_.model.runs.back().layer, kNotCounted);
    join_backward();
  }

  void microbatch(const std::vector<i64>& ranks) {
    const Stages stages = s_.stages();
    i64 first = 0, predictions = 1;
    for (i64 s = 0; s < i64(stages.size()); ++s) {
      const Stage& stage = stages[std::size_t(s)];
      if (s > 0) boundary(ranks[std::size_t(s) - 1], ranks[std::size_t(s)], predictions);
      predictions += stage.mtp;
      if (ranks[std::size_t(s)] == rank_) {
        if (stage.embedding) embed();
        for (i64 i = 0; i < stage.layers; ++i) layer(s_.model.layer(first + i), i);
        for (i64 i = 0; i < stage.mtp; ++i) mtp();
        for (i64 i = 0; stage.loss && i < predictions; ++i) head_and_loss();
      }
      first += stage.layers;
    }
  }
  /// Sends the hidden states of every prediction so far between two stages, and their gradients
  /// back.
  void boundary(i64 from, i64 to, i64 predictions) {
    if (from == to) return;
    const bool parts = sp() || s_.software.scatters_sends;
    const double bytes = double(predictions) * hidden() / (parts ? double(p_.tp) : 1);
    if (from == rank_) issue(K::pp_forward, Op::send_recv, G::pp, bytes);
    if (to == rank_) issue(K::pp_backward, Op::send_recv, G::pp, bytes);
  }

  static bool embeds(const Stage& stage) { return stage.embedding || stage.mtp > 0; }
  i64 rows() const { return (s_.model.vocab + p_.tp - 1) / p_.tp; }
  Share embedding() const { return {.dense = (rows() + s_.model.positions) * s_.model.hidden}; }

  /// Returns the parts of stage s without the vocabulary: layers, MTP modules, the rest of the
  /// head.
  std::vector<Share> inner(i64 s) const {
    const model::Model& m = s_.model;
    const Stages stages = s_.stages();
    const Stage& stage = stages[std::size_t(s)];
    const i64 norm = m.hidden * (m.norm_bias ? 2 : 1);
    i64 first = 0;
    for (i64 before = 0; before < s; ++before) first += stages[std::size_t(before)].layers;
    std::vector<Share> list;
    for (i64 i = first; i < first + stage.layers; ++i)
      list.push_back(count_layer_share(m, m.layer(i), p_));
    for (i64 i = 0; i < stage.mtp; ++i) {
      list.push_back(count_layer_share(m, m.runs.back().layer, p_));
      list.back().dense += 2 * m.hidden * m.hidden / p_.tp + 3 * norm;
    }
    if (stage.loss) list.push_back({.dense = norm + (m.head_bias ? rows() : 0)});
    return list;
  }
  /// Returns the parts of stage s that ZeRO-3 wraps. Every stage gathers what it reads.
  std::vector<Share> list_units(i64 s) const {
    const Stages stages = s_.stages();
    const Stage& stage = stages[std::size_t(s)];
    std::vector<Share> list = inner(s);
    const i64 weight = rows() * s_.model.hidden;
    if (shared()) {  // the weight is a unit of its own wherever it is read
      const bool tied_head = stage.loss && s_.model.tied;
      if (stage.loss && !s_.model.tied) list.back().dense += weight;
      if (embeds(stage) || tied_head) list.push_back({.dense = weight});
      if (embeds(stage)) list.push_back({.dense = embedding().dense - weight});
      return list;
    }
    if (stage.loss && !(s_.model.tied && embeds(stage))) list.back().dense += weight;
    if (embeds(stage)) list.push_back(embedding());
    return list;
  }
  /// Returns the ranks with the embedding's weight; ranks that hold the same stages count as one.
  std::set<std::set<i64>> holders() const {
    std::set<std::set<i64>> all;
    for (i64 r = 0; r < p_.pp; ++r)
      if (reads_vocabulary(held(s_, r))) all.insert(held(s_, r));
    return all;
  }
  bool shared() const { return p_.zero > 0 && holders().size() > 1; }
  /// The parameters that stage s holds unless an earlier stage of its rank does, and the part of
  /// them that other ranks hold too.
  struct Held {
    Share all{};
    i64 shared = 0;
  };
  Held held_by(i64 s) const {
    const Stages stages = s_.stages();
    i64 owner = -1;  // stage that holds the embedding
    for (const i64 t : held_)
      if (owner < 0 && embeds(stages[std::size_t(t)])) owner = t;
    const i64 weight = rows() * s_.model.hidden;
    Held sum;
    for (const Share& part : inner(s)) sum.all += part;
    if (s == owner) sum.all += embedding();
    if (s == owner && shared()) sum.shared = weight;
    if (stages[std::size_t(s)].loss && !(s_.model.tied && owner >= 0)) {
      sum.all.dense += weight;
      if (s_.model.tied && shared()) sum.shared = weight;
    }
    return sum;
  }
  std::vector<double> buckets(const Held& held, bool expert) const {
    if (expert) return buckets(held.all.expert);
    std::vector<double> list = buckets(held.all.dense - held.shared);
    if (held.shared > 0) list.push_back(double(held.shared));
    return list;
  }
  std::vector<double> buckets(i64 parameters) const {
    const i64 usual = std::max<i64>(40'000'000, 1'000'000 * p_.dp * p_.cp);
    const i64 max = p_.bucket_size > 0 ? p_.bucket_size : usual;
    std::vector<double> list;
    for (; parameters > 0; parameters -= std::min(parameters, max))
      list.push_back(double(std::min(parameters, max)));
    return list;
  }
  /// Returns the dense or expert pieces that are reduced or gathered in one call each, for these
  /// stages.
  std::vector<double> pieces(bool expert, const std::set<i64>& met) const {
    const auto of = [&](const Share& share) { return expert ? share.expert : share.dense; };
    std::vector<double> list;
    for (const i64 s : met) {
      if (p_.zero < 3)
        for (const double bucket : buckets(held_by(s), expert)) list.push_back(bucket);
      else
        for (const Share& unit : list_units(s))
          if (of(unit) > 0) list.push_back(double(of(unit)));
    }
    return list;
  }
  bool hybrid() const { return p_.zero > 0 && size_of(G::replicate) > 1; }
  G dense_group() const { return hybrid() ? G::shard : G::dp_cp; }

  /// Returns whether gradients are reduced after the last microbatch. ZeRO-2 and 3 keep only a
  /// shard of them; FSDP2 waits for the last microbatch of a pipeline.
  bool once() const { return p_.zero < 2 || (s_.software.fsdp && p_.pp > 1); }
  /// Returns whether every rank gets all reduced gradients, which DeepSpeed does in ZeRO-1 and 2
  /// too.
  bool whole() const { return p_.zero == 0 || (p_.zero < 3 && s_.software.all_reduces); }

  void reduce_gradients(const std::set<i64>& met) {
    for (const bool expert : {false, true})
      for (const double n : pieces(expert, met)) {
        const G group = expert ? G::edp : dense_group();
        if (whole())
          issue(expert ? K::expert_dp_all_reduce : K::dp_all_reduce, Op::all_reduce, group,
                n * gradient());
        else
          issue(expert ? K::expert_dp_reduce_scatter : K::dp_reduce_scatter, Op::reduce_scatter,
                group, n * gradient());
        if (!expert && hybrid())
          issue(K::replica_all_reduce, Op::all_reduce, G::replicate,
                n * gradient() / double(size_of(G::shard)));
      }
  }
  void gather_piece(bool expert, double n) {
    // FSDP can cast its shards before it gathers them.
    const bool fp8 = p_.zero == 3 && s_.software.gathers_fp8 && s_.job.matmul != Matmul::same;
    issue(expert ? K::expert_dp_all_gather : K::dp_all_gather, Op::all_gather,
          expert ? G::edp : dense_group(), n * (fp8 ? 1 : double(s_.job.param_bytes())));
  }
  void gather_parameters(const std::set<i64>& met) {
    for (const bool expert : {false, true})
      for (const double n : pieces(expert, met)) gather_piece(expert, n);
  }

  /// Issues the calls once per step: what tp ranks share, what pp ranks share, the gradient norm.
  void finish() {
    const double shared = double(count_rank_share(s_, rank_).sequence_shared);
    double head_norms = 0;
    const RankContents on_rank = contents(s_, rank_);
    const auto norms = [](const model::Layer& l) {
      return l.attention.qk_norm ? 2 * l.attention.head_dim : 0;
    };
    for (const model::LayerRun& run : on_rank.runs)
      head_norms += double(run.count * norms(run.layer));
    head_norms += double(on_rank.mtp * norms(s_.model.runs.back().layer));
    const double summed = sp() ? shared : head_norms;
    if (s_.software.dtensor)
      reduce_weights(on_rank);
    else if (summed > 0)
      issue(K::tp_norm_grads, Op::all_reduce, G::tp, summed * gradient());

    const std::set<std::set<i64>> all = holders();
    const double part = p_.zero >= 2 ? double(size_of(G::shard)) : 1;
    if (all.size() > 1 && all.count(held_) > 0)
      issue(K::tied_embedding_grad, Op::all_reduce, G::edges,
            double(count_vocabulary_rows(s_.model, p_.tp) * s_.model.hidden) * gradient() / part);
    join_copies();
    issue(K::gradient_norm, Op::all_reduce, p_.zero > 0 ? G::world : G::model, sum());
  }
  /// Reduces the gradient of each weight that all tp ranks hold, before it is added up or after.
  void reduce_weights(const RankContents& on_rank) {
    const i64 times = once() ? 1 : s_.stage_microbatches();
    const auto reduce = [&](const std::vector<i64>& weights, i64 count) {
      for (i64 i = 0; i < times * count; ++i)
        for (const i64 n : weights)
          issue(K::tp_norm_grads, Op::all_reduce, G::tp,
                double(n) * (once() ? gradient() : number()));
    };
    for (const model::LayerRun& run : on_rank.runs)
      reduce(list_partial_weights(s_, run.layer), run.count);
    reduce(list_partial_mtp_weights(s_), on_rank.mtp);
    if (on_rank.loss) reduce(list_partial_head_weights(s_), 1);
  }
  bool reads_vocabulary(const std::set<i64>& stages) const {
    for (const i64 s : stages) {
      const Stage stage = s_.stages()[std::size_t(s)];
      if (stage.embedding || stage.mtp > 0 || (stage.loss && s_.model.tied)) return true;
    }
    return false;
  }
  /// Reduces with every other rank that holds the same stages, bucket by bucket; with ZeRO only the
  /// part of one data rank.
  void join_copies() {
    const double dense_parts = p_.zero > 0 ? double(size_of(G::shard)) : 1;
    const double expert_parts = p_.zero > 0 ? double(size_of(G::edp)) : 1;
    for (i64 r = 0; r < p_.pp; ++r) {
      if (r == rank_ || held(s_, r) != held_) continue;
      for (const i64 s : held_) {
        for (const double n : buckets(held_by(s), false))
          issue(K::mirror_grad, Op::all_reduce, G::mirror, n * gradient() / dense_parts);
        for (const double n : buckets(held_by(s), true))
          issue(K::mirror_grad, Op::all_reduce, G::mirror, n * gradient() / expert_parts);
      }
    }
  }

  const TrainingConfig& s_;
  const Plan& p_;
  i64 rank_;
  std::set<i64> held_;
  std::map<G, i64> sizes_;
  Account account_{};
};

void compare(const TrainingConfig& config, i64 pp_rank) {
  Account expected = ReferenceFramework(config, pp_rank).step();
  for (const Traffic& t : list_traffic(config, pp_rank)) {
    RC_LOG() << row(t.kind).label << " " << name(t.op) << " on pp rank " << pp_rank << std::endl;
    const auto found = expected.find({t.kind, t.op, t.group});
    RC_ASSERT(found != expected.end());
    RC_ASSERT(t.calls == found->second.calls);
    RC_ASSERT(std::abs(t.total.value - found->second.bytes) <= 1e-9 * found->second.bytes);
    expected.erase(found);  // so that a second row of the same kind is an error
  }
  for (const auto& [key, sum] : expected)
    RC_FAIL("no row for " + std::string(row(std::get<0>(key)).label));
}

RC_GTEST_PROP(Traffic, AllSoftware_MatchesIssuingCallsOneByOne, ()) {
  TrainingConfig config = sample::random_config();
  config.software =
      *rc::gen::elementOf(std::vector<Software>(frameworks().begin(), frameworks().end()));
  config.job.matmul = Matmul(sample::one_of({0, 1}));
  for (i64 r = 0; r < config.plan.pp; ++r) compare(config, r);
}

RC_GTEST_PROP(Traffic, EverySchedule_MatchesIssuingCallsOneByOne, ()) {
  RC_ASSERT(pipeline::schedules().size() == pipeline::kSchedules);
  for (const pipeline::ScheduleRow& s : pipeline::schedules()) {
    const TrainingConfig config = sample::random_config(sample::random_model(), s.schedule);
    for (i64 r = 0; r < config.plan.pp; ++r) compare(config, r);
  }
}

RC_GTEST_PROP(Traffic, KnownModels_MatchIssuingCallsOneByOne, ()) {
  const TrainingConfig config = sample::random_config(sample::random_known_model());
  for (i64 r = 0; r < config.plan.pp; ++r) compare(config, r);
}

i64 calls_of(const TrainingConfig& config, K kind) {
  i64 calls = 0;
  for (i64 r = 0; r < config.plan.pp; ++r)
    for (const Traffic& t : list_traffic(config, r)) calls += t.kind == kind ? t.calls : 0;
  return calls;
}

RC_GTEST_PROP(Traffic, EveryRankBoundary_IsOneSendEachWay, ()) {
  const TrainingConfig config = sample::random_config();
  i64 boundaries = 0;
  for (i64 m = 0; m < config.microbatches(); ++m) {
    const std::vector<i64> ranks = way(config, m);
    for (std::size_t s = 1; s < ranks.size(); ++s) boundaries += ranks[s - 1] != ranks[s] ? 1 : 0;
  }
  RC_ASSERT(calls_of(config, K::pp_forward) == boundaries);
  RC_ASSERT(calls_of(config, K::pp_backward) == boundaries);
}

RC_GTEST_PROP(Traffic, OneRank_HasNone, ()) {
  TrainingConfig config = sample::random_config();
  config.plan = {.zero = config.plan.zero, .recompute = config.plan.recompute};
  config.world = 1;
  RC_ASSERT(list_traffic(config, 0).empty());
}

}  // namespace traffic_law_test
}  // namespace rankwright::plan
