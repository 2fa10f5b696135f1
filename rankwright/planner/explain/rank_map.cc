#include "rankwright/planner/explain/rank_map.h"

#include <fmt/format.h>

#include <map>
#include <numeric>
#include <optional>
#include <unordered_set>

#include "rankwright/base/check.h"
#include "rankwright/base/format.h"
#include "rankwright/cost/traffic_cost.h"

namespace rankwright::planner {
namespace {

/// A criterion for folding: ranks with the same value of `of` may be folded. `words` names the axes
/// that this leaves out.
struct FoldCriterion {
  i64 (*of)(const mesh::MeshPair& meshes, i64 rank);
  std::string_view words;
  bool idle = true;  // idle devices count as equal
};
constexpr i64 kMaxRuns = 64;  // of pp ranks

/// Returns one number for a tuple of coordinates (mixed radix).
i64 combine(std::initializer_list<std::pair<i64, i64>> coordinates) {
  i64 part = 0;
  for (const auto& [coordinate, degree] : coordinates) part = part * degree + coordinate;
  return part;
}
std::pair<i64, i64> coordinate_on(const mesh::Mesh& mesh, i64 rank, mesh::Axis axis) {
  return {mesh.coordinate(rank, axis), mesh.degree(axis)};
}

/// From the finest criterion to the coarsest.
constexpr FoldCriterion kFoldCriteria[] = {
    {[](const mesh::MeshPair&, i64 rank) { return rank; }, "", false},
    {[](const mesh::MeshPair&, i64 rank) { return rank; }, ""},
    {[](const mesh::MeshPair& m, i64 rank) {
       return combine({coordinate_on(m.dense, rank, mesh::Axis::pp),
                       coordinate_on(m.dense, rank, mesh::Axis::cp),
                       coordinate_on(m.dense, rank, mesh::Axis::tp),
                       coordinate_on(m.expert, rank, mesh::Axis::ep)});
     },
     "dp"},
    {[](const mesh::MeshPair& m, i64 rank) {
       return combine({coordinate_on(m.dense, rank, mesh::Axis::pp),
                       coordinate_on(m.dense, rank, mesh::Axis::cp),
                       coordinate_on(m.dense, rank, mesh::Axis::tp)});
     },
     "dp"},
    {[](const mesh::MeshPair& m, i64 rank) {
       return combine({coordinate_on(m.dense, rank, mesh::Axis::pp),
                       coordinate_on(m.dense, rank, mesh::Axis::tp)});
     },
     "dp and cp"},
    {[](const mesh::MeshPair& m, i64 rank) { return m.dense.coordinate(rank, mesh::Axis::pp); },
     "dp, cp and tp"},
    {[](const mesh::MeshPair& m, i64 rank) {
       return m.dense.coordinate(rank, mesh::Axis::pp) / ceil_div(m.dense.pp, kMaxRuns);
     },
     "dp, cp, tp and pp"},
    {[](const mesh::MeshPair&, i64) { return i64{0}; }, "every axis"},
};

/// Numbers distinct values in order of appearance.
template <class Value>
class Numbering {
 public:
  i64 of(const Value& value) {
    return numbers_.try_emplace(value, i64(numbers_.size())).first->second;
  }

 private:
  std::map<Value, i64> numbers_{};
};

/// A distinct part and how often it occurs, in order of first appearance.
struct PartCount {
  i64 part = 0;
  i64 first = 0;  // index of the first occurrence
  i64 count = 0;
};

/// One way to fold: finds, level by level, the domains with equal contents.
class Folding {
 public:
  Folding(const cluster::Cluster& cluster, std::vector<i64> parts, bool inside)
      : cluster_(cluster), inside_(inside), parts_{std::move(parts)} {
    for (int level = 0; level < levels(); ++level) add_level(level);
  }

  /// Returns the number of drawn devices, or a number above `max` if there are more.
  i64 count_drawn(i64 max) const { return count_drawn(levels() - 1, 0, max); }

  MapDomain build(RankMap& map) const { return build(levels() - 1, 0, 1, 1, map); }

  /// Returns, for each device of the cluster, the device of the map that represents it.
  std::vector<std::size_t> devices(const MapDomain& root) const {
    std::vector<std::size_t> all(parts_[0].size());
    assign_devices(root, levels() - 1, 0, all);
    return all;
  }

 private:
  int levels() const { return int(cluster_.levels.size()); }
  const std::vector<i64>& below(int level) const { return parts_[std::size_t(level)]; }
  i64 arity(int level) const { return cluster_.levels[std::size_t(level)].arity; }

