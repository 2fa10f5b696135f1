// Measures the best stage split of a model: milliseconds at common training sizes.
#include <benchmark/benchmark.h>

#include "rankwright/split/split.h"

namespace rankwright {
namespace {

/// Layers of weight 1 and a head of 0.66. Arguments: layers, pp ranks and chunks.
void alike_layers(benchmark::State& state) {
  const split::SplitTask task{.layers = {{state.range(0), {.weight = 1}}},
                              .head = {.weight = 0.66},
                              .map = split::map_round_robin(state.range(1), state.range(2))};
  for (auto _ : state) benchmark::DoNotOptimize(find_best_split(task));
}
BENCHMARK(alike_layers)
    ->Args({126, 16, 1})
    ->Args({126, 16, 2})
    ->Args({126, 16, 4})
    ->Args({126, 16, 7})
    ->Args({128, 64, 2})
    ->Args({1000, 128, 4})
    ->Unit(benchmark::kMillisecond);

/// 3 dense layers, 58 with experts, an MTP module. Arguments: pp ranks and chunks.
void two_kinds_of_layers(benchmark::State& state) {
  const split::SplitTask task{.layers = {{3, {.weight = 1.1}}, {58, {.weight = 1.37}}},
                              .mtp = {.weight = 1.5},
                              .mtp_modules = 1,
                              .head = {.weight = 1.9},
                              .map = split::map_round_robin(state.range(0), state.range(1))};
  for (auto _ : state) benchmark::DoNotOptimize(find_best_split(task));
}
BENCHMARK(two_kinds_of_layers)->Args({16, 1})->Args({16, 2})->Unit(benchmark::kMillisecond);

/// 48 layers, every other one with experts. Arguments: pp ranks and chunks.
void alternating_layers(benchmark::State& state) {
  split::SplitTask task{.head = {.weight = 0.66},
                        .map = split::map_round_robin(state.range(0), state.range(1))};
  for (int i = 0; i < 48; ++i) task.layers.push_back({1, {.weight = i % 2 == 0 ? 1 : 1.37}});
  for (auto _ : state) benchmark::DoNotOptimize(find_best_split(task));
}
BENCHMARK(alternating_layers)->Args({8, 1})->Args({8, 2})->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace rankwright
