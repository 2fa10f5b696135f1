#include "rankwright/runtime/sharded_params.h"

#include <algorithm>

#include "rankwright/base/check.h"
#include "rankwright/plan/traffic.h"

namespace rankwright::runtime {

using K = plan::TrafficKind;

ShardedParams::ShardedParams(const Rank& rank, Shard& shard, const AdamOptions& options,
                             std::uint64_t seed)
    : rank_(rank), zero_(rank.config.plan.zero), optimizer_(std::make_unique<Optimizer>(options)) {
  for (std::size_t chunk = 0; chunk < shard.stages.size(); ++chunk)
    add_regions(*shard.stages[chunk], chunk);
  for (Region& region : regions_) {
    initialize(region, seed);
    add_segments(region);
  }
}

void ShardedParams::add_regions(StagePart& stage, std::size_t chunk) {
  std::vector<Unit*> together, shared, frozen;
  for (Unit& unit : stage.units) {
    if (zero_ == 3)
      add_region({&unit}, chunk);
    else if (unit.training == Training::frozen)
      frozen.push_back(&unit);
    else
      (unit.shared && zero_ > 0 ? shared : together).push_back(&unit);
  }
  // The Program's order: parameters shared by two pp ranks come first, in one call.
  if (!shared.empty()) add_region(std::move(shared), chunk);
  if (!together.empty()) add_region(std::move(together), chunk);
  if (!frozen.empty()) add_region(std::move(frozen), chunk);
}

void ShardedParams::add_region(std::vector<Unit*> units, std::size_t chunk) {
  Region region{.units = std::move(units), .chunk = chunk};
  region.training = region.units.front()->training;
  for (const Unit* unit : region.units) {
    region.offsets.push_back(region.size);
    region.size += unit->size();
  }
  if (region.training == Training::frozen && zero_ < 3) {  // whole everywhere, never moved
    regions_.push_back(std::move(region));
    return;
  }
  const bool one_call = zero_ == 3 || (zero_ > 0 && region.units.front()->shared);
  const i64 each = one_call ? region.size : count_bucket_elements(rank_.config.plan);
  for (i64 first = 0; first < region.size; first += each) {
    Bucket bucket{.first = first, .count = std::min(each, region.size - first)};
    bucket.own = zero_ == 0 ? Part{0, bucket.count} : rank_.groups.data.part(bucket.count);
    bucket.shard = region.own;
    region.own += bucket.own.count;
    region.buckets.push_back(std::move(bucket));
  }
  regions_.push_back(std::move(region));
}

/// Allocates the region and sets initial values, one parameter at a time so that only one temporary
/// full parameter exists.
void ShardedParams::initialize(Region& region, std::uint64_t seed) {
  const torch::NoGradGuard no_graph;
  const auto [compute, sum] = rank_.formats;
  const bool trained = region.training != Training::frozen;
  const bool whole = zero_ < 3, master = compute != sum && region.training == Training::full;
  const torch::TensorOptions as_computed =
      torch::TensorOptions().dtype(region.training == Training::adapters ? sum : compute);
  const torch::TensorOptions as_sums = torch::TensorOptions().dtype(sum);
  if (whole) region.weights = torch::empty({region.size}, as_computed);
  if (!whole) region.own_weights = torch::empty({region.own}, as_computed);
  if (master) region.master = torch::empty({region.own}, as_sums);
  if (trained && zero_ <= 1) region.gradients = torch::zeros({region.size}, as_sums);
  if (trained && zero_ >= 2) region.own_gradients = torch::zeros({region.own}, as_sums);
  for (std::size_t u = 0; u < region.units.size(); ++u) {
    i64 at = region.offsets[u];
    for (Parameter* parameter : region.units[u]->parameters) {
      const Tensor values =
          initial(*parameter, seed, rank_.tp(), rank_.tp_rank, sum).view({parameter->size()});
      if (whole) region.weights.narrow(0, at, parameter->size()).copy_(values);
      for (const Bucket& bucket : region.buckets) {
        const i64 begin = std::max(at, bucket.first + bucket.own.first);
        const i64 end =
            std::min(at + parameter->size(), bucket.first + bucket.own.first + bucket.own.count);
        if (begin >= end) continue;
        const i64 to = bucket.shard + begin - bucket.first - bucket.own.first;
        const Tensor from = values.narrow(0, begin - at, end - begin);
        if (master) region.master.narrow(0, to, end - begin).copy_(from);
        if (!whole) region.own_weights.narrow(0, to, end - begin).copy_(from);
      }
      at += parameter->size();
    }
    if (whole) set_views(region, u, &Parameter::weight, region.weights, region.offsets[u]);
    if (trained && zero_ <= 1)
      set_views(region, u, &Parameter::gradient, region.gradients, region.offsets[u]);
  }
}

void ShardedParams::set_views(Region& region, std::size_t unit, Tensor Parameter::*view,
                              const Tensor& whole, i64 offset) {
  for (Parameter* parameter : region.units[unit]->parameters) {
    parameter->*view = whole.defined()
                           ? whole.narrow(0, offset, parameter->size()).view(parameter->shape)
                           : Tensor();
    offset += parameter->size();
  }
}

Tensor ShardedParams::own_master(Region& region, const Bucket& bucket) const {
  if (region.master.defined()) return region.master.narrow(0, bucket.shard, bucket.own.count);
  if (zero_ == 3) return region.own_weights.narrow(0, bucket.shard, bucket.own.count);
  return region.weights.narrow(0, bucket.first + bucket.own.first, bucket.own.count);
}

Tensor ShardedParams::own_gradient(const Region& region, const Bucket& bucket) const {
  if (zero_ >= 2) return region.own_gradients.narrow(0, bucket.shard, bucket.own.count);
  return region.gradients.narrow(0, bucket.first + bucket.own.first, bucket.own.count);
}

/// Visits the elements that this rank updates, per parameter: visit(parameter, bucket, first,
/// count, inside). `first` counts from the bucket's own part, `inside` from the parameter's first
/// element.
template <class Visit>
void ShardedParams::for_each_own(const Region& region, Visit visit) const {
  if (region.training == Training::frozen) return;
  for (const Bucket& bucket : region.buckets) {
    const i64 begin = bucket.first + bucket.own.first, end = begin + bucket.own.count;
    for (std::size_t u = 0; u < region.units.size(); ++u) {
      i64 at = region.offsets[u];
      for (Parameter* parameter : region.units[u]->parameters) {
        const i64 from = std::max(at, begin), to = std::min(at + parameter->size(), end);
        if (from < to) visit(*parameter, bucket, from - begin, to - from, from - at);
        at += parameter->size();
      }
    }
  }
}

void ShardedParams::add_segments(Region& region) {
  for_each_own(region, [&](Parameter& parameter, const Bucket& bucket, i64 first, i64 count, i64) {
    optimizer_->add(own_master(region, bucket).narrow(0, first, count),
                    own_gradient(region, bucket).narrow(0, first, count), parameter.decays);
  });
}

ShardedParams::UnitPlace ShardedParams::find_place(const Unit& unit) {
  for (Region& region : regions_)
    for (std::size_t u = 0; u < region.units.size(); ++u)
      if (region.units[u] == &unit) return {&region, u};
  RW_CHECK(false);
  return {};
}

void ShardedParams::begin(Unit& unit) {
  if (zero_ < 3) return;
  const torch::NoGradGuard no_graph;
  Region& region = *find_place(unit).region;
  if (region.weights.defined()) return;
  Bucket& all = region.buckets.front();
  region.weights = torch::empty({region.size}, region.own_weights.options());
  region.weights.narrow(0, all.own.first, all.own.count).copy_(region.own_weights);
  if (rank_.config.plan.overlap.param_gather)
    all.moving = rank_.groups.data.start_all_gather(K::dp_all_gather, slab(region.weights));
  else
    rank_.groups.data.all_gather(K::dp_all_gather, slab(region.weights));
}

void ShardedParams::unshard(Unit& unit) {
  if (zero_ < 3) return;
  begin(unit);
  Region& region = *find_place(unit).region;
  region.buckets.front().moving.wait();
  set_views(region, 0, &Parameter::weight, region.weights, 0);
}

void ShardedParams::reshard(Unit& unit) {
  if (zero_ < 3) return;
  Region& region = *find_place(unit).region;
  region.weights = Tensor();
  set_views(region, 0, &Parameter::weight, {}, 0);
}

void ShardedParams::open(Unit& unit) {
  if (zero_ < 2 || unit.training == Training::frozen) return;
  for (const auto& [opened, sum] : open_)
    if (opened == &unit) return;
  const auto [region, u] = find_place(unit);
  const Tensor sum = torch::zeros({unit.size()}, torch::TensorOptions().dtype(rank_.formats.sum));
  open_.emplace_back(&unit, sum);
  set_views(*region, u, &Parameter::gradient, sum, 0);
}

void ShardedParams::complete(Unit& unit, bool last) {
  if (unit.training == Training::frozen) return;
  const torch::NoGradGuard no_graph;
  const auto [region, u] = find_place(unit);
  if (zero_ < 2) {
    region->complete = region->offsets[u] + unit.size();
    if (!last || !rank_.config.plan.overlap.grad_reduce) return;
    // Start reducing full buckets while backward continues.
    std::size_t number = 0;
    for (const Region& before : regions_) {
      if (&before == region) break;
      if (before.chunk == region->chunk) number += before.buckets.size();
    }
    for (const Bucket& bucket : region->buckets) {
      if (bucket.first + bucket.count > region->complete) break;
      begin_reduce(region->chunk, number++);
    }
    return;
  }
  const auto opened = std::find_if(open_.begin(), open_.end(),
                                   [&](const auto& each) { return each.first == &unit; });
  RW_CHECK(opened != open_.end());
  const Tensor sum = opened->second;
  open_.erase(opened);
  set_views(*region, u, &Parameter::gradient, {}, 0);
  if (zero_ == 3)
    scatter_into(sum, region->own_gradients);
  else
    add_to_buckets(*region, sum);
}

/// ZeRO-2: copies gradients to their buckets and reduce-scatters each bucket that becomes full.
void ShardedParams::add_to_buckets(Region& region, const Tensor& gradients) {
  const i64 n = gradients.numel();
  for (i64 done = 0; done < n;) {
    const auto bucket =
        std::find_if(region.buckets.begin(), region.buckets.end(),
                     [&](const Bucket& b) { return region.complete < b.first + b.count; });
    const i64 at = region.complete - bucket->first;
    const i64 count = std::min(n - done, bucket->count - at);
    if (!region.filling.defined() && count == bucket->count) {
      scatter_into(gradients.narrow(0, done, count), own_gradient(region, *bucket));
    } else {
      if (!region.filling.defined()) {
        finish_scatters();  // so that only one whole bucket exists at a time
        region.filling = torch::empty({bucket->count}, gradients.options());
      }
      region.filling.narrow(0, at, count).copy_(gradients.narrow(0, done, count));
      if (at + count == bucket->count)
        scatter_into(std::exchange(region.filling, {}), own_gradient(region, *bucket));
    }
    done += count;
    region.complete += count;
  }
  if (region.complete == region.size) region.complete = 0;
}

void ShardedParams::scatter_into(const Tensor& whole, const Tensor& into) {
  finish_scatters();  // one at a time: each keeps a whole bucket or unit alive
  const Tensor part = torch::empty_like(into);
  if (!rank_.config.plan.overlap.grad_reduce) {
    rank_.groups.data.reduce_scatter(K::dp_reduce_scatter, slab(whole), slab(part));
    into.add_(part);
    return;
  }
  reducing_.push_back(
      {rank_.groups.data.start_reduce_scatter(K::dp_reduce_scatter, slab(whole), slab(part)), whole,
       part, into});
}

void ShardedParams::finish_scatters() {
  const torch::NoGradGuard no_graph;
  for (; !reducing_.empty(); reducing_.pop_front()) {
    reducing_.front().pending.wait();
    reducing_.front().into.add_(reducing_.front().part);
  }
}

void ShardedParams::clear_gradients() {
  const torch::NoGradGuard no_graph;
  for (Region& region : regions_) {
    if (region.training == Training::frozen) continue;
    (zero_ <= 1 ? region.gradients : region.own_gradients).zero_();
    for (Bucket& bucket : region.buckets) bucket.reduced = false;
  }
}

std::size_t ShardedParams::buckets(std::size_t chunk) const {
  std::size_t n = 0;
  for (const Region& region : regions_)
    if (region.chunk == chunk) n += region.buckets.size();
  return n;
}

const Region& ShardedParams::find_region(std::size_t chunk, std::size_t& bucket) const {
  for (const Region& region : regions_) {
    if (region.chunk != chunk) continue;
    if (bucket < region.buckets.size()) return region;
    bucket -= region.buckets.size();
  }
  RW_CHECK(false);
  return regions_.front();
}
Region& ShardedParams::find_region(std::size_t chunk, std::size_t& bucket) {
  return const_cast<Region&>(std::as_const(*this).find_region(chunk, bucket));
}

void ShardedParams::begin_gather(std::size_t chunk, std::size_t number) {
  Region& region = find_region(chunk, number);
  Bucket& bucket = region.buckets[number];
  const Slab whole = slab(region.weights.narrow(0, bucket.first, bucket.count));
  if (rank_.config.plan.overlap.param_gather)
    bucket.moving = rank_.groups.data.start_all_gather(K::dp_all_gather, whole);
  else
    rank_.groups.data.all_gather(K::dp_all_gather, whole);
}

void ShardedParams::begin_reduce(std::size_t chunk, std::size_t number) {
  Region& region = find_region(chunk, number);
  Bucket& bucket = region.buckets[number];
  if (std::exchange(bucket.reduced, true)) return;
  const Slab whole = slab(region.gradients.narrow(0, bucket.first, bucket.count));
  if (zero_ == 0) {
    bucket.moving = rank_.groups.data.start_all_reduce(K::dp_all_reduce, whole);
  } else {
    bucket.landing = torch::empty({bucket.own.count}, region.gradients.options());
    bucket.moving =
        rank_.groups.data.start_reduce_scatter(K::dp_reduce_scatter, whole, slab(bucket.landing));
  }
}

void ShardedParams::finish_gathers(std::size_t chunk) {
  for (Region& region : regions_)
    if (region.chunk == chunk && zero_ < 3)
      for (Bucket& bucket : region.buckets) bucket.moving.wait();
}

void ShardedParams::finish_reductions() {
  finish_scatters();
  for (Region& region : regions_)
    for (Bucket& bucket : region.buckets) finish(region, bucket);
}

void ShardedParams::finish(Region& region, Bucket& bucket) {
  const torch::NoGradGuard no_graph;
  bucket.moving.wait();
  if (!bucket.landing.defined()) return;
  own_gradient(region, bucket).copy_(bucket.landing);
  bucket.landing = Tensor();
}

/// Uses one buffer for all partial parameters, so that the call has the same size at every ZeRO
/// stage.
void ShardedParams::sum_partial() {
  const torch::NoGradGuard no_graph;
  i64 n = 0;
  for (const Region& region : regions_)
    for (const Unit* unit : region.units)
      for (const Parameter* parameter : unit->parameters)
        n += parameter->partial ? parameter->size() : 0;
  if (n == 0) return;
  const Tensor all = torch::zeros({n}, torch::TensorOptions().dtype(rank_.formats.sum));
  const auto copy = [&](bool back) {
    i64 at = 0;
    for (const Region& region : regions_)
      for_each_own(region,
                   [&](Parameter& parameter, const Bucket& bucket, i64 first, i64 count, i64) {
                     if (!parameter.partial) return;
                     Tensor own = own_gradient(region, bucket).narrow(0, first, count);
                     Tensor room = all.narrow(0, at, count);
                     back ? own.copy_(room) : room.copy_(own);
                     at += count;
                   });
  };
  copy(false);
  rank_.groups.tp.all_reduce(K::tp_norm_grads, slab(all));
  copy(true);
}

void ShardedParams::sum_shared() {
  for (Region& region : regions_) {
    for (std::size_t u = 0; u < region.units.size(); ++u) {
      if (!region.units[u]->shared || region.training == Training::frozen) continue;
      // ZeRO-1 keeps whole gradients, but only the own part is reduced; it is the same on both
      // ranks.
      const Tensor sum =
          zero_ >= 2 ? region.own_gradients
                     : region.gradients.narrow(0, region.offsets[u], region.units[u]->size());
      rank_.groups.edges.all_reduce(K::tied_embedding_grad, slab(sum));
    }
  }
}

std::size_t ShardedParams::mirrors(std::size_t chunk) const {
  if (zero_ < 3) return buckets(chunk);
  i64 size = 0;
  for (const Region& region : regions_)
    size += region.chunk == chunk && region.training != Training::frozen ? region.size : 0;
  return std::size_t(ceil_div(size, count_bucket_elements(rank_.config.plan)));
}

void ShardedParams::sum_mirror(std::size_t chunk, std::size_t number) {
  const torch::NoGradGuard no_graph;
  if (zero_ < 3) {
    Region& region = find_region(chunk, number);
    rank_.groups.mirror.all_reduce(K::mirror_grad,
                                   slab(own_gradient(region, region.buckets[number])));
    return;
  }
  // Units are many and small, so their shards are sent together, in buckets as in ZeRO 0 to 2.
  std::vector<Tensor> parts;
  for (const Region& region : regions_)
    if (region.chunk == chunk && region.training != Training::frozen)
      parts.push_back(region.own_gradients);
  const Tensor all = torch::cat(parts);
  const i64 each = count_bucket_elements(rank_.config.plan) / rank_.groups.data.size();
  const i64 first = i64(number) * each;
  const bool last = number + 1 == mirrors(chunk);
  rank_.groups.mirror.all_reduce(K::mirror_grad,
                                 slab(all.narrow(0, first, last ? all.numel() - first : each)));
  i64 at = 0;
  for (const Tensor& part : parts) {
    part.copy_(all.narrow(0, at, part.numel()));
    at += part.numel();
  }
}

double ShardedParams::squared_norm() {
  const torch::NoGradGuard no_graph;
  // Two pp ranks that hold the same stages have the same gradients; count them once.
  const plan::Plan& plan = rank_.config.plan;
  if (plan.mirrored() && rank_.pp_rank >= plan.pp / 2) return 0;
  double sum = 0;
  for (const Region& region : regions_)
    for_each_own(region,
                 [&](Parameter& parameter, const Bucket& bucket, i64 first, i64 count, i64) {
                   if (parameter.copy || (parameter.whole_everywhere() && rank_.tp_rank > 0))
                     return;
                   const Tensor own = own_gradient(region, bucket).narrow(0, first, count);
                   sum += own.dot(own).item<double>();
                 });
  return sum;
}

void ShardedParams::update(double scale) {
  optimizer_->step(scale);
  const torch::NoGradGuard no_graph;
  for (Region& region : regions_) {
    if (!region.master.defined()) continue;
    for (const Bucket& bucket : region.buckets) {
      const Tensor into =
          zero_ == 3 ? region.own_weights.narrow(0, bucket.shard, bucket.own.count)
                     : region.weights.narrow(0, bucket.first + bucket.own.first, bucket.own.count);
      into.copy_(own_master(region, bucket));
    }
  }
}

void ShardedParams::progress_calls() {
  if (!reducing_.empty()) reducing_.front().pending.done();
  for (Region& region : regions_)
    for (Bucket& bucket : region.buckets)
      if (bucket.moving) bucket.moving.done();
}

Tensor ShardedParams::gradient_of(const Parameter& parameter) const {
  const torch::NoGradGuard no_graph;
  Tensor whole = torch::zeros({parameter.size()}, torch::TensorOptions().dtype(rank_.formats.sum));
  for (const Region& region : regions_)
    for_each_own(region, [&](Parameter& each, const Bucket& bucket, i64 first, i64 count,
                             i64 inside) {
      if (&each == &parameter)
        whole.narrow(0, inside, count).copy_(own_gradient(region, bucket).narrow(0, first, count));
    });
  return whole.view(parameter.shape);
}

std::vector<Tensor> ShardedParams::copy_frozen() const {
  const torch::NoGradGuard no_graph;
  std::vector<Tensor> all;
  for (const Region& region : regions_)
    if (region.training == Training::frozen)
      all.push_back((zero_ == 3 ? region.own_weights : region.weights).clone());
  return all;
}

}  // namespace rankwright::runtime
