#include "rankwright/cost/layer_time.h"

#include <algorithm>
#include <cmath>

#include "rankwright/plan/messages.h"
#include "rankwright/plan/shares.h"

namespace rankwright::cost {
namespace {

/// Sums over the matmuls of a part of a layer on one rank; each has inner dimension k and n
/// columns.
struct Matmuls {
  double nk = 0, n = 0, k = 0;
  double count = 0;

  void add(double columns, double inner) {
    nk += columns * inner;
    n += columns;
    k += inner;
    count += 1;
  }
};

struct MatmulTime {
  Seconds forward{}, input{}, weight{};
};

constexpr double kHalf = 2;  // bytes per 16-bit element

/// L1: the arithmetic, half a wave of tiles that each matmul loses at its end, and the part of its
/// memory traffic that arithmetic does not overlap. The lost tiles have the inner dimension of
/// their pass: k in the forward, n for the input gradient, the rows for the weight gradient.
MatmulTime estimate_matmul_time(const Matmuls& m, double rows, FlopsPerSecond rate,
                                const plan::TrainingConfig& config, const Rates& rates,
                                const cluster::Calibration& c) {
  const Seconds work = Flops{2 * rows * m.nk} / rate;
  const Seconds lost = Flops{2 * rates.tile} / rate;
  const double outputs = rates.wider * kHalf * rows * (m.n + m.k);
  const double accumulated = config.software.fused_accumulation ? 8 : 4;  // 8: fp32 read and write
  const Seconds read = c[cluster::Constant::matmul_bytes] *
                       (Bytes{outputs + rates.wider * kHalf * m.nk} / rates.memory);
  const Seconds added =
      c[cluster::Constant::matmul_bytes] * (Bytes{outputs + accumulated * m.nk} / rates.memory);
  const double slower = c[cluster::Constant::backward];
  return {.forward = work + m.k * lost + read,
          .input = slower * (work + m.n * lost) + read,
          .weight = slower * (work + rows * m.count * lost) + added};
}

/// The inputs of layer_time for one microbatch on one rank.
struct Work {
  const plan::TrainingConfig& config;
  const Rates& rates;
  const Links& links;
  const cluster::Calibration& c;
  double tokens;  // of the microbatch on a cp rank
  double tp;
  double kept;  // tokens between the blocks, divided by tp with sequence parallelism
  double hidden;

  Work(const plan::TrainingConfig& s, const Rates& r, const Links& l,
       const cluster::Calibration& calibration)
      : config(s),
        rates(r),
        links(l),
        c(calibration),
        tokens(double(s.plan.micro_batch) * double(s.job.sequence) / double(s.plan.cp)),
        tp(double(s.plan.tp)),
        kept(tokens / (sequence_parallel(s.plan) ? tp : 1)),
        hidden(double(s.model.hidden)) {}

