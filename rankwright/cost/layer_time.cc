#include "rankwright/cost/layer_time.h"

#include <algorithm>
#include <cmath>

#include "rankwright/cost/memory/activations.h"
#include "rankwright/model/flops.h"
#include "rankwright/plan/adapters.h"
#include "rankwright/plan/frozen.h"
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
/// The part of the activation function's memory traffic that is left if the matmul before it
/// computes it: its output is written, and its inputs are not read again.
constexpr double kWrittenOnce = 1.0 / 3;

/// L1: the arithmetic, half a wave of tiles that each matmul loses at its end, and the part of its
/// memory traffic that arithmetic does not overlap. The lost tiles have the inner dimension of
/// their pass: k in the forward, n for the input gradient, the rows for the weight gradient. A
/// grouped kernel runs `groups` such matmuls, each with its own weights, and loses tiles once.
MatmulTime estimate_matmul_time(const Matmuls& m, double rows, FlopsPerSecond rate,
                                const plan::TrainingConfig& config, const Rates& rates,
                                const cluster::Calibration& c, double groups = 1) {
  const Seconds work = groups * (Flops{2 * rows * m.nk} / rate);
  const Seconds lost = Flops{2 * rates.tile} / rate;
  const double outputs = groups * rates.wider * kHalf * rows * (m.n + m.k);
  const double accumulated = config.software.fused_accumulation ? 8 : 4;  // 8: fp32 read and write
  const Seconds read = c[cluster::Constant::matmul_bytes] *
                       (Bytes{outputs + groups * rates.wider * kHalf * m.nk} / rates.memory);
  const Seconds added = c[cluster::Constant::matmul_bytes] *
                        (Bytes{outputs + groups * accumulated * m.nk} / rates.memory);
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
  /// Returns the time of `experts` experts with `rows` tokens each.
  MatmulTime expert_matmuls(const Matmuls& m, double rows, double experts) const {
    const bool grouped = config.software.experts != plan::ExpertKernel::sequential;
    MatmulTime time =
        estimate_matmul_time(m, rows, rates.experts, config, rates, c, grouped ? experts : 1);
    const double lost = config.cluster.device.cpu() ? 0 : c[cluster::Constant::tile_start];
    const double slower = c[cluster::Constant::backward];
    const auto start = [&](double elements) {
      return (grouped ? experts : 1) * (Flops{2 * lost * elements} / rates.half);
    };
    time.forward += start(rows * m.n);
    time.input += slower * start(rows * m.k);
    time.weight += slower * start(m.nk);
    if (grouped) return time;
    return {experts * time.forward, experts * time.input, experts * time.weight};
  }
  Seconds stream(double bytes) const {
    return c[cluster::Constant::elementwise] * rates.wider * (Bytes{bytes} / rates.memory);
  }
  Seconds casts(double elements) const { return Bytes{rates.casts * elements} / rates.memory; }
  Seconds expert_casts(double elements) const {
    return Bytes{rates.expert_casts * elements} / rates.memory;
  }
};

struct AttentionShape {
  Matmuls matmuls{};
  Matmuls up{};        // those of them from the compressed queries, keys and values
  double core = 0;     // mean width of the two products with the sequence
  double handled = 0;  // elements of queries, keys and values per token
  double normed = 0;   // elements of queries and keys that have norms of their own
};

AttentionShape make_attention_shape(const model::Attention& a, double h, double tp) {
  AttentionShape s;
  if (!a.present()) return s;
  if (a.recurrent()) {
    const double projected = double(a.projected_width()) / tp, value = double(a.value_width()) / tp;
    s.matmuls.add(projected, h);
    s.matmuls.add(h, value);
    s.core = value;
    s.handled = projected + double(a.conv_channels()) / tp;
    return s;
  }
  if (a.kind == model::Attention::Kind::latent) {
    const double query = double(a.query_width()), value = double(a.value_width());
    const double latent = double(a.kv_rank + a.rope_dim);
    const double up = double(a.heads * (a.nope_dim + a.value_dim));
    if (a.q_rank > 0) s.matmuls.add(double(a.q_rank), h);
    s.matmuls.add(query / tp, a.q_rank > 0 ? double(a.q_rank) : h);
    s.matmuls.add(latent, h);
    s.matmuls.add(up / tp, double(a.kv_rank));
    if (a.q_rank > 0) s.up.add(query / tp, double(a.q_rank));
    s.up.add(up / tp, double(a.kv_rank));
    s.matmuls.add(h, value / tp);
    s.core = (query + value) / 2 / tp;
    s.handled = (query + up + value) / tp;
    if (a.index_heads > 0) {  // every tp rank has the whole indexer
      const double index = double(a.index_heads * a.index_dim);
      s.matmuls.add(index, a.q_rank > 0 ? double(a.q_rank) : h);
      s.matmuls.add(double(a.index_dim + a.index_heads), h);
      s.handled += index;
    }
    return s;
  }
  const double query = double(a.query_width()) / tp;
  const double key = double(ceil_div(a.kv_heads, i64(tp)) * a.head_dim);
  const double gate = a.gated ? query : 0;
  s.matmuls.add(query + 2 * key + gate, h);
  s.matmuls.add(h, query);
  s.core = query;
  s.handled = query + 2 * key + 2 * gate;
  s.normed = a.qk_norm ? query + key : 0;
  return s;
}

