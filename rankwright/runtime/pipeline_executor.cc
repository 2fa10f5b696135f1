#include "rankwright/runtime/pipeline_executor.h"

#include <cmath>

#include "rankwright/base/check.h"

namespace rankwright::runtime {
namespace {

using K = plan::TrafficKind;
using Clock = std::chrono::steady_clock;

double seconds_in_step(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Returns, by action, whether it is the last backward or weight gradient of its stage.
std::vector<bool> last_gradients(const pipeline::Sequence& actions) {
  std::vector<bool> last(actions.size());
  std::vector<std::uint16_t> seen;
  for (std::size_t i = actions.size(); i-- > 0;) {
    const pipeline::Action& a = actions[i];
    if (a.kind != pipeline::ActionKind::backward && a.kind != pipeline::ActionKind::weight_grad)
      continue;
    if (std::find(seen.begin(), seen.end(), a.stage) != seen.end()) continue;
    seen.push_back(a.stage);
    last[i] = true;
  }
  return last;
}

}  // namespace

PipelineExecutor::PipelineExecutor(Rank& rank, const program::Program& program, Shard& shard,
                                   ShardedParams& params, double clip)
    : rank_(rank),
      program_(program),
      actions_(program.roles[std::size_t(rank.pp_rank)]),
      shard_(shard),
      params_(params),
      clip_(clip),
      steps_(list_own_steps()),
      last_(last_gradients(actions_)) {}

/// Lists the steps in the Program's numbering: before the first cell, after each chunk, after the
/// last cell. Buckets of a chunk, and of all chunks in turn, are in the order of ShardedParams.
std::vector<PipelineExecutor::OwnStep> PipelineExecutor::list_own_steps() const {
  const program::RankSteps lists =
      program::build_rank_steps(rank_.config)[std::size_t(rank_.pp_rank)];
  std::vector<OwnStep> all;
  const auto add = [&](const program::Body& body, std::size_t chunk) {
    std::array<std::pair<std::size_t, std::size_t>, 3> next;  // of gathers, reductions, mirrors
    next.fill({chunk, 0});
    for (const program::Step& step : body) {
      OwnStep made{.step = step};
      const bool gathers = step.kind == K::dp_all_gather;
      const bool reduces = step.kind == K::dp_all_reduce || step.kind == K::dp_reduce_scatter;
      if (!step.computes() && (gathers || reduces || step.kind == K::mirror_grad)) {
        auto& [of, bucket] = next[gathers ? 0 : reduces ? 1 : 2];
        const bool mirrors = step.kind == K::mirror_grad;
        while (bucket == (mirrors ? params_.mirrors(of) : params_.buckets(of))) {
          ++of;
          bucket = 0;
        }
        made.chunk = of;
        made.bucket = bucket++;
      }
      all.push_back(made);
    }
  };
  add(lists.first, 0);
  for (std::size_t chunk = 0; chunk < lists.behind.size(); ++chunk) add(lists.behind[chunk], chunk);
  add(lists.last, 0);
  return all;
}

std::size_t PipelineExecutor::chunk_of(i64 stage) const {
  for (std::size_t k = 0; k < shard_.stages.size(); ++k)
    if (shard_.stages[k]->stage == stage) return k;
  RW_CHECK(false);
  return 0;
}

PipelineExecutor::MicrobatchState& PipelineExecutor::find_or_add_state(i64 stage, i64 microbatch) {
  MicrobatchState& made = in_flight_[{stage, microbatch}];
  if (made.saved.empty()) {
    const std::size_t pieces = shard_.stages[chunk_of(stage)]->pieces.size();
    made.saved.resize(pieces);
    made.weights.resize(pieces);
  }
  return made;
}

/// Reads this data rank's microbatch-th slice of the global batch.
Tokens PipelineExecutor::load_tokens(i64 microbatch) {
  const i64 length = rank_.sequence(), batch = rank_.batch();
  const i64 first = (rank_.dp_rank * rank_.config.microbatches() + microbatch) * batch;
  Tensor all = torch::zeros({batch, length + 1}, torch::kInt64);
  for (i64 b = 0; b < batch; ++b) {
    const Result<std::vector<std::int64_t>> words = corpus_->sequence(step_, first + b, length);
    if (words)
      std::copy(words->begin(), words->end(), all.data_ptr<std::int64_t>() + b * (length + 1));
    else if (!data_fault_)
      data_fault_ = words.error();
  }
  all = all.t().contiguous();
  return {all.narrow(0, 0, length), all.narrow(0, 1, length)};
}

void PipelineExecutor::run(const Corpus& corpus, i64 step) {
  corpus_ = &corpus;
  step_ = step;
  loss_ = 0;
  normed_ = false;
  data_fault_.reset();
  times_.clear();
  params_.clear_gradients();
  const Clock::time_point begin = Clock::now();
  std::vector<Pending> receiving;
  for (std::size_t i = 0; i < actions_.size(); ++i) {
    const pipeline::Action& action = actions_[i];
    const double from = seconds_in_step(begin);
    if (action.kind == pipeline::ActionKind::forward) forward(action);
    if (gives_gradient(action.kind)) backward(action, last_[i]);
    if (action.kind == pipeline::ActionKind::weight_grad) compute_weight_grads(action, last_[i]);
    if (action.kind == pipeline::ActionKind::step) run_own_step(steps_[action.microbatch]);
    if (is_transfer(action.kind)) {
      transfer(action, receiving);
      if (action.joined == 0) receiving.clear();  // posted together, waited for together
    }
    times_.push_back({action, from, seconds_in_step(begin)});
    release_sent(false);
  }
  release_sent(true);
  RW_CHECK(in_flight_.empty());
}

void PipelineExecutor::forward(const pipeline::Action& cell) {
  StagePart& stage = *shard_.stages[chunk_of(cell.stage)];
  params_.finish_gathers(chunk_of(cell.stage));
  MicrobatchState& f = find_or_add_state(cell.stage, cell.microbatch);
  const bool first = cell.stage == 0, last = i64(cell.stage) == program_.stages - 1;
  if (first || last) f.tokens = load_tokens(cell.microbatch);
  const bool prefetch = rank_.config.plan.overlap.param_gather;
  Tensor x = std::exchange(f.input, {});
  for (std::size_t i = 0; i < stage.pieces.size(); ++i) {
    for (Unit& unit : stage.units)
      if (unit.first <= i && i <= unit.last) params_.unshard(unit);
    for (Unit& unit : stage.units)
      if (prefetch && unit.first == i + 1) params_.begin(unit);
    x = runtime::forward(stage.pieces[i], x, f.tokens, f.saved[i]);
    for (Unit& unit : stage.units)
      if (unit.last == i) params_.reshard(unit);
    rank_.progress_calls();
  }
  if (last) {
    loss_ += x.item<double>();
  } else if (program_.stage_to_rank.of(cell.stage + 1, cell.microbatch) == rank_.pp_rank) {
    find_or_add_state(cell.stage + 1, cell.microbatch).input = x;
  } else {
    f.output = x;
  }
}

/// Runs a B cell, or an I cell, which defers the weight gradients to W.
void PipelineExecutor::backward(const pipeline::Action& cell, bool last) {
  StagePart& stage = *shard_.stages[chunk_of(cell.stage)];
  MicrobatchState& f = find_or_add_state(cell.stage, cell.microbatch);
  const bool split = cell.kind == pipeline::ActionKind::input_grad;
  const bool prefetch = rank_.config.plan.overlap.param_gather;
  Tensor gradient = std::exchange(f.gradient, {});
  if (stage.borrowed != nullptr) params_.open(*stage.borrowed);
  for (std::size_t i = stage.pieces.size(); i-- > 0;) {
    for (Unit& unit : stage.units) {
      if (unit.backward && unit.first <= i && i <= unit.last) params_.unshard(unit);
      if (!split && unit.first <= i && i <= unit.last) params_.open(unit);
    }
    for (Unit& unit : stage.units)
      if (prefetch && unit.backward && unit.last + 1 == i) params_.begin(unit);
    rank_.deferred = split ? &f.weights[i] : nullptr;
    gradient = runtime::backward(stage.pieces[i], f.saved[i], gradient, f.tokens);
    rank_.deferred = nullptr;
    for (Unit& unit : stage.units)
      if (unit.first == i) params_.reshard(unit);
    if (!split) finish_piece(stage, i, last);
    rank_.progress_calls();
  }
  if (cell.stage > 0) {
    if (program_.stage_to_rank.of(cell.stage - 1, cell.microbatch) == rank_.pp_rank)
      find_or_add_state(cell.stage - 1, cell.microbatch).gradient = gradient;
    else
      f.input_gradient = gradient;
  }
  const bool sends = f.input_gradient.defined();
  if (!split && !sends) in_flight_.erase({cell.stage, cell.microbatch});
}

void PipelineExecutor::compute_weight_grads(const pipeline::Action& cell, bool last) {
  const torch::NoGradGuard no_graph;
  StagePart& stage = *shard_.stages[chunk_of(cell.stage)];
  MicrobatchState& f = find_or_add_state(cell.stage, cell.microbatch);
  for (std::size_t i = stage.pieces.size(); i-- > 0;) {
    for (Unit& unit : stage.units)
      if (unit.first <= i && i <= unit.last) params_.open(unit);
    for (const std::function<void()>& work : std::exchange(f.weights[i], {})) work();
    finish_piece(stage, i, last);
    rank_.progress_calls();
  }
  in_flight_.erase({cell.stage, cell.microbatch});
}

void PipelineExecutor::finish_piece(StagePart& stage, std::size_t piece, bool last) {
  for (Unit& unit : stage.units)
    if (unit.first == piece) params_.complete(unit, last);
}

void PipelineExecutor::transfer(const pipeline::Action& a, std::vector<Pending>& receiving) {
  const i64 s = a.stage, m = a.microbatch;
  const bool forward = is_activation(a.kind), sends = is_send(a.kind);
  const i64 other = forward == sends ? s + 1 : s - 1;
  const i64 peer = program_.stage_to_rank.of(other, m);
  const K kind = forward ? K::pp_forward : K::pp_backward;
  // The tag encodes the boundary, the microbatch and the direction, alike on both ends.
  const i64 tag = (boundary(a) * program_.microbatches + m) * 2 + (forward ? 0 : 1);
  MicrobatchState& f = find_or_add_state(s, m);
  if (sends) {
    const Tensor message = std::exchange(forward ? f.output : f.input_gradient, {}).contiguous();
    RW_CHECK(message.defined());
    sending_.push_back({rank_.groups.pp.start_send(kind, slab(message), peer, tag), message});
    const bool waits = std::any_of(f.weights.begin(), f.weights.end(),
                                   [](const WeightWork& work) { return !work.empty(); });
    if (!forward && !waits) in_flight_.erase({s, m});
  } else {
    const Tensor message =
        torch::empty({rank_.local_sequence(), rank_.batch(), rank_.config.model.hidden},
                     torch::TensorOptions().dtype(rank_.formats.compute));
    (forward ? f.input : f.gradient) = message;
    receiving.push_back(rank_.groups.pp.start_recv(kind, slab(message), peer, tag));
  }
}

void PipelineExecutor::release_sent(bool all) {
  for (PendingSend& each : sending_)
    if (all) each.pending.wait();
  std::erase_if(sending_, [](PendingSend& each) { return each.pending.done(); });
}

void PipelineExecutor::run_own_step(const OwnStep& own) {
  const program::Step& step = own.step;
  if (step.part == rankwright::program::Part::optimizer) {
    if (!normed_) compute_norm();  // a single rank has no norm action
    before_update();
    const double scale = clip_ > 0 && norm_ > clip_ ? clip_ / norm_ : 1;
    params_.update(scale);
    return;
  }
  // All other kinds read reduced gradients.
  const bool data = step.kind == K::dp_all_reduce || step.kind == K::dp_reduce_scatter ||
                    step.kind == K::dp_all_gather;
  if (!data) params_.finish_reductions();
  switch (step.kind) {
    case K::dp_all_reduce:
    case K::dp_reduce_scatter:
      return params_.begin_reduce(own.chunk, own.bucket);
    case K::dp_all_gather:
      return params_.begin_gather(own.chunk, own.bucket);
    case K::tp_norm_grads:
      return params_.sum_partial();
    case K::tied_embedding_grad:
      return params_.sum_shared();
    case K::mirror_grad:
      return params_.sum_mirror(own.chunk, own.bucket);
    case K::gradient_norm:
      return compute_norm();
    default:
      RW_CHECK(false);
  }
}

/// Sums over all ranks that hold different gradients, which includes the data ranks if gradients or
/// their update are sharded (ZeRO 1 to 3).
void PipelineExecutor::compute_norm() {
  params_.finish_reductions();
  const Group& all = rank_.config.plan.zero >= 1 ? rank_.groups.world : rank_.groups.model;
  const Tensor sum =
      torch::full({1}, params_.squared_norm(), torch::TensorOptions().dtype(rank_.formats.sum));
  all.all_reduce(K::gradient_norm, slab(sum));
  norm_ = std::sqrt(sum.item<double>());
  normed_ = true;
}

}  // namespace rankwright::runtime
