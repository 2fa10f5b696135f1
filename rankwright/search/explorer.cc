#include "rankwright/search/explorer.h"

#include <algorithm>

namespace rankwright::search {

/// A rule of the target refuses the plan.
bool Explorer::refused() {
  for (const rules::Rule* rule : context_.rules)
    if (rule->fault(config_)) {
      ++out_.stats.rules[rule->page.code];
      return true;
    }
  return false;
}

/// The ledger does not look at orders: what was counted for one stands for all.
Bytes Explorer::memory(const Shard& shard) {
  Bytes& total = totals_[shard.at];
  if (total == kInfiniteBytes) total = fullest(config_, context_.calibration, loads_).total();
  return total;
}

/// A candidate of this family that takes so much memory, and no less time than `least`, is of no
/// interest: not near the best, not the best of its family, not in the front.
bool Explorer::can_prune(Seconds min, int zero, Bytes memory) {
  if (!context_.bounds) return false;
  if (min > limit()) return true;
  return min > (1 + context_.windows.near) * best_ && min >= fastest(zero, sure(memory)) &&
         covered(out_.front, min, memory);
}

void Explorer::keep(Seconds time, Bytes memory) {
  const Windows& windows = context_.windows;
  const Candidate one{plan(), time, memory, sure(memory)};
  if (time < best_) best_ = time;
  if (!out_.best || time < out_.best->time) out_.best = one;
  if (time <= (1 + windows.near) * best_) out_.near.push_back(one);
  if (time > (1 + windows.family) * best_) return;
  add_to_front(out_.front, one);
  Seconds& fastest_so_far = fastest(plan().zero, one.sure);
  if (time >= fastest_so_far) return;
  fastest_so_far = time;
  out_.families.push_back(one);
}

/// Those of the order's choices of ZeRO that fit and that no rule refuses.
void Explorer::find_fitting(const PricedOrder& priced_order, Seconds min) {
  fitting_.clear();
  for (const Shard& shard : priced_order.placed->shards) {
    choose(plan(), shard.zero, shard.size, problem_);
    if (refused()) continue;
    const Bytes total = memory(shard);
    if (total <= problem_.capacity) {
      fitting_.push_back({&shard, total, min});
      continue;
    }
    ++out_.stats.memory;
    if (total >= leanest_) continue;
    leanest_ = total;
    out_.leanest = {plan(), {}, total};
  }
}

void Explorer::priced_order(PricedOrder& priced_order, const Pipe& pipe) {
  if (stopped()) return;
  plan().order = priced_order.placed->order;
  plan().cp_comm = priced_order.comm;
  const Seconds min = min_time(priced_order, pipe, ends_);
  if (min > limit()) {
    out_.stats.pruned += i64(priced_order.placed->shards.size());
    return;
  }
  find_fitting(priced_order, min);
  if (fitting_.empty()) return;
  std::vector<Fit>& fitting = fitting_;
  const auto pruned = [&] {
    out_.stats.pruned += i64(std::erase_if(
        fitting, [&](const Fit& one) { return can_prune(one.min, one.shard->zero, one.memory); }));
    return fitting.empty();
  };
  if (pruned()) return;
  const cluster::Calibration& c = context_.calibration;
  const cost::StagePrices staged = stage_prices(config_, c, priced_order.prices);
  // Of the bubble no less than this is certain; first without data parallelism, then with it.
  const Seconds soonest = min_end(config_, staged);
  const Seconds idle = std::max(Seconds{}, soonest - staged.busiest);
  for (Fit& one : fitting) one.min = cost::apply_overheads(config_, c, staged.step.total() + idle);
  if (pruned()) return;
  for (Fit& one : fitting) {
    choose(plan(), one.shard->zero, one.shard->size, problem_);
    priced_order.placed->links.set(mesh::GroupKind::shard, one.shard->shard);
    priced_order.placed->links.set(mesh::GroupKind::replicate, one.shard->replicate);
    one.min =
        step_time(config_, c, priced_order.placed->links, priced_order.prices, staged, soonest)
            .total();
  }
  if (pruned()) return;
  const Seconds later = cost::apply_overheads(config_, c, pipeline_end(config_, staged) - soonest);
  for (const Fit& one : fitting) {
    choose(plan(), one.shard->zero, one.shard->size, problem_);
    ++out_.stats.priced;
    if (one.min + later <= limit()) keep(one.min + later, one.memory);
  }
}

void Explorer::pipeline(const Pipe& pipe, const std::vector<PricedOrder*>& price_orders,
                        const cost::LayerPrices& unlinked) {
  if (stopped()) return;
  const i64 each = inside_;
  choose(plan(), pipe);
  choose(plan(), 0, 0, problem_);
  if (too_large(min_memory(pipe))) {
    out_.stats.memory += each;
    return;
  }
  if (std::all_of(price_orders.begin(), price_orders.end(),
                  [&](const PricedOrder* one) { return one->min_with(pipe) > limit(); })) {
    out_.stats.pruned += each;
    return;
  }
  if (const plan::ConstraintViolation violation = first_pipeline_misfit(config_))
    return miss(violation, each);
  stages_ = config_.stages();
  if (pipe.balanced) {
    plan::Stages balanced = split_cache_.stages(config_, unlinked);
    if (balanced.empty() || balanced == stages_) {
      out_.stats.duplicates += each;
      return;
    }
    stages_ = plan().stages = std::move(balanced);
    if (const plan::ConstraintViolation violation = first_pipeline_misfit(config_))
      return miss(violation, each);
  }
  ends_ = ends(pipe);
  if (std::all_of(price_orders.begin(), price_orders.end(),
                  [&](const PricedOrder* one) { return min_time(*one, pipe, ends_) > limit(); })) {
    out_.stats.pruned += each;
    return;
  }
  if (too_large(min_on_first())) {
    out_.stats.memory += each;
    return;
  }
  loads_ = cost::RankLoads(config_).peak_candidates();
  totals_.assign(sizes_.size(), kInfiniteBytes);
  for (PricedOrder* one : price_orders) priced_order(*one, pipe);
}

/// All candidates of one microbatch size.
void Explorer::microbatch(i64 size) {
  if (stopped()) return;
  plan() = config_of(problem_, node_).plan;
  plan().micro_batch = size;
  if (unlinked_time(context_, config_) > limit()) {
    out_.stats.pruned += shards_ * outside_order() / i64(micro_batches_.size());
    return;
  }
  for (const bool sequence_parallel : sequence_parallels_) {
    choose(plan(), Pipe{});
    plan().sequence_parallel = sequence_parallel;
    plan().recompute = plan::Recompute::none;
    choose(plan(), 0, 0, problem_);  // what tp hides follows from the above
    weigh_layers();
    if (never_fits()) {
      out_.stats.memory +=
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
  plan().recompute = plan::Recompute::none;
  choose(plan(), 0, 0, problem_);
  if (problem_.overlap_chunks) plan().overlap.pp = chunked;
  const plan::Overlap overlap = plan().overlap;
  std::vector<PricedOrder> all = price_orders();
  if (all.empty()) return;
  plan().order = mesh::kDefaultOrder;
  plan().cp_comm = plan::CpComm::p2p;
  cost::LayerPrices unlinked =
      layer_prices(config_, cost::Links::none(config_, context_.calibration), context_.calibration);
  for (const plan::Recompute recompute : recomputes_) {
    choose(plan(), Pipe{});
    plan().overlap = overlap;
    plan().recompute = recompute;
    const std::vector<PricedOrder*> open = open_orders(all);
    if (open.empty()) continue;
    unlinked.recompute(recompute);
    inside_ = 0;
    for (const PricedOrder* priced_order : open)
      inside_ += i64(priced_order->placed->shards.size());
    for (const Pipe& pipe : open_pipes_) pipeline(pipe, open, unlinked);
  }
}

PartialResult Explorer::all() {
  for (auto& by_zero : families_)
    for (auto& by_sureness : by_zero) by_sureness.fill(kInfiniteTime);
  enumerate_orders();
  for (const PlacedOrder& placed : placed_orders_) shards_ += i64(placed.shards.size());
  weigh_states();
  for (const i64 size : micro_batches_) microbatch(size);
  keep_families(out_.families);
  const i64 all = candidates(problem_, node_);
  if (stopped_) {
    out_.stats = {};
    out_.undecided = all;
  } else {
    out_.stats.candidates = all;
  }
  return std::move(out_);
}

}  // namespace rankwright::search
