#include "rankwright/search/explorer.h"

#include <algorithm>

namespace rankwright {

/// A rule of the target refuses the plan.
bool Explorer::refused() {
  for (const Rule* rule : ground_.rules)
    if (rule->fault(setup_)) {
      ++out_.tally.rules[rule->page.code];
      return true;
    }
  return false;
}

/// The ledger does not look at orders: what was counted for one stands for all.
Bytes Explorer::memory(const Shard& shard) {
  Bytes& total = totals_[shard.at];
  if (total == kEndless) total = fullest(setup_, ground_.calibration, loads_).total();
  return total;
}

/// A candidate of this family that takes so much memory, and no less time than `least`, is of no
/// interest: not near the best, not the best of its family, not in the front.
bool Explorer::hopeless(Seconds least, int zero, Bytes memory) {
  if (!ground_.bounds) return false;
  if (least > limit()) return true;
  return least > (1 + ground_.windows.near) * best_ && least >= fastest(zero, sure(memory)) &&
         covered(out_.front, least, memory);
}

void Explorer::keep(Seconds time, Bytes memory) {
  const Windows& windows = ground_.windows;
  const Candidate one{plan(), time, memory, sure(memory)};
  if (time < best_) best_ = time;
  if (!out_.best || time < out_.best->time) out_.best = one;
  if (time <= (1 + windows.near) * best_) out_.near.push_back(one);
  if (time > (1 + windows.family) * best_) return;
  add_to_front(out_.front, one);
  Seconds& known = fastest(plan().zero, one.sure);
  if (time >= known) return;
  known = time;
  out_.families.push_back(one);
}

/// Those of the order's choices of ZeRO that fit and that no rule refuses.
void Explorer::find_fitting(const Route& route, Seconds least) {
  fitting_.clear();
  for (const Shard& shard : route.lie->shards) {
    choose(plan(), shard.zero, shard.size, problem_);
    if (refused()) continue;
    const Bytes total = memory(shard);
    if (total <= problem_.capacity) {
      fitting_.push_back({&shard, total, least});
      continue;
    }
    ++out_.tally.memory;
    if (total >= leanest_) continue;
    leanest_ = total;
    out_.leanest = {plan(), {}, total};
  }
}

void Explorer::route(Route& route, const Pipe& pipe) {
  if (stopped()) return;
  plan().order = route.lie->order;
  plan().cp_comm = route.comm;
  const Seconds least = least_time(route, pipe, ends_);
  if (least > limit()) {
    out_.tally.bounded += i64(route.lie->shards.size());
    return;
  }
  find_fitting(route, least);
  if (fitting_.empty()) return;
  std::vector<Fit>& fitting = fitting_;
  const auto bounded = [&] {
    out_.tally.bounded += i64(std::erase_if(
        fitting, [&](const Fit& one) { return hopeless(one.least, one.shard->zero, one.memory); }));
    return fitting.empty();
  };
  if (bounded()) return;
  const Calibration& c = ground_.calibration;
  const StagePrices staged = stage_prices(setup_, c, route.prices);
  // Of the bubble no less than this is certain; first without data parallelism, then with it.
  const Seconds soonest = least_end(setup_, staged);
  const Seconds idle = std::max(Seconds{}, soonest - staged.busiest);
  for (Fit& one : fitting) one.least = slowed(setup_, c, staged.step.total() + idle);
  if (bounded()) return;
  for (Fit& one : fitting) {
    choose(plan(), one.shard->zero, one.shard->size, problem_);
    route.lie->links.set(GroupKind::shard, one.shard->shard);
    route.lie->links.set(GroupKind::replicate, one.shard->replicate);
    one.least = step_time(setup_, c, route.lie->links, route.prices, staged, soonest).total();
  }
  if (bounded()) return;
  const Seconds later = slowed(setup_, c, pipeline_end(setup_, staged) - soonest);
  for (const Fit& one : fitting) {
    choose(plan(), one.shard->zero, one.shard->size, problem_);
    ++out_.tally.priced;
    if (one.least + later <= limit()) keep(one.least + later, one.memory);
  }
}

void Explorer::pipeline(const Pipe& pipe, const std::vector<Route*>& routes,
                        const LayerPrices& unlinked) {
  if (stopped()) return;
  const i64 each = inside_;
  choose(plan(), pipe);
  choose(plan(), 0, 0, problem_);
  if (too_large(least_memory(pipe))) {
    out_.tally.memory += each;
    return;
  }
  if (std::all_of(routes.begin(), routes.end(),
                  [&](const Route* one) { return one->least_with(pipe) > limit(); })) {
    out_.tally.bounded += each;
    return;
  }
  if (const Misfit misfit = first_pipeline_misfit(setup_)) return miss(misfit, each);
  stages_ = setup_.stages();
  if (pipe.balanced) {
    Stages balanced = balance_.stages(setup_, unlinked);
    if (balanced.empty() || balanced == stages_) {
      out_.tally.alike += each;
      return;
    }
    stages_ = plan().stages = std::move(balanced);
    if (const Misfit misfit = first_pipeline_misfit(setup_)) return miss(misfit, each);
  }
  ends_ = ends(pipe);
  if (std::all_of(routes.begin(), routes.end(),
                  [&](const Route* one) { return least_time(*one, pipe, ends_) > limit(); })) {
    out_.tally.bounded += each;
    return;
  }
  if (too_large(least_on_first())) {
    out_.tally.memory += each;
    return;
  }
  loads_ = RankLoads(setup_).that_count();
  totals_.assign(sizes_.size(), kEndless);
  for (Route* one : routes) route(*one, pipe);
}

/// All candidates of one microbatch size.
void Explorer::microbatch(i64 size) {
  if (stopped()) return;
  plan() = setup_of(problem_, node_).plan;
  plan().micro_batch = size;
  if (unlinked_time(ground_, setup_) > limit()) {
    out_.tally.bounded += shards_ * outside_order() / i64(micro_batches_.size());
    return;
  }
  for (const bool sequence_parallel : sequence_parallels_) {
    choose(plan(), Pipe{});
    plan().sequence_parallel = sequence_parallel;
    plan().recompute = Recompute::none;
    choose(plan(), 0, 0, problem_);  // what tp hides follows from the above
    weigh_layers();
    if (never_fits()) {
      out_.tally.memory +=
          shards_ * outside_order() / i64(micro_batches_.size() * sequence_parallels_.size());
      continue;
    }
    for (const bool chunked : {false, true}) some_pipes(chunked);
  }
}

/// The pipes of one chunk a pp rank, or the others: those may hide sends.
void Explorer::some_pipes(bool chunked) {
  open_pipes_ = pipes_;
  if (problem_.overlap_chunks)
    std::erase_if(open_pipes_, [&](const Pipe& pipe) { return (pipe.chunks > 1) != chunked; });
  else if (chunked)
    return;
  if (open_pipes_.empty()) return;
  choose(plan(), Pipe{});
  plan().recompute = Recompute::none;
  choose(plan(), 0, 0, problem_);
  if (problem_.overlap_chunks) plan().overlap.pp = chunked;
  const Overlap overlap = plan().overlap;
  std::vector<Route> all = routes();
  if (all.empty()) return;
  plan().order = kDefaultOrder;
  plan().cp_comm = CpComm::p2p;
  LayerPrices unlinked =
      layer_prices(setup_, Links::none(setup_, ground_.calibration), ground_.calibration);
  for (const Recompute recompute : recomputes_) {
    choose(plan(), Pipe{});
    plan().overlap = overlap;
    plan().recompute = recompute;
    const std::vector<Route*> open = open_routes(all);
    if (open.empty()) continue;
    unlinked.recompute(recompute);
    inside_ = 0;
    for (const Route* route : open) inside_ += i64(route->lie->shards.size());
    for (const Pipe& pipe : open_pipes_) pipeline(pipe, open, unlinked);
  }
}

Explored Explorer::all() {
  for (auto& by_zero : families_)
    for (auto& by_sureness : by_zero) by_sureness.fill(kNever);
  find_lies();
  for (const Lie& lie : lies_) shards_ += i64(lie.shards.size());
  weigh_states();
  for (const i64 size : micro_batches_) microbatch(size);
  keep_families(out_.families);
  const i64 all = candidates(problem_, node_);
  if (stopped_) {
    out_.tally = {};
    out_.undecided = all;
  } else {
    out_.tally.candidates = all;
  }
  return std::move(out_);
}

}  // namespace rankwright
