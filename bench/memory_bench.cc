// Measures the memory estimate: a search needs the fullest pp rank of millions of plans. Target: 1
// to 2 microseconds for a plan with 16 pp ranks.
#include <benchmark/benchmark.h>

#include <string>

#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/memory/memory.h"

namespace rankwright {
namespace {

struct Case {
  const char* label;
  const char* model;
  plan::Plan plan;
  i64 microbatches;
};

Case case_of(i64 n) {
  const plan::Plan plain{.tp = 8, .dp = 8, .pp = 16, .zero = 1, .sequence_parallel = true};
  if (n == 0) return {"405B, 16 pp ranks", "llama-3.1-405b", plain, 64};
  plan::Plan chunks = plain;
  chunks.virtual_stages = 4;  // 126 layers on 64 stages: chunks of 1 and of 2 layers
  chunks.schedule = pipeline::Schedule::interleaved;
  if (n == 1) return {"405B, 16 pp ranks of 4 uneven chunks", "llama-3.1-405b", chunks, 64};
  plan::Plan experts{.tp = 1, .dp = 64, .pp = 16, .ep = 64, .zero = 1};
  return {"DeepSeek-V3, 16 pp ranks", "deepseek-v3", experts, 64};
}

void fullest_of_a_plan(benchmark::State& state) {
  const Case asked = case_of(state.range(0));
  const Result<model::Model> model = catalog::find_model(asked.model);
  if (!model) return state.SkipWithError("no such model");
  plan::TrainingConfig config{.model = *model, .cluster = {}, .job = {}, .plan = asked.plan};
  config.job = {.global_batch = asked.microbatches * asked.plan.dp, .sequence = 8192};
  config.cluster.device.memory = 80.0_GB;
  const cluster::Calibration& constants = catalog::get_calibration();
  for (auto _ : state) benchmark::DoNotOptimize(cost::fullest(config, constants));
  state.SetLabel(asked.label);
}
BENCHMARK(fullest_of_a_plan)->DenseRange(0, 2)->Unit(benchmark::kNanosecond);

void memory_of_a_pp_rank(benchmark::State& state) {
  const Case asked = case_of(state.range(0));
  const Result<model::Model> model = catalog::find_model(asked.model);
  if (!model) return state.SkipWithError("no such model");
  plan::TrainingConfig config{.model = *model, .cluster = {}, .job = {}, .plan = asked.plan};
  config.job = {.global_batch = asked.microbatches * asked.plan.dp, .sequence = 8192};
  const cluster::Calibration& constants = catalog::get_calibration();
  for (auto _ : state) benchmark::DoNotOptimize(cost::estimate_memory(config, 0, constants));
  state.SetLabel(asked.label);
}
BENCHMARK(memory_of_a_pp_rank)->DenseRange(0, 2)->Unit(benchmark::kNanosecond);

}  // namespace
}  // namespace rankwright