  /// Returns whether the children of a domain are folded. Devices keep their positions, so that a
  /// drawing shows each slot, unless folding inside an innermost domain is the only way.
  bool folds(int level) const { return level > 0 || inside_; }

  void add_level(int level) {
    const std::vector<i64>& children = below(level);
    const std::size_t each = std::size_t(arity(level));
    Numbering<std::vector<i64>> numbers;
    std::vector<i64> parts;
    for (std::size_t first = 0; first < children.size(); first += each) {
      std::vector<i64> key;
      if (!folds(level)) {
        key.assign(children.begin() + i64(first), children.begin() + i64(first + each));
      } else {
        std::map<i64, i64> counted;
        for (std::size_t k = first; k < first + each; ++k) ++counted[children[k]];
        for (const auto& [part, n] : counted) key.insert(key.end(), {part, n});
      }
      parts.push_back(numbers.of(key));
    }
    parts_.push_back(std::move(parts));
  }

  /// Returns what is drawn inside domain `index` of `level`.
  std::vector<PartCount> inside(int level, i64 index) const {
    std::vector<PartCount> all;
    std::map<i64, std::size_t> seen;
    for (i64 child = index * arity(level); child < (index + 1) * arity(level); ++child) {
      const i64 part = below(level)[std::size_t(child)];
      const auto [at, added] = seen.try_emplace(part, all.size());
      if (added || !folds(level))
        all.push_back({part, child, 1});
      else
        ++all[at->second].count;
    }
    return all;
  }

  i64 count_drawn(int level, i64 index, i64 max) const {
    i64 devices = 0;
    for (const PartCount& child : inside(level, index)) {
      if (devices > max) break;
      devices += level == 0 ? 1 : count_drawn(level - 1, child.first, max - devices);
    }
    return devices;
  }

  MapDomain build(int level, i64 index, i64 count, i64 copies, RankMap& map) const {
    MapDomain domain{.level = level, .index = index, .count = count};
    for (const PartCount& child : inside(level, index)) {
      if (level > 0) {
        domain.domains.push_back(
            build(level - 1, child.first, child.count, copies * child.count, map));
      } else {
        domain.devices.push_back(map.devices.size());
        map.devices.push_back({.device = child.first, .stands_for = copies * child.count});
      }
    }
    return domain;
  }

  void assign_devices(const MapDomain& as, int level, i64 index,
                      std::vector<std::size_t>& all) const {
    std::map<i64, std::size_t> drawn;  // position in `shown`, by part
    const std::vector<PartCount> shown = inside(level, as.index);
    for (std::size_t k = 0; k < shown.size(); ++k) drawn.emplace(shown[k].part, k);
    for (i64 k = 0; k < arity(level); ++k) {
      const i64 child = index * arity(level) + k;
      const std::size_t at =
          folds(level) ? drawn.at(below(level)[std::size_t(child)]) : std::size_t(k);
      if (level > 0)
        assign_devices(as.domains[at], level - 1, child, all);
      else
        all[std::size_t(child)] = as.devices[at];
    }
  }

  const cluster::Cluster& cluster_;
  bool inside_;
  std::vector<std::vector<i64>> parts_;  // parts of devices, then of the domains of each level
};

/// Disjoint sets (union-find).
class DisjointSets {
 public:
  explicit DisjointSets(std::size_t n) : up_(n) {
    std::iota(up_.begin(), up_.end(), std::size_t{0});
  }
  std::size_t root(std::size_t k) {
    while (up_[k] != k) k = up_[k] = up_[up_[k]];
    return k;
  }
  void join(std::size_t a, std::size_t b) { up_[root(b)] = root(a); }

