#include <algorithm>

#include "rankwright/cost/priced.h"
#include "rankwright/search/explorer.h"

namespace rankwright::search {
namespace {

constexpr mesh::GroupKind kKinds[] = {
    mesh::GroupKind::tp, mesh::GroupKind::cp,  mesh::GroupKind::pp, mesh::GroupKind::shard,
    mesh::GroupKind::ep, mesh::GroupKind::etp, mesh::GroupKind::edp};

/// Those that the layers wait for.
constexpr mesh::GroupKind kInside[] = {mesh::GroupKind::tp, mesh::GroupKind::cp,
                                       mesh::GroupKind::ep, mesh::GroupKind::etp};

bool duplicates(const PlacedOrder& a, const PlacedOrder& b,
                std::span<const mesh::GroupKind> kinds) {
  return std::all_of(kinds.begin(), kinds.end(), [&](mesh::GroupKind kind) {
    return a.links.span(kind) == b.links.span(kind);
  });
}

bool duplicates(const PlacedOrder& a, const PlacedOrder& b) {
  return a.shards == b.shards && duplicates(a, b, kKinds);
}

/// What the lightest layer takes.
void find_lightest(PricedOrder& priced_order) {
  priced_order.forward = priced_order.backward = kInfiniteTime;
  for (const cost::KindPrice& kind : priced_order.prices.kinds) {
    const Seconds again = kind.time.again;
    priced_order.forward = std::min(priced_order.forward, kind.time.forward.total());
    priced_order.backward = std::min(priced_order.backward, kind.time.backward() + again);
  }
}

}  // namespace

/// Hybrid sharding is over the data ranks that one domain of the level holds.
PlacedOrder Explorer::place_order(const mesh::Order& order) {
  plan().order = order;
  choose(plan(), 0, 0, problem_);
  PlacedOrder placed{.order = order, .links = cost::Links(config_, context_.calibration)};
  if (plan().pp > 1)
    placed.links.add(config_, mesh::GroupKind::mirror);  // for schedules that have pairs
  const i64 all = plan().data_ranks();
  const mesh::Span& whole = placed.links.span(mesh::GroupKind::shard);
  for (const Sharding& sharding : shardings_) {
    Shard shard{.zero = sharding.zero, .shard = whole, .replicate = {}};
    if (sharding.level != Sharding::kWhole) {
      const std::size_t level = std::size_t(sharding.level);
      shard.size = all > 1 ? whole.inside[level] : 1;
      if (shard.size <= 1 || shard.size >= all ||
          std::any_of(placed.shards.begin(), placed.shards.end(), [&](const Shard& other) {
            return other.zero == shard.zero && other.size == shard.size;
          })) {
        ++placed.duplicates;
        continue;
      }
      if (whole.min[level] != shard.size || !valid_shard_size(plan().meshes(), shard.size)) {
        ++placed.broken;
        continue;
      }
      plan().shard_size = shard.size;
      shard.shard = cost::span_of(config_, mesh::GroupKind::shard);
      shard.replicate = cost::span_of(config_, mesh::GroupKind::replicate);
      plan().shard_size = 0;
    }
    const std::pair<int, i64> key{shard.zero, shard.size};
    const auto cached = std::find(sizes_.begin(), sizes_.end(), key);
    shard.at = std::size_t(cached - sizes_.begin());
    if (cached == sizes_.end()) sizes_.push_back(key);
    placed.shards.push_back(shard);
  }
  return placed;
}

/// Orders whose groups lie as those of a plainer one cost the same.
void Explorer::enumerate_orders() {
  const i64 outside = outside_order();
  const i64 each = outside * i64(shardings_.size());
  for (const mesh::Order& order : orders(problem_, node_)) {
    plan().order = order;
    if (const plan::ConstraintViolation violation = first_misfit(config_)) {
      miss(violation, each);
      continue;
    }
    PlacedOrder found = place_order(order);
    if (std::any_of(placed_orders_.begin(), placed_orders_.end(),
                    [&](const PlacedOrder& other) { return duplicates(found, other); })) {
      out_.stats.duplicates += each;
      continue;
    }
    out_.stats.duplicates += found.duplicates * outside;
    if (found.broken > 0) miss({plan::ConstraintViolation::Why::shard}, found.broken * outside);
    const auto like = [&](std::span<const mesh::GroupKind> kinds) {
      return std::find_if(
          placed_orders_.begin(), placed_orders_.end(),
          [&](const PlacedOrder& other) { return duplicates(found, other, kinds); });
    };
    const auto inside = like(kInside), tensor = like(std::span(kInside).first(1));
    found.inside = inside == placed_orders_.end() ? num_layer_placements_++ : inside->inside;
    found.tensor = tensor == placed_orders_.end() ? num_tensor_placements_++ : tensor->tensor;
    placed_orders_.push_back(std::move(found));
  }
}

/// What a step takes at least where tensor-parallel groups lie so, whatever the others do.
Seconds Explorer::min_with_tensor(const PlacedOrder& placed) {
  cost::Links links = cost::Links::none(config_, context_.calibration);
  links.set(mesh::GroupKind::tp, placed.links.span(mesh::GroupKind::tp));
  return rankwright::cost::min_time(config_, context_.calibration,
                                    layer_prices(config_, links, context_.calibration));
}

/// What the layers take on each order and exchange, without recompute. Orders on which the groups
/// inside layers lie alike share that price.
std::vector<PricedOrder> Explorer::price_orders() {
  std::vector<PricedOrder> all;
  std::vector<std::optional<Seconds>> tensor(num_tensor_placements_);
  std::vector<std::optional<cost::LayerPrices>> inside(num_layer_placements_);
  const i64 outside = i64(recomputes_.size() * open_pipes_.size());
  if (placed_orders_.empty()) return all;
  for (const plan::CpComm comm : comms_) {
    std::fill(inside.begin(), inside.end(), std::nullopt);
    plan().order = placed_orders_.front().order;
    plan().cp_comm = comm;
    if (const plan::ConstraintViolation violation = first_misfit(config_)) {
      miss(violation, outside * shards_);
      continue;
    }
    for (PlacedOrder& placed : placed_orders_) {
      plan().order = placed.order;
      const i64 each = outside * i64(placed.shards.size());
      std::optional<Seconds>& with_tensor = tensor[placed.tensor];
      if (!with_tensor) with_tensor = min_with_tensor(placed);
      if (*with_tensor > limit()) {
        out_.stats.pruned += each;
        continue;
      }
      std::optional<cost::LayerPrices>& cached = inside[placed.inside];
      if (!cached) cached = layer_prices(config_, placed.links, context_.calibration);
      cached->send = send_time(config_, placed.links);
      const Seconds min = rankwright::cost::min_time(config_, context_.calibration, *cached);
      if (min > limit()) {
        out_.stats.pruned += each;
        continue;
      }
      const Seconds chunk = min_time_per_extra_chunk(config_, context_.calibration, *cached);
      all.push_back({&placed, comm, *cached, min, chunk});
    }
  }
  return all;
}

/// The same with this recompute: what is then too slow is left out for now.
std::vector<PricedOrder*> Explorer::open_orders(std::vector<PricedOrder>& all) {
  std::vector<PricedOrder*> open;
  for (PricedOrder& one : all) {
    one.prices.recompute(plan().recompute);
    one.min = rankwright::cost::min_time(config_, context_.calibration, one.prices);
    find_lightest(one);
    if (one.min > limit())
      out_.stats.pruned += i64(open_pipes_.size() * one.placed->shards.size());
    else
      open.push_back(&one);
  }
  std::stable_sort(open.begin(), open.end(),
                   [](const PricedOrder* a, const PricedOrder* b) { return a->min < b->min; });
  return open;
}

}  // namespace rankwright::search
