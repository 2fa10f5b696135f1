// Ranks, groups and domains by plain enumeration, without strides or division, and random meshes: a
// reference for the arithmetic of mesh/.
#pragma once

#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <vector>

#include "rankwright/mesh/group.h"
#include "rankwright/mesh/mesh.h"

namespace rankwright::enumeration {

using Coordinates = std::array<i64, mesh::kAxes>;  // by Axis
using Groups = std::vector<std::vector<i64>>;

/// Returns the coordinates of every rank by counting through the mesh like an odometer.
inline std::vector<Coordinates> coordinates(const mesh::Mesh& mesh) {
  std::vector<Coordinates> ranks;
  Coordinates at{};
  const auto degree = [&](mesh::Axis axis) { return mesh.degree(axis); };
  const auto digit = [&](std::size_t i) -> i64& { return at[std::size_t(mesh.order[i])]; };
  for (digit(4) = 0; digit(4) < degree(mesh.order[4]); ++digit(4))
    for (digit(3) = 0; digit(3) < degree(mesh.order[3]); ++digit(3))
      for (digit(2) = 0; digit(2) < degree(mesh.order[2]); ++digit(2))
        for (digit(1) = 0; digit(1) < degree(mesh.order[1]); ++digit(1))
          for (digit(0) = 0; digit(0) < degree(mesh.order[0]); ++digit(0)) ranks.push_back(at);
  return ranks;
}

/// Returns all groups of ranks that agree in every coordinate except those on `axes`, ordered by
/// their lowest rank.
inline Groups groups(const mesh::Mesh& mesh, const std::vector<mesh::Axis>& axes) {
  Groups result;
  std::vector<Coordinates> fixed = coordinates(mesh);
  for (Coordinates& c : fixed)
    for (const mesh::Axis axis : axes) c[std::size_t(axis)] = 0;
  std::vector<Coordinates> seen;
  for (std::size_t rank = 0; rank < fixed.size(); ++rank) {
    const auto found = std::find(seen.begin(), seen.end(), fixed[rank]);
    const std::size_t group = std::size_t(found - seen.begin());
    if (found == seen.end()) {
      seen.push_back(fixed[rank]);
      result.emplace_back();
    }
    result[group].push_back(i64(rank));
  }
  return result;
}

/// A kind of group that is defined by axes of one mesh; shard and replicate are not.
struct KindAxes {
  mesh::GroupKind kind;
  bool expert;
  std::vector<mesh::Axis> axes;
};

inline const std::vector<KindAxes>& kinds() {
  static const std::vector<KindAxes> table{
      {mesh::GroupKind::tp, false, {mesh::Axis::tp}},
      {mesh::GroupKind::cp, false, {mesh::Axis::cp}},
      {mesh::GroupKind::dp, false, {mesh::Axis::dp}},
      {mesh::GroupKind::dp_cp, false, {mesh::Axis::dp, mesh::Axis::cp}},
      {mesh::GroupKind::pp, false, {mesh::Axis::pp}},
      {mesh::GroupKind::ep, true, {mesh::Axis::ep}},
      {mesh::GroupKind::etp, true, {mesh::Axis::tp}},
      {mesh::GroupKind::edp, true, {mesh::Axis::dp}},
      {mesh::GroupKind::model, false, {mesh::Axis::tp, mesh::Axis::pp}},
      {mesh::GroupKind::world,
       false,
       {mesh::Axis::tp, mesh::Axis::cp, mesh::Axis::ep, mesh::Axis::dp, mesh::Axis::pp}}};
  return table;
}

inline Groups groups(const mesh::MeshPair& meshes, const KindAxes& kind) {
  return groups(kind.expert ? meshes.expert : meshes.dense, kind.axes);
}

inline i64 random_divisor(i64 n) { return *rc::gen::elementOf(list_divisors(n)); }

inline mesh::Order random_order() {
  mesh::Order order = mesh::kDefaultOrder;
  const int turns = *rc::gen::inRange(0, 120);
  for (int i = 0; i < turns; ++i) std::next_permutation(order.begin(), order.end());
  return order;
}

/// Makes two meshes over `world` ranks with the same order.
inline mesh::MeshPair random_meshes(i64 world) {
  mesh::MeshPair meshes;
  meshes.dense.order = meshes.expert.order = random_order();
  meshes.dense.pp = meshes.expert.pp = random_divisor(world);
  const i64 rest = world / meshes.dense.pp;
  meshes.dense.dp = random_divisor(rest);
  meshes.dense.cp = random_divisor(rest / meshes.dense.dp);
  meshes.dense.tp = rest / meshes.dense.dp / meshes.dense.cp;
  meshes.expert.ep = random_divisor(rest);
  meshes.expert.tp = random_divisor(rest / meshes.expert.ep);
  meshes.expert.dp = rest / meshes.expert.ep / meshes.expert.tp;
  return meshes;
}

}  // namespace rankwright::enumeration
