// What one price of a collective costs. Target: under 100 ns.
#include <benchmark/benchmark.h>

#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/collective.h"

namespace rankwright {
namespace {

/// One price, as a search asks for some ten times a plan.
void price(benchmark::State& state, plan::Op op, plan::Plan plan) {
  const cluster::Cluster cluster = *catalog::find_cluster("dgx-h100 x 64");
  const mesh::GroupShape shape = group_shape(plan.meshes(), mesh::GroupKind::dp, plan.shards());
  const mesh::Span lies = span(shape, plan.ranks(), {}, cluster);
  Bytes size = 64.0_MB;
  for (auto _ : state) {
    benchmark::DoNotOptimize(size);
    benchmark::DoNotOptimize(
        cost::collective_cost(op, size, lies, cluster, catalog::calibration()));
  }
}

BENCHMARK_CAPTURE(price, all_reduce_node, plan::Op::all_reduce, plan::Plan{.dp = 8});
BENCHMARK_CAPTURE(price, all_reduce_512, plan::Op::all_reduce, plan::Plan{.dp = 512});
BENCHMARK_CAPTURE(price, all_gather_512, plan::Op::all_gather, plan::Plan{.dp = 512});
BENCHMARK_CAPTURE(price, all_to_all_512, plan::Op::all_to_all, plan::Plan{.dp = 512});

}  // namespace
}  // namespace rankwright
