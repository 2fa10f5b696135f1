// Measures the evaluation of one plan in a search: the whole estimate, and within it the
// closed-form time of a pipelined step.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>
#include <vector>

#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/estimate.h"
#include "rankwright/import/plan/draft.h"
#include "rankwright/import/plan/plan_file.h"
#include "rankwright/pipeline/pipeline_time.h"

namespace rankwright {
namespace {

/// Uses stages that differ slightly. Arguments: schedule, pp ranks, chunks and microbatches.
void pipeline_step(benchmark::State& state) {
  const pipeline::PipelineShape shape{.schedule = pipeline::Schedule(state.range(0)),
                                      .pp = state.range(1),
                                      .chunks = state.range(2),
                                      .microbatches = state.range(3)};
  std::vector<pipeline::StageTimes> stages;
  for (i64 k = 0; k < shape.stages(); ++k) {
    const double f = 1 + 0.02 * double(k * 7 % 11);
    stages.push_back({{f}, {1.2 * f}, {0.9 * f}});
  }
  for (auto _ : state)
    benchmark::DoNotOptimize(estimate_pipeline_time(shape, stages, Seconds{0.05}));
  state.SetLabel(std::string(name(shape.schedule)));
}

/// Adds every schedule on 16 pp ranks, with up to four chunks.
void every_schedule(benchmark::internal::Benchmark* bench) {
  for (const pipeline::ScheduleRow& s : pipeline::schedules())
    bench->Args({i64(s.schedule), 16, std::min<i64>(4, s.max_chunks), 128});
}
BENCHMARK(pipeline_step)->Apply(every_schedule);

/// Estimates time and memory of a plan with fixed model, cluster and job: a search does this for
/// millions of plans.
void whole_estimate(benchmark::State& state, std::string_view text) {
  const importer::PlanFile file =
      importer::read_plan(std::string(text), "plan.yaml", importer::refuse_file);
  const plan::TrainingConfig config = resolve(file.draft);
  for (auto _ : state)
    benchmark::DoNotOptimize(cost::estimate_plan(config, catalog::get_calibration()));
}
BENCHMARK_CAPTURE(whole_estimate, dp_8,
                  "model: llama-3.2-1b\ncluster: dgx-a100 x 1\nparallelism: {dp_size: 8}\n"
                  "job: {global_batch: 256, sequence: 2048}\n");
BENCHMARK_CAPTURE(whole_estimate, tp_8_pp_4_dp_2,
                  "model: llama-3.1-70b\ncluster: dgx-h100 x 8\n"
                  "parallelism: {tp_size: 8, pp_size: 4, zero_stage: 1}\n"
                  "job: {global_batch: 512, sequence: 8192}\n");
BENCHMARK_CAPTURE(whole_estimate, pp_16_moe,
                  "model: deepseek-v3\ncluster: dgx-h800 x 256\n"
                  "parallelism: {pp_size: 16, ep_size: 64, zero_stage: 1}\n"
                  "job: {global_batch: 15360, sequence: 4096}\n");
BENCHMARK_CAPTURE(whole_estimate, pp_16_x_7,
                  "model: llama-3.1-405b\ncluster: dgx-h100 x 2048\n"
                  "parallelism: {tp_size: 8, pp_size: 16, virtual_stages: 7, zero_stage: 1}\n"
                  "job: {global_batch: 2048, sequence: 8192}\n");

}  // namespace
}  // namespace rankwright
