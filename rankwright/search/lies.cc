#include <algorithm>

#include "rankwright/cost/priced.h"
#include "rankwright/search/explorer.h"

namespace rankwright {
namespace {

constexpr GroupKind kKinds[] = {GroupKind::tp, GroupKind::cp,  GroupKind::pp, GroupKind::shard,
                                GroupKind::ep, GroupKind::etp, GroupKind::edp};

/// Those that the layers wait for.
constexpr GroupKind kInside[] = {GroupKind::tp, GroupKind::cp, GroupKind::ep, GroupKind::etp};

bool alike(const Lie& a, const Lie& b, std::span<const GroupKind> kinds) {
  return std::all_of(kinds.begin(), kinds.end(),
                     [&](GroupKind kind) { return a.links.span(kind) == b.links.span(kind); });
}

bool alike(const Lie& a, const Lie& b) { return a.shards == b.shards && alike(a, b, kKinds); }

/// What the lightest layer takes.
void find_lightest(Route& route) {
  route.forward = route.backward = kNever;
  for (const KindPrice& kind : route.prices.kinds) {
    const Seconds again = kind.time.again;
    route.forward = std::min(route.forward, kind.time.forward.total());
    route.backward = std::min(route.backward, kind.time.backward() + again);
  }
}

}  // namespace

/// Hybrid sharding is over the data ranks that one domain of the level holds.
Lie Explorer::lie(const Order& order) {
  plan().order = order;
  choose(plan(), 0, 0, problem_);
  Lie lie{.order = order, .links = Links(setup_, ground_.calibration)};
  if (plan().pp > 1) lie.links.add(setup_, GroupKind::mirror);  // for schedules that have pairs
  const i64 all = plan().data_ranks();
  const Span& whole = lie.links.span(GroupKind::shard);
  for (const Sharding& sharding : shardings_) {
    Shard shard{.zero = sharding.zero, .shard = whole, .replicate = {}};
    if (sharding.level != Sharding::kWhole) {
      const std::size_t level = std::size_t(sharding.level);
      shard.size = all > 1 ? whole.inside[level] : 1;
      if (shard.size <= 1 || shard.size >= all ||
          std::any_of(lie.shards.begin(), lie.shards.end(), [&](const Shard& other) {
            return other.zero == shard.zero && other.size == shard.size;
          })) {
        ++lie.alike;
        continue;
      }
      if (whole.least[level] != shard.size || !valid_shard_size(plan().meshes(), shard.size)) {
        ++lie.broken;
        continue;
      }
      plan().shard_size = shard.size;
      shard.shard = span_of(setup_, GroupKind::shard);
      shard.replicate = span_of(setup_, GroupKind::replicate);
      plan().shard_size = 0;
    }
    const std::pair<int, i64> key{shard.zero, shard.size};
    const auto known = std::find(sizes_.begin(), sizes_.end(), key);
    shard.at = std::size_t(known - sizes_.begin());
    if (known == sizes_.end()) sizes_.push_back(key);
    lie.shards.push_back(shard);
  }
  return lie;
}

/// Orders whose groups lie as those of a plainer one cost the same.
void Explorer::find_lies() {
  const i64 outside = outside_order();
  const i64 each = outside * i64(shardings_.size());
  for (const Order& order : orders(problem_, node_)) {
    plan().order = order;
    if (const Misfit misfit = first_misfit(setup_)) {
      miss(misfit, each);
      continue;
    }
    Lie found = lie(order);
    if (std::any_of(lies_.begin(), lies_.end(),
                    [&](const Lie& other) { return alike(found, other); })) {
      out_.tally.alike += each;
      continue;
    }
    out_.tally.alike += found.alike * outside;
    if (found.broken > 0) miss({Misfit::Why::shard}, found.broken * outside);
    const auto like = [&](std::span<const GroupKind> kinds) {
      return std::find_if(lies_.begin(), lies_.end(),
                          [&](const Lie& other) { return alike(found, other, kinds); });
    };
    const auto inside = like(kInside), tensor = like(std::span(kInside).first(1));
    found.inside = inside == lies_.end() ? ways_++ : inside->inside;
    found.tensor = tensor == lies_.end() ? tensor_ways_++ : tensor->tensor;
    lies_.push_back(std::move(found));
  }
}

/// What a step takes at least where tensor-parallel groups lie so, whatever the others do.
Seconds Explorer::least_with_tensor(const Lie& lie) {
  Links links = Links::none(setup_, ground_.calibration);
  links.set(GroupKind::tp, lie.links.span(GroupKind::tp));
  return rankwright::least_time(setup_, ground_.calibration,
                                layer_prices(setup_, links, ground_.calibration));
}

/// What the layers take on each order and exchange, without recompute. Orders on which the groups
/// inside layers lie alike share that price.
std::vector<Route> Explorer::routes() {
  std::vector<Route> all;
  std::vector<std::optional<Seconds>> tensor(tensor_ways_);
  std::vector<std::optional<LayerPrices>> inside(ways_);
  const i64 outside = i64(recomputes_.size() * open_pipes_.size());
  if (lies_.empty()) return all;
  for (const CpComm comm : comms_) {
    std::fill(inside.begin(), inside.end(), std::nullopt);
    plan().order = lies_.front().order;
    plan().cp_comm = comm;
    if (const Misfit misfit = first_misfit(setup_)) {
      miss(misfit, outside * shards_);
      continue;
    }
    for (Lie& lie : lies_) {
      plan().order = lie.order;
      const i64 each = outside * i64(lie.shards.size());
      std::optional<Seconds>& with_tensor = tensor[lie.tensor];
      if (!with_tensor) with_tensor = least_with_tensor(lie);
      if (*with_tensor > limit()) {
        out_.tally.bounded += each;
        continue;
      }
      std::optional<LayerPrices>& known = inside[lie.inside];
      if (!known) known = layer_prices(setup_, lie.links, ground_.calibration);
      known->send = send_time(setup_, lie.links);
      const Seconds least = rankwright::least_time(setup_, ground_.calibration, *known);
      if (least > limit()) {
        out_.tally.bounded += each;
        continue;
      }
      const Seconds chunk = least_more(setup_, ground_.calibration, *known);
      all.push_back({&lie, comm, *known, least, chunk});
    }
  }
  return all;
}

/// The same with this recompute: what is then too slow is left out for now.
std::vector<Route*> Explorer::open_routes(std::vector<Route>& all) {
  std::vector<Route*> open;
  for (Route& one : all) {
    one.prices.recompute(plan().recompute);
    one.least = rankwright::least_time(setup_, ground_.calibration, one.prices);
    find_lightest(one);
    if (one.least > limit())
      out_.tally.bounded += i64(open_pipes_.size() * one.lie->shards.size());
    else
      open.push_back(&one);
  }
  std::stable_sort(open.begin(), open.end(),
                   [](const Route* a, const Route* b) { return a->least < b->least; });
  return open;
}

}  // namespace rankwright
