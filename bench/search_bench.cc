// Measures the search. `evaluate_everything`: evaluates all candidates in full, time and memory, on
// one core and without pruning; the label has Calculon's published rate for comparison.
// `whole_space`: the search as `plan` runs it, with pruning. `from_8_to_a_million`: how it scales
// with the cluster. `plan_json`: all that `plan --json` does for large models, with trade-offs.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <string>

#include "rankwright/catalog/catalog.h"
#include "rankwright/import/plan/draft.h"
#include "rankwright/import/plan/plan_file.h"
#include "rankwright/planner/plan.h"
#include "rankwright/planner/plan/plan_options.h"
#include "rankwright/search/answer.h"

namespace rankwright {
namespace {

search::Problem make_problem(const std::string& text) {
  const importer::PlanFile file = importer::read_plan(text, "plan.yaml", importer::refuse_file);
  plan::TrainingConfig config = resolve(file.draft);
  config.world = config.cluster.devices();
  return search::make_problem(std::move(config));
}

const std::string kGpt3 =
    "model: gpt3-175b\ncluster: dgx-a100 x 8\njob: {global_batch: 1536, sequence: 2048}\n";

/// Every candidate fits, so all are evaluated.
void evaluate_everything(benchmark::State& state) {
  search::Problem all = make_problem(kGpt3);
  all.capacity = Bytes{1e18};
  all.limits.cp = {1, 1};
  i64 evaluated = 0;
  for (auto _ : state)
    evaluated += search::search(all, catalog::get_calibration(), {.bounds = false, .threads = 1})
                     .space.stats.evaluated;
  state.counters["priced"] = benchmark::Counter(double(evaluated), benchmark::Counter::kIsRate);
  state.SetLabel("Calculon: 59 to 110/s, as stated for its own search; not run here");
}
BENCHMARK(evaluate_everything)->Unit(benchmark::kMillisecond)->Iterations(1);

/// Arguments: whether lower bounds are used, and the number of threads.
void whole_space(benchmark::State& state) {
  const search::Problem all = make_problem(kGpt3);
  const search::SearchOptions options{.bounds = state.range(0) != 0,
                                      .threads = int(state.range(1))};
  search::SearchStats stats;
  for (auto _ : state) stats = search::search(all, catalog::get_calibration(), options).space.stats;
  state.counters["candidates"] = double(stats.candidates);
  state.counters["priced"] = double(stats.evaluated);
}
BENCHMARK(whole_space)
    ->ArgNames({"bounds", "threads"})
    ->Args({1, 1})
    ->Args({1, 2})
    ->Args({0, 2})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1)
    ->UseRealTime();

/// Returns a problem with a model and a batch that suit the cluster; above 512 hosts,
/// pods of 64 hosts below a spine.
search::Problem make_problem_at_scale(i64 gpus) {
  const std::string model = gpus <= 8    ? "llama-3.1-8b"
                            : gpus <= 64 ? "llama-3.1-70b"
                                         : "llama-3.1-405b";
  const i64 batch = gpus <= 64 ? 512 : gpus <= 4096 ? 2048 : gpus <= 32768 ? 16384 : 65536;
  const i64 hosts = gpus / 8;
  std::string levels = "    - {name: nvlink, arity: 8, bandwidth: 450 GB/s, latency: 2 us}\n";
  const auto add_level = [&](std::string_view name, i64 arity, double oversubscription) {
    levels += "    - {name: " + std::string(name) + ", arity: " + std::to_string(arity) +
              ", bandwidth: 50 GB/s, latency: 5 us, oversubscription: " +
              std::to_string(oversubscription) + "}\n";
  };
  if (hosts > 512) {
    add_level("rail", 64, 1);
    add_level("spine", hosts / 64, 2);
  } else if (hosts > 1) {
    add_level("rail", hosts, 1);
  }
  return make_problem("model: " + model + "\ncluster:\n  device: h100-sxm\n  levels:\n" + levels +
                      "job: {global_batch: " + std::to_string(batch) + ", sequence: 8192}\n");
}

/// Runs the search of `plan` on two threads.
void from_8_to_a_million(benchmark::State& state) {
  const search::Problem all = make_problem_at_scale(state.range(0));
  search::Answer found;
  for (auto _ : state) found = find_answer(all, catalog::get_calibration(), {.threads = 2});
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  state.counters["candidates"] = double(found.stats.candidates);
  state.counters["priced"] = double(found.stats.evaluated);
  state.counters["peak_MB"] = double(used.ru_maxrss) / 1024;  // of the whole process so far
}
BENCHMARK(from_8_to_a_million)
    ->ArgName("gpus")
    ->RangeMultiplier(8)
    ->Range(8, 32768)
    ->Arg(262144)
    ->Arg(1048576)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1)
    ->UseRealTime();

/// A job of `plan`.
struct PlanCase {
  std::string_view label, model, cluster, global_batch, sequence;
};
constexpr PlanCase kPlanCases[] = {
    {"Llama 3.1 70B on 64", "llama-3.1-70b", "dgx-h100 x 8", "512", "8192"},
    {"Qwen3-235B on 256", "qwen3-235b-a22b", "dgx-h100 x 32", "1024", "4096"},
    {"DeepSeek-V3 on 256", "deepseek-v3", "dgx-h100 x 32", "1024", "4096"},
    {"DeepSeek-V3 on 2,048", "deepseek-v3", "dgx-h100 x 256", "15360", "4096"},
    {"DeepSeek-V3 on 16,384", "deepseek-v3", "dgx-h100 x 2048", "65536", "4096"},
    {"Llama 3.1 405B on 1,048,576", "llama-3.1-405b", "dgx-h100 x 131072", "1048576", "8192"},
};

/// Runs `plan --json` on two threads. Arguments: the index of the case, and whether any framework
/// may run the plan; otherwise Megatron-LM.
void plan_json(benchmark::State& state) {
  const PlanCase& one = kPlanCases[state.range(0)];
  const bool any = state.range(1) != 0;
  planner::PlanRequest request =
      planner::read_plan_options({{"model", std::string(one.model)},
                                  {"cluster", std::string(one.cluster)},
                                  {"global-batch", std::string(one.global_batch)},
                                  {"seq", std::string(one.sequence)}})
          .value();
  request.target = any ? rules::Target::any : rules::Target::megatron;
  request.threads = 2;
  i64 evaluated = 0;
  for (auto _ : state) evaluated = planner::find_plan(request).value().answer.stats.evaluated;
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  state.counters["priced"] = double(evaluated);
  state.counters["peak_MB"] = double(used.ru_maxrss) / 1024;  // of the whole process so far
  state.SetLabel(std::string(one.label) + (any ? ", any" : ", megatron"));
}
BENCHMARK(plan_json)
    ->ArgNames({"case", "any"})
    ->ArgsProduct({benchmark::CreateDenseRange(0, std::size(kPlanCases) - 1, 1), {0, 1}})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1)
    ->MeasureProcessCPUTime()
    ->UseRealTime();

}  // namespace
}  // namespace rankwright