  MatmulTime matmuls(const Matmuls& m, double rows) const {
    return estimate_matmul_time(m, rows, rates.layers, config, rates, c);
  }
  Seconds stream(double bytes) const {
    return c[cluster::Constant::elementwise] * rates.wider * (Bytes{bytes} / rates.memory);
  }
  Seconds casts(double elements) const { return Bytes{rates.casts * elements} / rates.memory; }
};

struct AttentionShape {
  Matmuls matmuls{};
  double core = 0;     // mean width of the two products with the sequence
  double handled = 0;  // elements of queries, keys and values per token
  double keys = 0;     // width of the keys and values that context parallelism sends
};

AttentionShape make_attention_shape(const model::Attention& a, double h, double tp) {
  AttentionShape s;
  if (a.kind == model::Attention::Kind::latent) {
    const double query = double(a.query_width()), value = double(a.value_width());
    const double latent = double(a.kv_rank + a.rope_dim);
    const double up = double(a.heads * (a.nope_dim + a.value_dim));
    if (a.q_rank > 0) s.matmuls.add(double(a.q_rank), h);
    s.matmuls.add(query / tp, a.q_rank > 0 ? double(a.q_rank) : h);
    s.matmuls.add(latent, h);
    s.matmuls.add(up / tp, double(a.kv_rank));
    s.matmuls.add(h, value / tp);
    s.core = (query + value) / 2 / tp;
    s.handled = (query + up + value) / tp;
    s.keys = latent;
    return s;
  }
  const double query = double(a.query_width()) / tp;
  const double key = double(ceil_div(a.kv_heads, i64(tp)) * a.head_dim);
  s.matmuls.add(query + 2 * key, h);
  s.matmuls.add(h, query);
  s.core = query;
  s.handled = query + 2 * key;
  s.keys = 2 * key;
  return s;
}

struct CoreTime {
  Seconds forward{}, backward{};
};

/// L2, fused: causal FLOPs at the kernel's rate, with short sequences slower. L3, unfused: the full
/// square in two batched matmuls, and 11 bytes per score in the forward and 17 in the backward.
CoreTime estimate_core_time(const Work& w, const model::Attention& a, double width) {
  const double sequence = double(w.config.job.sequence);
  const bool fused = w.config.software.attention != plan::AttentionKernel::unfused;
  if (fused && !w.config.cluster.device.cpu()) {
    constexpr double kLong = 4096, kFill = 300, kBackward = 2.5;
    const bool narrow = a.kind == model::Attention::Kind::grouped && a.head_dim <= 64;
    const FlopsPerSecond rate =
        (narrow ? w.c[cluster::Constant::narrow_head] : 1) * w.rates.attention;
    const double fill = sequence < kLong ? 1 + kFill / sequence : 1;
    const Seconds forward = fill * (Flops{2 * w.tokens * sequence * width} / rate);
    return {forward, kBackward * forward};
  }
  const double aligned = a.head_dim % 8 == 0 ? 1 : w.c[cluster::Constant::misaligned_head];
  const Seconds products = aligned * (Flops{4 * w.tokens * sequence * width} /
                                      (w.c[cluster::Constant::unfused_matmul] * w.rates.half));
  const Seconds score = w.c[cluster::Constant::unfused_bytes] * w.rates.wider *
                        (Bytes{w.tokens * sequence * double(a.heads) / w.tp} / w.rates.memory);
  return {products + 11 * score, 2 * products + 17 * score};
}

struct CpTime {
  Seconds forward{}, backward{};
};

/// L6: keys and values travel around a ring during the attention core, and the excess is exposed;
/// or they are gathered before it, or an all-to-all shards heads in place of the sequence, both
/// fully exposed.
CpTime estimate_cp_time(const Work& w, const model::Attention& attention,
                        const AttentionShape& shape, const CoreTime& core) {
  const plan::Plan& plan = w.config.plan;
  if (plan.cp == 1) return {};
  const Bytes part = Bytes{kHalf * w.tokens * shape.keys};
  if (plan.cp_comm == plan::CpComm::all_gather) {
    const Bytes all = double(plan.cp) * part;
    const Seconds gather = w.links.time(plan::Op::all_gather, all, mesh::GroupKind::cp);
    return {gather, gather + w.links.time(plan::Op::reduce_scatter, all, mesh::GroupKind::cp)};
  }
  if (plan.cp_comm == plan::CpComm::a2a) {
    const plan::AttentionMessages m = compute_messages(w.config, attention);
    Seconds once{};
    for (const Bytes size : {m.query, m.key, m.value, m.output})
      once += w.links.time(plan::Op::all_to_all, size, mesh::GroupKind::cp);
    return {once, once};
  }
  constexpr double kMinExposed = 0.1;  // fraction of one ring pass, over forward and backward
  const Seconds ring =
      double(plan.cp - 1) * w.links.time(plan::Op::send_recv, part, mesh::GroupKind::cp);
  return {std::max(Seconds{}, ring - core.forward) + kMinExposed / 3 * ring,
          std::max(Seconds{}, 2 * ring - core.backward) + kMinExposed * 2 / 3 * ring};
}

struct ExpertTime {
  Pass forward{}, input{}, weight{};
};

/// L7: the routed and shared experts, the permutation of dispatched tokens, and the all-to-alls.
ExpertTime estimate_expert_time(const Work& w, const model::FeedForward& ffn) {
  const plan::Plan& plan = w.config.plan;
  const double etp = double(plan.etp), ep = double(plan.ep);
  const double sent = w.tokens / w.tp;  // each tp rank sends a part
  const double copies = sent * double(ffn.active);
  const double local = std::max(1.0, double(ffn.experts) / ep);
  const double rows = copies * ep * etp / double(ffn.experts);
  const double gates = double(ffn.matrices - 1);

  Matmuls one, shared;
  one.add(gates * double(ffn.expert_width) / etp, w.hidden);
  one.add(w.hidden, double(ffn.expert_width) / etp);
  const MatmulTime expert = w.matmuls(one, rows);
  MatmulTime always;
  if (ffn.shared_width > 0) {
    shared.add(gates * double(ffn.shared_width) / w.tp, w.hidden);
    shared.add(w.hidden, double(ffn.shared_width) / w.tp);
    always = w.matmuls(shared, w.tokens);
  }
  const double busiest = w.c[cluster::Constant::imbalance_experts] * local;

  const Bytes all = Bytes{kHalf * copies * w.hidden};
  const Seconds pass = w.c[cluster::Constant::permute] * (all / w.rates.memory);
  Seconds exchange{};
  if (plan.ep > 1) {
    const double inside = double(w.links.span(mesh::GroupKind::ep).inside[0]);
    const double nodes = ep / std::max(1.0, inside);
    // A token crosses once to each node that has one of its experts.
    const double crossings = nodes * (1 - std::pow(1 - 1 / nodes, double(ffn.active)));
    const Bytes out = Bytes{kHalf * sent * w.hidden * crossings};
    exchange = w.links.all_to_all(all, out, plan.overlap.pp ? w.c[cluster::Constant::ep_shown] : 1,
                                  mesh::GroupKind::ep);
  }
  if (plan.etp > 1) exchange += w.links.time(plan::Op::all_gather, etp * all, mesh::GroupKind::etp);

  const double activated =
      (ffn.matrices == 2 ? 4 : 6) *
      (double(ffn.expert_width) / etp * rows * local + double(ffn.shared_width) / w.tp * w.tokens);
  ExpertTime time;
  time.forward = {.matmul = busiest * expert.forward + always.forward,
                  .elementwise = w.stream(activated),
                  .casts = w.casts(rows * local * one.k),
                  .permute = 6 * pass,
                  .ep = 2 * exchange};
  time.input = {.matmul = busiest * expert.input + always.input,
                .elementwise = w.stream(2 * activated),
                .casts = w.casts(rows * local * one.n),
                .permute = 8 * pass,
                .ep = 2 * exchange};
  time.weight.matmul = busiest * expert.weight + always.weight;
  return time;
}

struct DenseTime {
  MatmulTime matmul{};
  double activated = 0;  // bytes moved by the activation function in the forward
  Matmuls shape{};
};

DenseTime estimate_dense_time(const Work& w, const model::FeedForward& ffn) {
  const double width = double(ffn.width) / w.tp;
  DenseTime time;
  time.shape.add(double(ffn.matrices - 1) * width, w.hidden);
  time.shape.add(w.hidden, width);
  time.matmul = w.matmuls(time.shape, w.tokens);
  time.activated = (ffn.matrices == 2 ? 4 : 6) * width * w.tokens;
  return time;
}

/// Returns a smooth maximum of the device's and the host's time (L8).
Seconds smooth_max(Seconds work, Seconds floor) {
  const double w = work.value, f = floor.value;
  return {std::cbrt(w * w * w + f * f * f)};
}

/// Adds the kernel-launch overhead to the passes.
void add_launches(LayerTime& time, const Rates& rates, double kernels) {
  constexpr double kBackwardKernels = 1.2;  // relative to the forward, in a layer with experts
  const Seconds forward = time.forward.total();
  const Seconds backward = time.backward();
  Seconds more_forward = rates.blocking, more_backward = rates.blocking_back;
  if (rates.blocking.value <= 0) {
    more_forward = smooth_max(forward, kernels * rates.launch) - forward;
    more_backward =
        smooth_max(backward, (kernels > 1 ? kBackwardKernels : 1) * kernels * rates.launch) -
        backward;
  }
  time.forward.launch += more_forward;
  const double part = backward.value > 0 ? time.input.total() / backward : 0.5;
  time.input.launch += part * more_backward;
  time.weight.launch += (1 - part) * more_backward;
}

/// Returns the time of selective recomputation (L9). Megatron-LM recomputes the attention core or,
/// in layers with experts, norms, the activation function and latent attention's up-projections.
/// Torch's policy recomputes every second matmul and the operations between.
Seconds selective_time(const Work& w, const model::Layer& layer, const LayerTime& time,
                       Seconds core) {
  if (w.config.software.recomputes_ops) return 0.5 * time.forward.matmul + time.forward.elementwise;
  if (!layer.ffn.sparse()) return core;
  const model::Attention& a = layer.attention;
  const double up =
      a.kind == model::Attention::Kind::latent
          ? double(a.q_rank * a.query_width() + a.kv_rank * a.heads * (a.nope_dim + a.value_dim)) /
                w.tp
          : 0;
  return time.forward.elementwise + w.matmuls({.nk = up}, w.tokens).forward;
}

}  // namespace

Pass& Pass::operator+=(const Pass& other) {
  matmul += other.matmul;
  attention += other.attention;
  elementwise += other.elementwise;
  casts += other.casts;
  permute += other.permute;
  tp += other.tp;
  cp += other.cp;
  ep += other.ep;
  launch += other.launch;
  return *this;
}

Pass operator*(double times, const Pass& p) {
  return {.matmul = times * p.matmul,
          .attention = times * p.attention,
          .elementwise = times * p.elementwise,
          .casts = times * p.casts,
          .permute = times * p.permute,
          .tp = times * p.tp,
          .cp = times * p.cp,
          .ep = times * p.ep,
          .launch = times * p.launch};
}

BlockTime estimate_block_time(const plan::TrainingConfig& config, const Links& links,
                              const cluster::Calibration& calibration) {
  const plan::Plan& plan = config.plan;
  if (plan.tp == 1) return {};
  const Bytes all = compute_messages(config).hidden;
  const double shown = plan.overlap.tp ? calibration[cluster::Constant::tp_shown] : 1;
  if (!plan.sequence_parallel) {
    const Seconds reduce = shown * links.time(plan::Op::all_reduce, all, mesh::GroupKind::tp);
    return {reduce, reduce};
  }
  // The CPU runtime waits for the second gather; elsewhere the weight gradient overlaps most of it.
  const double second = config.cluster.device.cpu() ? 1 : 0.3;
  const Seconds gather = shown * links.time(plan::Op::all_gather, all, mesh::GroupKind::tp);
  const Seconds scatter = shown * links.time(plan::Op::reduce_scatter, all, mesh::GroupKind::tp);
  return {gather + scatter, gather + scatter + second * gather};
}

LayerTime estimate_layer_time(const plan::TrainingConfig& config, const model::Layer& layer,
                              const Rates& rates, const Links& links, const BlockTime& tp,
                              const cluster::Calibration& calibration) {
  const Work w(config, rates, links, calibration);
  const AttentionShape shape = make_attention_shape(layer.attention, w.hidden, w.tp);
  const MatmulTime projections = w.matmuls(shape.matmuls, w.tokens);
  const CoreTime core = estimate_core_time(w, layer.attention, shape.core);

  const CpTime cp = estimate_cp_time(w, layer.attention, shape, core);

  // L4: bytes of norms, residuals and operations on queries, keys and values.
  const double norms = 22 * w.hidden * w.kept, norms_back = 30 * w.hidden * w.kept;
  const double handled = shape.handled * w.tokens;
  LayerTime time;
  time.forward = {.matmul = projections.forward,
                  .attention = core.forward,
                  .elementwise = w.stream(norms + 8 * handled),
                  .casts = w.casts(w.tokens * shape.matmuls.k),
                  .tp = tp.forward,
                  .cp = cp.forward};
  time.input = {.matmul = projections.input,
                .attention = core.backward,
                .elementwise = w.stream(norms_back + 10 * handled),
                .casts = w.casts(w.tokens * shape.matmuls.n),
                .tp = tp.backward,
                .cp = cp.backward};
  time.weight.matmul = projections.weight;

  if (layer.ffn.sparse()) {
    const ExpertTime experts = estimate_expert_time(w, layer.ffn);
    constexpr double kRouterAndShared = 0.5;  // fraction of a dense block's collectives
    time.forward += experts.forward;
    time.input += experts.input;
    time.weight += experts.weight;
    time.forward.tp += kRouterAndShared * tp.forward;
    time.input.tp += kRouterAndShared * tp.backward;
  } else {
    const DenseTime dense = estimate_dense_time(w, layer.ffn);
    time.forward.matmul += dense.matmul.forward;
    time.forward.elementwise += w.stream(dense.activated);
    time.forward.casts += w.casts(w.tokens * dense.shape.k);
    time.forward.tp += tp.forward;
    time.input.matmul += dense.matmul.input;
    time.input.elementwise += w.stream(2 * dense.activated);
    time.input.casts += w.casts(w.tokens * dense.shape.n);
    time.input.tp += tp.backward;
    time.weight.matmul += dense.matmul.weight;
  }
  add_launches(time, rates, layer.ffn.sparse() ? calibration[cluster::Constant::launch_sparse] : 1);
  time.selective = selective_time(w, layer, time, core.forward);
  time.recompute(config.plan.recompute);
  return time;
}

EmbeddingHeadTime estimate_head_time(const plan::TrainingConfig& config, const Rates& rates,
                                     const Links& links, const BlockTime& tp,
                                     const cluster::Calibration& calibration) {
  const Work w(config, rates, links, calibration);
  const double rows = double(plan::count_vocabulary_rows(config.model, config.plan.tp));
  Matmuls head;
  head.add(rows, w.hidden);
  const MatmulTime matmul =
      estimate_matmul_time(head, w.tokens, rates.half, config, rates, calibration);
  const Seconds loss = w.stream(calibration[cluster::Constant::loss_bytes] * w.tokens * rows);
  EmbeddingHeadTime time;
  time.forward = {.matmul = matmul.forward, .elementwise = 0.5 * loss, .tp = tp.forward};
  time.input = {.matmul = matmul.input, .elementwise = 0.5 * loss, .tp = tp.backward};
  time.weight.matmul = matmul.weight;
  return time;
}

EmbeddingHeadTime estimate_embedding_time(const plan::TrainingConfig& config, const Rates& rates,
                                          const Links& links, const BlockTime& tp,
                                          const cluster::Calibration& calibration) {
  const Work w(config, rates, links, calibration);
  constexpr double kPass = 8;  // bytes per element: read and written, twice
  EmbeddingHeadTime time;
  time.forward.elementwise = w.stream(kPass * w.tokens * w.hidden);
  time.forward.tp = 0.5 * tp.forward;
  time.weight.elementwise = w.stream(kPass * w.tokens * w.hidden);
  return time;
}

}  // namespace rankwright::cost
