// Measures explaining and checking a plan. The cost depends on pp ranks and levels, not on ranks:
// 64, 16,384 and 1,048,576 GPUs take the same order of time, a few milliseconds at most.
#include <benchmark/benchmark.h>

#include <optional>
#include <string>

#include "rankwright/import/plan/draft.h"
#include "rankwright/import/plan/plan_file.h"
#include "rankwright/import/syntax/file.h"
#include "rankwright/plan/constraint_violation.h"
#include "rankwright/plan/traffic.h"
#include "rankwright/planner/explain/explain_view.h"
#include "rankwright/rules/rule.h"

namespace rankwright {
namespace {

constexpr const char* kExamples[] = {"course-64.yaml", "llama-3.1-405b-16384.yaml",
                                     "deepseek-v3-2048.yaml", "million-five-levels.yaml"};

std::string path_of(const benchmark::State& state) {
  return std::string(RANKWRIGHT_SOURCE_DIR "/examples/") + kExamples[state.range(0)];
}

/// Reads the example that the state selects; on failure marks the benchmark as failed.
std::optional<plan::TrainingConfig> example(benchmark::State& state) {
  const std::string path = path_of(state);
  const Result<std::string> text = importer::read_file(path);
  if (!text) {
    state.SkipWithError("no such example");
    return std::nullopt;
  }
  state.SetLabel(kExamples[state.range(0)]);
  return resolve(importer::read_plan(*text, path, importer::read_file).draft);
}

void explain_view_of_a_plan(benchmark::State& state) {
  const std::optional<plan::TrainingConfig> config = example(state);
  if (!config) return;
  if (find_first_violation(*config)) return state.SkipWithError("the example does not fit");
  for (auto _ : state) benchmark::DoNotOptimize(planner::make_explain_view(*config));
}
BENCHMARK(explain_view_of_a_plan)->DenseRange(0, 3)->Unit(benchmark::kMicrosecond);

void lint_of_a_plan(benchmark::State& state) {
  const std::optional<plan::TrainingConfig> config = example(state);
  if (!config) return;
  for (auto _ : state) benchmark::DoNotOptimize(lint(*config, rules::Target::any));
}
BENCHMARK(lint_of_a_plan)->DenseRange(0, 3)->Unit(benchmark::kMicrosecond);

void traffic_of_a_pp_rank(benchmark::State& state) {
  const std::optional<plan::TrainingConfig> config = example(state);
  if (!config) return;
  for (auto _ : state) benchmark::DoNotOptimize(list_traffic(*config, 0));
}
BENCHMARK(traffic_of_a_pp_rank)->DenseRange(0, 3)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace rankwright