 private:
  std::vector<std::size_t> up_;
};

/// Returns the groups of a kind. Groups that meet in a device of the map become one. Edge and
/// mirror groups are not shown.
MapGroups find_groups(const plan::TrainingConfig& config, mesh::GroupKind kind, const RankMap& map,
                      const std::vector<std::size_t>& drawn) {
  const mesh::GroupShape shape = make_group_shape(config.plan.meshes(), kind, config.plan.shards());
  MapGroups of{
      .kind = kind, .span = cost::find_span(config, kind), .groups = config.world / shape.size()};
  const mesh::Placement& placement = config.plan.placement;
  const auto at = [&](i64 rank) { return drawn[std::size_t(placement.device(rank))]; };
  DisjointSets sets(map.devices.size());
  for (i64 rank = 0; rank < config.world; ++rank)
    sets.join(at(find_group_base(shape, rank)), at(rank));
  Numbering<std::size_t> numbers;
  for (std::size_t k = 0; k < map.devices.size(); ++k)
    of.of_device.push_back(map.devices[k].rank < 0 ? -1 : numbers.of(sets.root(k)));
  return of;
}

std::string describe_map(const plan::TrainingConfig& config, const RankMap& map,
                         std::string_view left_out) {
  std::string text = fmt::format("{} on {}", plural(config.world, "rank", "ranks"),
                                 plural(config.cluster.devices(), "device", "devices"));
  if (!map.folded) return text + ", each in its place.";
  return text +
         fmt::format(
             ", drawn as {}: domains that differ in nothing but {} are one, with their number.",
             count(i64(map.devices.size())),
             left_out.empty() ? "being idle" : fmt::format("their place on {}", left_out));
}

}  // namespace

std::vector<mesh::GroupKind> list_shown_groups(const plan::TrainingConfig& config) {
  constexpr mesh::GroupKind kShown[] = {
      mesh::GroupKind::tp, mesh::GroupKind::cp,    mesh::GroupKind::pp,
      mesh::GroupKind::dp, mesh::GroupKind::dp_cp, mesh::GroupKind::shard,
      mesh::GroupKind::ep, mesh::GroupKind::etp,   mesh::GroupKind::edp};
  const plan::Plan& plan = config.plan;
  const mesh::MeshPair meshes = plan.meshes();
  const bool hybrid = plan.zero > 0 && plan.shards() < plan.data_ranks();
  std::vector<mesh::GroupKind> all;
  for (const mesh::GroupKind kind : kShown) {
    const bool expert =
        kind == mesh::GroupKind::ep || kind == mesh::GroupKind::etp || kind == mesh::GroupKind::edp;
    if ((expert && !config.model.sparse()) || (kind == mesh::GroupKind::shard && !hybrid)) continue;
    if (kind == mesh::GroupKind::dp_cp && plan.cp == 1) continue;  // equal to dp
    if (make_group_shape(meshes, kind, plan.shards()).size() > 1) all.push_back(kind);
  }
  return all;
}

namespace {

/// Returns the part of each device; nothing if there are more than `max` parts, because each is
/// drawn at least once.
std::optional<std::vector<i64>> parts_of(const std::vector<i64>& rank_on,
                                         const mesh::MeshPair& meshes,
                                         const FoldCriterion& criterion, i64 max) {
  std::vector<i64> parts(rank_on.size());
  std::unordered_set<i64> seen;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    parts[k] = rank_on[k] >= 0  ? criterion.of(meshes, rank_on[k])
               : criterion.idle ? -1
                                : -1 - i64(k);
    if (k > 0 && parts[k] == parts[k - 1]) continue;
    seen.insert(parts[k]);
    if (i64(seen.size()) > max) return std::nullopt;
  }
  return parts;
}

}  // namespace

RankMap make_rank_map(const plan::TrainingConfig& config, i64 max) {
  RW_CHECK(max > 0);
  const mesh::MeshPair meshes = config.plan.meshes();
  const cluster::Cluster& cluster = config.cluster;
  std::vector<i64> rank_on(std::size_t(cluster.devices()), -1);
  for (i64 rank = 0; rank < config.world; ++rank)
    rank_on[std::size_t(config.plan.placement.device(rank))] = rank;
  RankMap map;
  for (const bool inside : {false, true})
    for (const FoldCriterion& criterion : kFoldCriteria) {
      if (!inside && cluster.levels.front().arity > max) break;
      const bool last = inside && &criterion == std::end(kFoldCriteria) - 1;
      std::optional<std::vector<i64>> parts =
          parts_of(rank_on, meshes, criterion, last ? cluster.devices() : max);
      if (!parts) continue;
      const Folding folding(cluster, std::move(*parts), inside);
      if (!last && folding.count_drawn(max) > max) continue;
      map.root = folding.build(map);
      for (MapDevice& device : map.devices) device.rank = rank_on[std::size_t(device.device)];
      map.folded = i64(map.devices.size()) < cluster.devices();
      map.words = describe_map(config, map, criterion.words);
      const std::vector<std::size_t> drawn = folding.devices(map.root);
      for (const mesh::GroupKind kind : list_shown_groups(config))
        map.groups.push_back(find_groups(config, kind, map, drawn));
      return map;
    }
  RW_CHECK(false);
  return map;
}

}  // namespace rankwright::planner