struct CoreTime {
  Seconds forward{}, backward{};
};

/// Returns the length of the blocks of keys that one attention kernel works on: a ring passes them
/// from rank to rank, a part of the sequence at a time, and a window may be shorter.
double key_block(const plan::TrainingConfig& config, const model::Attention& a) {
  const bool ring = config.plan.cp_comm == plan::CpComm::p2p;
  const double block = double(config.job.attended()) / (ring ? double(config.plan.cp) : 1);
  return a.window > 0 ? std::min(block, double(a.window)) : block;
}

/// Returns the bytes per element of the output that a ring moves to combine the results of its
/// blocks: each one is read, and the sum is read and written, in the forward for the outputs and in
/// the backward for the gradients of queries, keys and values (L6).
double combined_bytes(const plan::TrainingConfig& config) {
  if (config.plan.cp_comm != plan::CpComm::p2p) return 0;
  constexpr double kAccumulate = 2 + 4 + 4;  // 16 bits added to 32
  return kAccumulate * double(config.plan.cp - 1);
}

/// L2, fused: causal FLOPs at the kernel's rate, with short blocks slower; a window, chunks or an
/// indexer shorten the scores (F5). L3, unfused: the full square in two batched matmuls, and 11
/// bytes per score in the forward and 17 in the backward. L10: a recurrence does F6 at the fused
/// kernel's rate (assumed).
CoreTime estimate_core_time(const Work& w, const model::Attention& a, double width) {
  const double sequence = double(w.config.job.sequence);
  constexpr double kBackward = 2.5;
  if (!a.present()) return {};
  if (a.recurrent()) {
    const double each = core_forward_flops(a, w.config.job.attended()).value / w.tp;
    const Seconds forward = Flops{w.tokens * each} / w.rates.attention;
    return {forward, kBackward * forward};
  }
  const bool fused = w.config.software.attention != plan::AttentionKernel::unfused;
  if (fused && !w.config.cluster.device.cpu()) {
    constexpr double kLong = 4096, kFill = 300;
    const bool narrow = a.kind == model::Attention::Kind::grouped && a.head_dim <= 64;
    const FlopsPerSecond rate =
        (narrow ? w.c[cluster::Constant::narrow_head] : 1) * w.rates.attention;
    const double block = key_block(w.config, a);
    const double fill = block < kLong ? 1 + kFill / block : 1;
    const double length = compute_score_length(a, w.config.job.attended());
    const Flops index{w.tokens * sequence * double(a.index_heads * a.index_dim)};
    const Seconds forward = fill * (Flops{2 * w.tokens * length * width} / rate) + index / rate;
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
  CommTime forward{}, backward{};
  CommTime gathers{};  // of keys and values that only selective recomputation gathers again
};

/// Returns `time` with the part that is longer than `compute` exposed, and at least the fraction
/// `min_exposed`.
CommTime overlap(Seconds time, Seconds compute, double min_exposed) {
  const Seconds exposed = std::min(time, std::max(Seconds{}, time - compute) + min_exposed * time);
  return {exposed, time - exposed};
}

/// L6: keys and values travel around a ring during the attention core, and the excess is exposed;
/// or they are gathered before it, or an all-to-all shards heads in place of the sequence, both
/// fully exposed.
CpTime estimate_cp_time(const Work& w, const model::Attention& attention, const CoreTime& core) {
  const plan::Plan& plan = w.config.plan;
  if (plan.cp == 1 || !attention.present()) return {};
  const plan::AttentionMessages m = compute_messages(w.config, attention);
  const Bytes part = m.key + m.value;
  const auto time = [&](plan::TrafficKind kind, plan::Op op, Bytes size) {
    return w.links.time(kind, op, size, mesh::GroupKind::cp);
  };
  if (plan.cp_comm == plan::CpComm::all_gather) {
    Seconds gather{}, scatter{};
    for (const Bytes tensor : {m.key, m.value}) {
      const Bytes all = double(plan.cp) * tensor;
      gather += time(plan::TrafficKind::cp_all_gather, plan::Op::all_gather, all);
      scatter += time(plan::TrafficKind::cp_reduce_scatter, plan::Op::reduce_scatter, all);
    }
    if (w.config.software.eager_ops) return {{gather}, {scatter}, {gather}};
    return {{gather}, {gather + scatter}};
  }
  if (plan.cp_comm == plan::CpComm::a2a) {
    Seconds once{};
    for (const Bytes size : {m.query, m.key, m.value, m.output})
      once += time(plan::TrafficKind::cp_all_to_all, plan::Op::all_to_all, size);
    return {{once}, {once}};
  }
  constexpr double kMinExposed = 0.1 / 3;  // fraction of the ring pass
  const Seconds ring =
      double(plan.cp - 1) * time(plan::TrafficKind::cp_ring, plan::Op::send_recv, part);
  return {overlap(ring, core.forward, kMinExposed), overlap(2 * ring, core.backward, kMinExposed)};
}

struct ExpertTime {
  Pass forward{}, input{}, weight{};
  Seconds activation{};  // of the experts' activation function, in the forward
  Pass shared{};         // the forward of the shared experts
};

/// Bytes that the biases of the experts' last matmuls move per element of their outputs (L7).
/// Megatron-LM adds them after the kernels, times the router's fp32 weights: a product, a sum and a
/// concatenation in fp32, and a cast (TEGroupedMLP._apply_bias).
struct BiasBytes {
  double forward, backward;
};
constexpr BiasBytes kUnfusedBias{4 + (2 + 4 + 4) + (4 + 4) + (4 + 2),
                                 (2 + 4) + (4 + 2) + (2 + 2) + 2 * (4 + 4 + 4)};
constexpr BiasBytes kFusedBias{2 + 2, 2};

/// L7: the routed and shared experts, the permutation of dispatched tokens, and the all-to-alls.
ExpertTime estimate_expert_time(const Work& w, const model::FeedForward& ffn) {
  const plan::Plan& plan = w.config.plan;
  const double etp = double(plan.etp), ep = double(plan.ep);
  const double sent = w.tokens / w.tp;  // each tp rank sends a part
  const double copies = sent * double(ffn.active);
  const double local = std::max(1.0, double(ffn.experts) / ep);
  const double rows = find_imbalance(w.config.job, w.c) * copies * ep * etp / double(ffn.experts);
  const double gates = double(ffn.matrices - 1);

  Matmuls one, shared;
  one.add(gates * double(ffn.expert_width) / etp, w.hidden);
  one.add(w.hidden, double(ffn.expert_width) / etp);
  const bool fused = w.config.software.experts == plan::ExpertKernel::fused;
  const MatmulTime expert = w.expert_matmuls(one, rows, local);
  MatmulTime always;
  if (ffn.shared_width > 0) {
    shared.add(gates * double(ffn.shared_width) / w.tp, w.hidden);
    shared.add(w.hidden, double(ffn.shared_width) / w.tp);
    always = w.matmuls(shared, w.tokens);
  }

  const Bytes all = compute_expert_message(w.config, ffn);
  const bool permuted_once =
      w.config.software.fused_permute || plan.dispatcher == plan::Dispatcher::hybridep;
  const Seconds pass = w.c[cluster::Constant::permute] *
                       (permuted_once ? w.c[cluster::Constant::permute_fused] : 1) *
                       (all / w.rates.memory);
  const Seconds exchange = 2 * w.links.time(plan::TrafficKind::ep_all_to_all, plan::Op::all_to_all,
                                            all, mesh::GroupKind::ep);
  const double shown = plan.overlap.ep ? w.c[cluster::Constant::ep_shown] : 1;
  const Bytes split = compute_etp_message(w.config, ffn);
  const Seconds inside = w.links.time(plan::TrafficKind::etp_all_gather, plan::Op::all_gather,
                                      split, mesh::GroupKind::etp) +
                         w.links.time(plan::TrafficKind::etp_reduce_scatter,
                                      plan::Op::reduce_scatter, split, mesh::GroupKind::etp);
  const CommTime exchanged{shown * exchange + inside, (1 - shown) * exchange};
  CommTime dispatched = exchanged;
  if (const Bytes counts = compute_count_message(w.config, ffn); counts.value > 0)
    dispatched.exposed += w.links.time(plan::TrafficKind::ep_token_counts, plan::Op::all_to_all,
                                       counts, mesh::GroupKind::ep);

  const BiasBytes bias = fused ? kFusedBias : kUnfusedBias;
  const double outputs = ffn.bias ? w.hidden * rows * local : 0;
  // The router's scores are read and written four times in fp32: matmul, scores, choice, map.
  const double routed = 8 * 4 * double(ffn.experts) * sent;
  const double each = ffn.matrices == 2 ? 4 : 6;
  const double by_shared = each * double(ffn.shared_width) / w.tp * w.tokens;
  const double activated =
      each * (fused ? kWrittenOnce : 1) * double(ffn.expert_width) / etp * rows * local + by_shared;
  ExpertTime time;
  time.forward = {.matmul = expert.forward + always.forward,
                  .elementwise = w.stream(activated + routed + bias.forward * outputs),
                  .casts = w.expert_casts(rows * local * one.k),
                  .permute = 6 * pass,
                  .ep = dispatched};
  time.input = {.matmul = expert.input + always.input,
                .elementwise = w.stream(2 * activated + routed + bias.backward * outputs),
                .casts = w.expert_casts(rows * local * one.n),
                .permute = 8 * pass,
                .ep = exchanged};
  time.weight.matmul = expert.weight + always.weight;
  time.activation = w.stream(activated);
  time.shared = {.matmul = always.forward, .elementwise = w.stream(by_shared)};
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

/// Bytes that an adapter moves per element of its input and of its output, in each pass (L11).
struct AdapterBytes {
  double in, out, in_back, out_back;
};
constexpr AdapterBytes kFusedAdapter{2, 6, 8, 4};
constexpr AdapterBytes kCastAdapter{14, 12, 16, 10};

/// Removes what frozen weights do not compute, and adds LoRA to a layer (L11): frozen weights have
/// no gradients and are cast from their stored format for every pass; the matmuls of adapters are
/// so narrow that memory limits them.
void freeze(LayerTime& time, const Work& w, const model::Layer& layer, double frozen_weights) {
  const plan::Job& job = w.config.job;
  if (trains_weights(w.config, layer)) return;
  time.weight.matmul = {};
  time.runs_backward = runs_backward(w.config, layer);
  if (!time.runs_backward) time.input = time.weight = {};
  if (!job.frozen()) return;
  double forward = 0, backward = 0;
  for (const plan::AdaptedLinear& linear : list_adapted(w.config, layer)) {
    const double tp = linear.expert ? double(w.config.plan.etp) : w.tp;
    const double rows = linear.expert ? w.tokens / w.tp * double(layer.ffn.active) : w.tokens;
    // The input is read and the product added to the output; backward reads both gradients and
    // adds to that of the input. PEFT also casts inputs to fp32 and back, and scales outputs.
    const AdapterBytes& each = w.config.software.hf_modeling ? kCastAdapter : kFusedAdapter;
    forward += rows * (each.in * double(linear.in) + each.out * double(linear.out)) / tp;
    backward += rows * (each.in_back * double(linear.in) + each.out_back * double(linear.out)) / tp;
  }
  time.forward.elementwise += w.stream(forward);
  time.input.elementwise += w.stream(backward);
  if (job.base_dtype == plan::BaseDtype::same) return;
  const Seconds cast = Bytes{(job.base_bytes() + kHalf) * frozen_weights} / w.rates.memory;
  time.forward.casts += cast;
  if (time.runs_backward) time.input.casts += cast;
}

/// Returns a smooth maximum of the device's and the host's time (L8).
Seconds smooth_max(Seconds work, Seconds floor) {
  const double w = work.value, f = floor.value;
  return {std::cbrt(w * w * w + f * f * f)};
}

/// One half of a layer, attention or experts, in Megatron-LM's combined 1F1B: the backward of one
/// microbatch, then the forward of another, each beside an exchange.
struct OverlappedHalf {
  Seconds input{}, weight{}, forward{};  // computation
  Seconds ahead{};  // exchange that starts with the backward; the forward waits for it
  Seconds back{};   // exchange of the backward's result; what follows the forward waits for it
};
struct ExposedHalf {
  Seconds ahead{}, back{};
};

/// Returns what the exchanges add to the computation (L13). The second one starts when the
/// gradients of inputs are known, if weight gradients are delayed, else after both.
ExposedHalf expose_exchanges(const OverlappedHalf& half, bool delayed) {
  const Seconds backward = half.input + half.weight;
  const Seconds waited = std::max(backward, half.ahead);
  const Seconds computed = waited + half.forward;
  const Seconds sent = std::max(delayed ? half.input : backward, half.ahead) + half.back;
  return {waited - backward, std::max(Seconds{}, sent - computed)};
}

/// Exposes what outlasts the computation beside it of overlapped exchanges: the combine and its
/// backward beside attention, the dispatch and its backward beside the experts.
void limit_overlap(LayerTime& time, const ExpertTime& experts, bool delayed) {
  const auto compute = [](const Pass& p) {
    return p.matmul + p.attention + p.elementwise + p.casts + p.permute;
  };
  // A pass has two exchanges of equal size.
  OverlappedHalf inside{.input = compute(experts.input),
                        .weight = compute(experts.weight),
                        .forward = compute(experts.forward),
                        .ahead = 0.5 * time.forward.ep.overlapped,
                        .back = 0.5 * time.input.ep.overlapped};
  inside.input = std::min(inside.input, compute(time.input));  // frozen layers have less
  inside.weight = std::min(inside.weight, compute(time.weight));
  const OverlappedHalf outside{.input = compute(time.input) - inside.input,
                               .weight = compute(time.weight) - inside.weight,
                               .forward = compute(time.forward) - inside.forward,
                               .ahead = inside.ahead,
                               .back = inside.back};
  for (const OverlappedHalf& half : {inside, outside}) {
    const ExposedHalf exposed = expose_exchanges(half, delayed);
    time.forward.ep.exposed += exposed.ahead;
    time.forward.ep.overlapped = time.forward.ep.overlapped - exposed.ahead;
    time.input.ep.exposed += exposed.back;
    time.input.ep.overlapped = time.input.ep.overlapped - exposed.back;
  }
}

/// Returns how much of the launches of a layer with experts remains if the host waits less for the
/// numbers of tokens: never with a fixed capacity, seldom if the dispatcher leaves them on the
/// device.
double unsynced_share(const Work& w) {
  if (w.config.job.expert_capacity > 0) return w.c[cluster::Constant::launch_capacity];
  return w.config.plan.dispatcher == plan::Dispatcher::hybridep
             ? w.c[cluster::Constant::launch_unsynced]
             : 1;
}

/// Returns the launches of a layer with experts relative to a dense one (L8). Each expert of a rank
/// has matmuls of its own.
double count_launches(const Work& w, const model::FeedForward& ffn) {
  const double local = std::max(1.0, double(ffn.experts) / double(w.config.plan.ep));
  return (w.c[cluster::Constant::launch_sparse] + w.c[cluster::Constant::launch_expert] * local) *
         (w.tp > 1 ? w.c[cluster::Constant::launch_tp] : 1) * unsynced_share(w);
}

/// Launches of the host for a recomputed module, over those of a dense layer, which has about 60.
/// Megatron-LM reads or sets random states 12 times and runs a backward of its own
/// (core/tensor_parallel/random.py), and launches about five kernels again: taken as 20.
constexpr double kModuleKernels = 20.0 / 60;

/// Adds the kernel-launch overhead to the passes. Exchanges of experts do not hide launches: the
/// host waits for the numbers of tokens before it launches the experts.
void add_launches(LayerTime& time, const Rates& rates, double kernels) {
  constexpr double kBackwardKernels = 1.2;  // relative to the forward, in a layer with experts
  const Seconds forward = time.forward.total() - time.forward.ep.exposed;
  const Seconds backward = time.backward() - time.input.ep.exposed;
  Seconds more_forward = rates.blocking, more_backward = rates.blocking_back;
  if (rates.blocking.value <= 0) {
    ModuleTimes& parts = time.modules;
    parts.host_backward = (kernels > 1 ? kBackwardKernels : 1) * kernels * rates.launch;
    parts.host_experts = std::max(0.0, kernels - 1) * rates.launch;
    parts.host_module = kModuleKernels * rates.launch;
    more_forward = smooth_max(forward, kernels * rates.launch) - forward;
    more_backward = smooth_max(backward, parts.host_backward) - backward;
  }
  time.forward.launch += more_forward;
  if (!time.runs_backward) return;
  const double part = backward.value > 0 ? 1 - time.weight.total() / backward : 0.5;
  time.input.launch += part * more_backward;
  time.weight.launch += (1 - part) * more_backward;
}

/// Returns the time that the host takes to launch recomputed modules (L9).
Seconds module_launches(const LayerTime& time, const plan::RecomputeModules& modules) {
  const ModuleTimes& parts = time.modules;
  const auto some = [](Seconds part) { return part.value > 0; };
  const bool experts = some(parts.experts.total());
  i64 count = 0;
  if (modules.core_attn && some(parts.attention)) ++count;
  if (modules.layernorm) count += parts.blocks;
  if (modules.mla_up_proj && some(parts.up)) ++count;
  if (modules.mlp && some(parts.mlp)) ++count;
  if (modules.moe && experts) return (count + 1) * parts.host_module + parts.host_experts;
  if (modules.moe_act && experts) ++count;
  if (modules.shared_experts && some(parts.shared.total())) ++count;
  return count * parts.host_module;
}

/// Adds the launches of recomputed modules to their time: the host needs as long as in the backward
/// and for these. Kernels that take longer hide launches.
void add_module_launches(Pass& again, const LayerTime& time,
                         const plan::RecomputeModules& modules) {
  const Seconds host = module_launches(time, modules);
  if (host.value <= 0) return;
  const Seconds backward = time.backward() - time.input.ep.exposed;
  const Seconds kernels = backward - time.input.launch - time.weight.launch;
  const Seconds more = again.total() - again.ep.exposed;
  const Seconds both = smooth_max(kernels + more, time.modules.host_backward + host);
  again.launch += std::max(Seconds{}, both - backward - more);
}

/// Returns the time of selective recomputation (L9). Megatron-LM recomputes the modules of the
/// plan. Torch's policy recomputes every second matmul and the operations between.
Pass selective_time(const LayerTime& time, const plan::RecomputeModules& modules) {
  const ModuleTimes& parts = time.modules;
  Pass again = parts.gathers;
  if (parts.by_op) {
    again += {.matmul = 0.5 * time.forward.matmul, .elementwise = time.forward.elementwise};
    return again;
  }
  if (modules.core_attn) again += {.attention = parts.attention, .cp = parts.cp};
  if (modules.layernorm) again.elementwise += parts.norms;
  if (modules.mla_up_proj) again.matmul += parts.up;
  if (modules.mlp) again += {.matmul = parts.mlp, .elementwise = parts.gating};
  if (modules.moe) {
    again += parts.experts;
  } else {
    if (modules.moe_act) again.elementwise += parts.activation;
    if (modules.shared_experts)  // moe_act includes their activation function
      again += {.matmul = parts.shared.matmul,
                .elementwise = modules.moe_act ? Seconds{} : parts.shared.elementwise};
  }
  add_module_launches(again, time, modules);
  return again;
}

}  // namespace

void LayerTime::recompute(const plan::Plan& plan) {
  again = !runs_backward                                 ? Pass{}
          : plan.recompute == plan::Recompute::full      ? forward
          : plan.recompute == plan::Recompute::selective ? selective_time(*this, plan.modules)
                                                         : Pass{};
  // The schedule that overlaps exchanges pairs one forward with one backward, not this one.
  again.ep = {.exposed = again.ep.total()};
}

Pass& Pass::operator+=(const Pass& other) {
  matmul += other.matmul;
  attention += other.attention;
  elementwise += other.elementwise;
  casts += other.casts;
  permute += other.permute;
  launch += other.launch;
  tp += other.tp;
  cp += other.cp;
  ep += other.ep;
  return *this;
}

Pass operator*(double times, const Pass& p) {
  return {.matmul = times * p.matmul,
          .attention = times * p.attention,
          .elementwise = times * p.elementwise,
          .casts = times * p.casts,
          .permute = times * p.permute,
          .launch = times * p.launch,
          .tp = times * p.tp,
          .cp = times * p.cp,
          .ep = times * p.ep};
}

TensorComm::TensorComm(const plan::TrainingConfig& config, const Links& links,
                       const cluster::Calibration& calibration)
    : config_(config), links_(links), sizes_(compute_messages(config)) {
  if (config.plan.tp == 1) return;
  if (!sequence_parallel(config.plan)) {
    reduce_hidden_ = time(plan::Op::all_reduce, sizes_.hidden);
    return;
  }
  gather_hidden_ = time(plan::Op::all_gather, sizes_.hidden);
  scatter_hidden_ = time(plan::Op::reduce_scatter, sizes_.hidden);
  if (config.plan.overlap.tp) shown_ = calibration[cluster::Constant::tp_shown];
}

Seconds TensorComm::time(plan::Op op, Bytes size) const {
  const bool hidden = size == sizes_.hidden;
  if (hidden && op == plan::Op::all_gather && gather_hidden_.value > 0) return gather_hidden_;
  if (hidden && op == plan::Op::reduce_scatter && scatter_hidden_.value > 0) return scatter_hidden_;
  if (hidden && op == plan::Op::all_reduce && reduce_hidden_.value > 0) return reduce_hidden_;
  return links_.time(plan::TrafficKind::tp_all_gather, op, size, mesh::GroupKind::tp);
}

CommTime TensorComm::call(plan::Op op, Bytes size, double exposed) const {
  if (config_.plan.tp == 1 || size.value <= 0) return {};
  const Seconds all = time(op, size);
  return {exposed * all, (1 - exposed) * all};
}

CommTime TensorComm::regather(Bytes size) const {
  // The CPU runtime waits for the second gather; elsewhere the weight gradient overlaps most of it.
  const double exposed = config_.cluster.device.cpu() ? 1 : 0.3;
  return call(plan::Op::all_gather, size, exposed * shown_);
}

TensorComm::Passes TensorComm::block(const plan::BlockInputs& inputs) const {
  Passes time;
  if (config_.plan.tp == 1) return time;
  if (!sequence_parallel(config_.plan)) {
    time.forward = reduce(sizes_.hidden);
    for (const Bytes input : inputs.tensors) time.backward += reduce(input);
    return time;
  }
  for (const Bytes input : inputs.tensors) {
    time.forward += gather(input);
    time.backward += scatter(input);
  }
  for (const Bytes input : inputs.of_matmuls())
    (config_.software.eager_ops ? time.gathers : time.backward) += regather(input);
  time.forward += scatter(sizes_.hidden);
  time.backward += gather(sizes_.hidden);
  return time;
}

TensorComm::Passes TensorComm::embedding() const {
  if (!sequence_parallel(config_.plan)) return {reduce(sizes_.hidden), {}};
  const CommTime sum = config_.model.positions > 0
                           ? reduce(sizes_.hidden)
                           : call(plan::Op::reduce_scatter, sizes_.hidden, 1);
  return {sum, call(plan::Op::all_gather, sizes_.hidden, 1)};
}

TensorComm::Passes TensorComm::head() const {
  const i64 chunks = count_loss_chunks(config_.software.loss);
  const CommTime scores = double(3 * chunks) * reduce(sizes_.scores / chunks);
  if (!sequence_parallel(config_.plan)) return {scores, reduce(sizes_.hidden)};
  const CommTime again = config_.software.eager_ops ? CommTime{} : regather(sizes_.hidden);
  return {gather(sizes_.hidden) + scores, scatter(sizes_.hidden) + again};
}

TensorComm::Passes TensorComm::projection() const {
  const Bytes one = sizes_.hidden, both = 2 * sizes_.hidden;
  const CommTime out = call(plan::Op::all_gather, one, 1);
  const CommTime back = call(plan::Op::reduce_scatter, one, 1);
  if (!sequence_parallel(config_.plan)) return {out, back + reduce(both)};
  return {
      out + call(plan::Op::all_gather, both, 1),
      back + out + call(plan::Op::all_gather, both, 1) + call(plan::Op::reduce_scatter, both, 1)};
}

LayerTime estimate_layer_time(const plan::TrainingConfig& config, const model::Layer& layer,
                              const Rates& rates, const Links& links, const TensorComm& tensor,
                              const cluster::Calibration& calibration) {
  const Work w(config, rates, links, calibration);
  const AttentionShape shape = make_attention_shape(layer.attention, w.hidden, w.tp);
  const MatmulTime projections = w.matmuls(shape.matmuls, w.tokens);
  const CoreTime core = estimate_core_time(w, layer.attention, shape.core);

  const CpTime cp = estimate_cp_time(w, layer.attention, core);
  TensorComm::Passes around;
  if (layer.attention.present())
    around = tensor.block(compute_block_inputs(config, layer.attention));

  // L4: bytes of norms, residuals and operations on queries, keys and values.
  const double blocks = double(layer.blocks()) / 2;
  const double norms = blocks * 22 * w.hidden * w.kept,
               norms_back = blocks * 30 * w.hidden * w.kept;
  const double handled = shape.handled * w.tokens, normed = shape.normed * w.tokens;
  const double combined = combined_bytes(config) * w.tokens;
  LayerTime time;
  time.forward = {.matmul = projections.forward,
                  .attention = core.forward,
                  .elementwise = w.stream(norms + 8 * handled + 4 * normed + combined * shape.core),
                  .casts = w.casts(w.tokens * shape.matmuls.k),
                  .tp = around.forward,
                  .cp = cp.forward};
  time.input = {
      .matmul = projections.input,
      .attention = core.backward,
      .elementwise = w.stream(norms_back + 10 * handled + 6 * normed + combined * shape.handled),
      .casts = w.casts(w.tokens * shape.matmuls.n),
      .tp = around.backward,
      .cp = cp.backward};
  time.weight.matmul = projections.weight;

  constexpr double kNorms = 8;  // bytes per element: two norms read and write 16 bits
  ModuleTimes& parts = time.modules;
  parts = {.by_op = config.software.recomputes_ops,
           .attention = core.forward,
           .cp = cp.forward,
           .norms = w.stream(blocks * kNorms * w.hidden * w.kept),
           .gathers = {.tp = around.gathers, .cp = cp.gathers},
           .blocks = layer.blocks()};
  if (shape.up.count > 0) parts.up = w.matmuls(shape.up, w.tokens).forward;
  ExpertTime experts;
  if (layer.ffn.sparse()) {
    experts = estimate_expert_time(w, layer.ffn);
    parts.activation = experts.activation;
    parts.experts = experts.forward;
    parts.shared = experts.shared;
    time.forward += experts.forward;
    time.input += experts.input;
    time.weight += experts.weight;
  } else if (layer.ffn.present()) {
    const DenseTime dense = estimate_dense_time(w, layer.ffn);
    time.forward.matmul += dense.matmul.forward;
    time.forward.elementwise += w.stream(dense.activated);
    time.forward.casts += w.casts(w.tokens * dense.shape.k);
    time.input.matmul += dense.matmul.input;
    time.input.elementwise += w.stream(2 * dense.activated);
    time.input.casts += w.casts(w.tokens * dense.shape.n);
    time.weight.matmul += dense.matmul.weight;
    parts.mlp = dense.matmul.forward;
    parts.gating = w.stream(dense.activated);
  }
  if (plan::has_dense_block(layer.ffn)) {
    const TensorComm::Passes block = tensor.block(compute_block_inputs(config));
    time.forward.tp += block.forward;
    time.input.tp += block.backward;
    parts.gathers.tp += block.gathers;
  }
  const plan::Share share =
      config.job.frozen() ? count_layer_share(config.model, layer, config.plan) : plan::Share{};
  freeze(time, w, layer, double(share.total()));
  if (config.plan.overlap.ep && layer.ffn.sparse())
    limit_overlap(time, experts, config.plan.overlap.wgrad);
  add_launches(time, rates, blocks * (layer.ffn.sparse() ? count_launches(w, layer.ffn) : 1));
  time.recompute(config.plan);
  return time;
}

EmbeddingHeadTime estimate_head_time(const plan::TrainingConfig& config, const Rates& rates,
                                     const Links& links, const TensorComm& tensor,
                                     const cluster::Calibration& calibration) {
  const Work w(config, rates, links, calibration);
  const double rows = double(plan::count_vocabulary_rows(config.model, config.plan.tp));
  Matmuls head;
  head.add(rows, w.hidden);
  const double tokens = config.job.loss_fraction() * w.tokens;
  const MatmulTime matmul =
      estimate_matmul_time(head, tokens, rates.half, config, rates, calibration);
  const Seconds loss = w.stream(calibration[cluster::Constant::loss_bytes] * tokens * rows);
  EmbeddingHeadTime time;
  const TensorComm::Passes around = tensor.head();
  time.forward = {.matmul = matmul.forward, .elementwise = 0.5 * loss, .tp = around.forward};
  time.input = {.matmul = matmul.input, .elementwise = 0.5 * loss, .tp = around.backward};
  if (trains_head_weight(config)) time.weight.matmul = matmul.weight;
  return time;
}

EmbeddingHeadTime estimate_embedding_time(const plan::TrainingConfig& config, const Rates& rates,
                                          const Links& links, const TensorComm& tensor,
                                          const cluster::Calibration& calibration) {
  const Work w(config, rates, links, calibration);
  constexpr double kPass = 8;  // bytes per element: read and written, twice
  EmbeddingHeadTime time;
  time.forward.elementwise = w.stream(kPass * w.tokens * w.hidden);
  const TensorComm::Passes around = tensor.embedding();
  time.forward.tp = around.forward;
  if (!skips_embedding(config)) time.input.tp = around.backward;
  if (trains_embedding(config)) time.weight.elementwise = w.stream(kPass * w.tokens * w.hidden);
  return time;
}

EmbeddingHeadTime estimate_projection_time(const plan::TrainingConfig& config, const Rates& rates,
                                           const Links& links, const TensorComm& tensor,
                                           const cluster::Calibration& calibration) {
  const Work w(config, rates, links, calibration);
  Matmuls projection;
  projection.add(w.hidden / w.tp, 2 * w.hidden);
  const MatmulTime matmul = w.matmuls(projection, w.tokens);
  const TensorComm::Passes around = tensor.projection();
  return {
      .forward = {.matmul = matmul.forward, .tp = around.forward},
      .input = {.matmul = matmul.input, .tp = around.backward},
      .weight = {.matmul = trains_weights(config, config.model.runs.back().layer) ? matmul.weight
                                                                                  : Seconds{}}};
}

}  // namespace rankwright::cost
