// Measures the estimate of one collective. Target: under 100 ns.
#include <benchmark/benchmark.h>

#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/collective.h"

namespace rankwright {
namespace {

/// Estimates one collective; a search does this about ten times per plan.
void estimate_collective(benchmark::State& state, plan::Op op, plan::Plan plan) {
  const cluster::Cluster cluster = *catalog::find_cluster("dgx-h100 x 64");
  const mesh::GroupShape shape =
      make_group_shape(plan.meshes(), mesh::GroupKind::dp, plan.shards());
  const mesh::Span group_span = span(shape, plan.ranks(), {}, cluster);
  Bytes size = 64.0_MB;
  for (auto _ : state) {
    benchmark::DoNotOptimize(size);
    benchmark::DoNotOptimize(
        cost::estimate_collective_cost(op, size, group_span, cluster, catalog::get_calibration()));
  }
}

BENCHMARK_CAPTURE(estimate_collective, all_reduce_node, plan::Op::all_reduce, plan::Plan{.dp = 8});
BENCHMARK_CAPTURE(estimate_collective, all_reduce_512, plan::Op::all_reduce, plan::Plan{.dp = 512});
BENCHMARK_CAPTURE(estimate_collective, all_gather_512, plan::Op::all_gather, plan::Plan{.dp = 512});
BENCHMARK_CAPTURE(estimate_collective, all_to_all_512, plan::Op::all_to_all, plan::Plan{.dp = 512});

}  // namespace
}  // namespace rankwright
