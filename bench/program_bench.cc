// Measures expanding a pipeline to its actions, simulating and verifying it, and the memory that
// this takes. Limits on one core of a release build: 128 pp ranks x 16 chunks x 4,096 microbatches
// expands and simulates in 2 s and 1 GB, 16 x 4 x 64 in 20 ms.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include "rankwright/pipeline/order.h"
#include "rankwright/program/proof.h"
#include "rankwright/program/simulate.h"
#include "rankwright/program/transfers.h"

namespace rankwright {
namespace {

pipeline::PipelineShape make_shape(const benchmark::State& state) {
  return {pipeline::Schedule(state.range(0)), state.range(1), state.range(2), state.range(3)};
}

program::Program expand_pipeline(const pipeline::PipelineShape& s) {
  return program::add_transfers(pipeline::cells(s), s.stages(), s.microbatches);
}

/// Returns the peak memory of this process. To measure a single benchmark, run it alone
/// (--benchmark_filter).
double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return double(usage.ru_maxrss) * 1024 / 1e6;
}

void expand_and_simulate(benchmark::State& state) {
  const pipeline::PipelineShape s = make_shape(state);
  i64 actions = 0;
  for (auto _ : state) {
    const program::Program program = expand_pipeline(s);
    const program::Timeline timeline =
        simulate(program, make_equal_durations(program, Seconds{1}, Seconds{1}, Seconds{1}));
    benchmark::DoNotOptimize(timeline.end);
    actions = 0;
    for (const pipeline::Sequence& role : program.roles) actions += i64(role.size());
  }
  state.SetLabel(std::string(name(s.schedule)));
  state.counters["actions"] = double(actions);
  state.counters["peak_MB"] = peak_megabytes();
}

void proof(benchmark::State& state) {
  const pipeline::PipelineShape s = make_shape(state);
  const program::Program program = expand_pipeline(s);
  for (auto _ : state) benchmark::DoNotOptimize(prove(program).holds());
  state.SetLabel(std::string(name(s.schedule)));
  state.counters["peak_MB"] = peak_megabytes();
}

constexpr i64 kInterleaved = i64(pipeline::Schedule::interleaved);
constexpr i64 kInterleavedZb = i64(pipeline::Schedule::interleaved_zb);

BENCHMARK(expand_and_simulate)
    ->Args({kInterleaved, 16, 4, 64})
    ->Args({kInterleavedZb, 16, 4, 64})
    ->Args({kInterleaved, 128, 16, 4096})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(proof)
    ->Args({kInterleaved, 16, 4, 64})
    ->Args({kInterleaved, 128, 16, 4096})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace rankwright
