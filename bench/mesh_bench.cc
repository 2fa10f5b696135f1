// Measures rank arithmetic on 1,048,576 ranks. Targets: everything about one rank under 1 ms; the
// closed form of span() in tens of nanoseconds, because a search calls it millions of times;
// counting under 100 ms.
#include <benchmark/benchmark.h>

#include "rankwright/mesh/placement.h"

namespace rankwright {
namespace {

constexpr i64 kWorld = 1'048'576;

cluster::Cluster make_cluster(std::initializer_list<i64> arities) {
  cluster::Cluster cluster;
  for (const i64 arity : arities) cluster.levels.push_back({.name = "", .arity = arity});
  return cluster;
}

cluster::Cluster make_five_levels() { return make_cluster({8, 4, 32, 32, 32}); }

mesh::MeshPair make_million_ranks() {
  return {.dense = {.tp = 8, .cp = 4, .dp = 2048, .pp = 16},
          .expert = {.tp = 1, .ep = 64, .dp = 1024, .pp = 16}};
}

void everything_about_one_rank(benchmark::State& state) {
  const cluster::Cluster cluster = make_five_levels();
  const mesh::MeshPair meshes = make_million_ranks();
  i64 rank = 777'777;
  for (auto _ : state) {
    benchmark::DoNotOptimize(rank);
    for (const mesh::Axis axis : mesh::kAllAxes) {
      benchmark::DoNotOptimize(meshes.dense.coordinate(rank, axis));
      benchmark::DoNotOptimize(meshes.expert.coordinate(rank, axis));
    }
    for (std::size_t k = 0; k < mesh::kGroupKinds; ++k) {
      const mesh::GroupShape shape = make_group_shape(meshes, mesh::GroupKind(k), 256);
      benchmark::DoNotOptimize(find_group_base(shape, rank));
      benchmark::DoNotOptimize(span(shape, kWorld, {}, cluster));
    }
    for (const mesh::GroupKind kind :
         {mesh::GroupKind::tp, mesh::GroupKind::pp, mesh::GroupKind::ep})
      benchmark::DoNotOptimize(list_group_members(make_group_shape(meshes, kind, 256), rank));
  }
}
BENCHMARK(everything_about_one_rank)->Unit(benchmark::kMicrosecond);

void shape_of_a_group(benchmark::State& state) {
  const mesh::MeshPair meshes = make_million_ranks();
  for (auto _ : state) {
    benchmark::DoNotOptimize(&meshes);
    benchmark::DoNotOptimize(make_group_shape(meshes, mesh::GroupKind(state.range(0)), 256));
  }
  state.SetLabel(std::string(name(mesh::GroupKind(state.range(0)))));
}
BENCHMARK(shape_of_a_group)->Arg(int(mesh::GroupKind::dp))->Arg(int(mesh::GroupKind::shard));

void span_in_closed_form(benchmark::State& state) {
  const cluster::Cluster cluster = make_five_levels();
  const mesh::Placement block;
  const mesh::GroupShape shape =
      make_group_shape(make_million_ranks(), mesh::GroupKind(state.range(0)), 256);
  for (auto _ : state) benchmark::DoNotOptimize(span(shape, kWorld, block, cluster));
  state.SetLabel(std::string(name(mesh::GroupKind(state.range(0)))));
}
BENCHMARK(span_in_closed_form)->DenseRange(0, int(mesh::kGroupKinds) - 1);

/// Domains of 72 and 12 * 72 devices do not align with a mesh of powers of two, so span() counts.
void span_counted_in_domains_of_72(benchmark::State& state) {
  const cluster::Cluster cluster = make_cluster({72, 12, 8, 16, 16});
  const mesh::GroupShape shape =
      make_group_shape(make_million_ranks(), mesh::GroupKind(state.range(0)), 256);
  for (auto _ : state) benchmark::DoNotOptimize(span(shape, kWorld, {}, cluster));
  state.SetLabel(std::string(name(mesh::GroupKind(state.range(0)))));
}
BENCHMARK(span_counted_in_domains_of_72)
    ->DenseRange(0, int(mesh::kGroupKinds) - 1)
    ->Unit(benchmark::kMillisecond);

void span_of_cyclic_placement(benchmark::State& state) {
  const cluster::Cluster cluster = make_five_levels();
  const mesh::Placement cyclic{
      .kind = mesh::Placement::Kind::cyclic, .host_devices = 8, .hosts = kWorld / 8, .devices = {}};
  const mesh::GroupShape shape =
      make_group_shape(make_million_ranks(), mesh::GroupKind(state.range(0)), 256);
  for (auto _ : state) benchmark::DoNotOptimize(span(shape, kWorld, cyclic, cluster));
  state.SetLabel(std::string(name(mesh::GroupKind(state.range(0)))));
}
BENCHMARK(span_of_cyclic_placement)
    ->DenseRange(0, int(mesh::kGroupKinds) - 1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace rankwright
