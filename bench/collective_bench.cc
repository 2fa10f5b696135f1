// What one price of a collective costs. Target: under 100 ns.
#include <benchmark/benchmark.h>

#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/collective.h"

namespace rankwright {
namespace {

/// One price, as a search asks for some ten times a plan.
void price(benchmark::State& state, Op op, Plan plan) {
  const Cluster cluster = *find_cluster("dgx-h100 x 64");
  const GroupShape shape = group_shape(plan.meshes(), GroupKind::dp, plan.shards());
  const Span lies = span(shape, plan.ranks(), {}, cluster);
  Bytes size = 64.0_MB;
  for (auto _ : state) {
    benchmark::DoNotOptimize(size);
    benchmark::DoNotOptimize(collective_cost(op, size, lies, cluster, calibration()));
  }
}

BENCHMARK_CAPTURE(price, all_reduce_node, Op::all_reduce, Plan{.dp = 8});
BENCHMARK_CAPTURE(price, all_reduce_512, Op::all_reduce, Plan{.dp = 512});
BENCHMARK_CAPTURE(price, all_gather_512, Op::all_gather, Plan{.dp = 512});
BENCHMARK_CAPTURE(price, all_to_all_512, Op::all_to_all, Plan{.dp = 512});

}  // namespace
}  // namespace rankwright
