// Trains a medium-sized model in many layouts under mpirun and compares the peak bytes of tensors
// on each rank with the memory estimate of its pp rank.
//
//     mpirun -n 8 memory_check [--only TEXT]
#include <fmt/format.h>

#include <cmath>
#include <iostream>

#include "rankwright/base/check.h"
#include "rankwright/cost/memory/memory.h"
#include "rankwright/model/architecture.h"
#include "rankwright/runtime/checks/layouts.h"
#include "rankwright/runtime/trainer.h"

namespace rankwright::runtime {
namespace {

constexpr double kBound = 0.05;  // maximum relative error

/// Returns a config large enough that layer tensors dominate, not scalars.
plan::TrainingConfig make_config(const LayoutCase& layout) {
  const bool gpt2 = layout.style == Style::gpt2;
  plan::TrainingConfig config = config_of(layout);
  model::Shapes shapes{.name = "memory",
                       .architecture = gpt2 ? "gpt2" : "llama",
                       .hidden = 256,
                       .layers = 8,
                       .heads = 8,
                       .kv_heads = gpt2 ? 8 : 4,
                       .ffn = gpt2 ? 1024 : 768,
                       .vocab = 1024,
                       .positions = gpt2 ? 128 : 0};
  shapes.tied = layout.tied;
  Result<model::Model> model = build(shapes);
  RW_CHECK(model.has_value());
  config.model = *model;
  freeze(config.model, layout.frozen);
  config.job.sequence = 128;
  config.plan.micro_batch = 2;
  config.job.global_batch *= 2;
  return config;
}

/// Adds layouts that train LoRA adapters.
void add_lora(std::vector<LayoutCase>& all, i64 ranks) {
  const plan::LoraModules attention{true, true, true, true, false, false, false};
  const plan::LoraModules queries_values{true, false, true, false, false, false, false};
  const auto add = [&](LayoutCase layout) {
    if (layout.ranks() != ranks) return;
    layout.lora = 16;
    all.push_back(layout);
  };
  for (const plan::Dtype dtype : {plan::Dtype::fp32, plan::Dtype::bf16})
    for (const Style style : {Style::gpt2, Style::llama})
      for (const int zero : {0, 1, 2, 3}) {
        LayoutCase layout{.style = style,
                          .dp = ranks,
                          .zero = zero,
                          .tied = style == Style::gpt2,
                          .dtype = dtype};
        add(layout);
        layout.tp = 2;
        layout.dp = ranks / 2;
        layout.sequence_parallel = true;
        layout.modules = attention;
        add(layout);
        layout.pp = 2;
        layout.dp = ranks / 4;
        layout.sequence_parallel = false;
        layout.modules = queries_values;
        add(layout);
      }
  for (const plan::Recompute recompute : {plan::Recompute::selective, plan::Recompute::full})
    add({.style = Style::llama,
         .tp = 2,
         .pp = 2,
         .dp = ranks / 4,
         .tied = false,
         .dtype = plan::Dtype::fp32,
         .recompute = recompute});
}

/// Adds layouts with frozen parts.
void add_frozen(std::vector<LayoutCase>& all, i64 ranks) {
  const model::FrozenParts first{.embedding = true, .end = 2};
  const model::FrozenParts last{.first = 2, .end = 64, .head = true};
  const auto add = [&](LayoutCase layout) {
    if (layout.ranks() != ranks) return;
    layout.dtype = plan::Dtype::fp32;
    for (const Style style : {Style::gpt2, Style::llama})
      for (const model::FrozenParts& frozen : {first, last}) {
        layout.style = style;
        layout.tied = style == Style::gpt2;
        layout.frozen = frozen;
        all.push_back(layout);
      }
  };
  for (const int zero : {0, 1, 2, 3}) {
    add({.dp = ranks, .zero = zero});
    add({.tp = 2, .dp = ranks / 2, .zero = zero, .sequence_parallel = true});
    add({.tp = 2, .pp = 2, .dp = ranks / 4, .zero = zero});
  }
  add({.dp = ranks, .zero = 1, .recompute = plan::Recompute::full});
}

std::vector<LayoutCase> list_cases(i64 ranks) {
  std::vector<LayoutCase> all;
  const auto add = [&](LayoutCase layout) {
    if (layout.ranks() != ranks) return;
    layout.dtype = plan::Dtype::fp32;
    for (const Style style : {Style::gpt2, Style::llama}) {
      layout.style = style;
      layout.tied = style == Style::gpt2;
      all.push_back(layout);
    }
  };
  for (const int zero : {0, 1, 2, 3}) {
    add({.dp = ranks, .zero = zero});
    add({.tp = 2, .dp = ranks / 2, .zero = zero, .sequence_parallel = true});
    add({.tp = 2, .pp = 2, .dp = ranks / 4, .zero = zero});
  }
  add({.tp = 4, .dp = ranks / 4});
  for (const plan::Recompute recompute : {plan::Recompute::selective, plan::Recompute::full})
    add({.tp = 2, .pp = 2, .dp = ranks / 4, .recompute = recompute});
  for (const pipeline::ScheduleRow& schedule : pipeline::schedules())
    add({.pp = 4, .dp = ranks / 4, .schedule = schedule.schedule, .chunks = schedule.min_chunks});
  for (LayoutCase half :
       {LayoutCase{.dp = ranks, .zero = 1}, {.tp = 2, .pp = 2, .dp = ranks / 4}}) {
    half.dtype = plan::Dtype::bf16;
    if (half.ranks() == ranks) all.push_back(half);
  }
  add_lora(all, ranks);
  add_frozen(all, ranks);
  return all;
}

int check(const World& world, const std::string& only) {
  i64 done = 0, failed = 0;
  for (const LayoutCase& layout : list_cases(world.size())) {
    if (show(layout).find(only) == std::string::npos) continue;
    const plan::TrainingConfig config = make_config(layout);
    Result<std::unique_ptr<Trainer>> trainer =
        Trainer::create(config, {}, world, *find_backend("mpi"));
    RW_CHECK(trainer.has_value());
    const Corpus corpus = Corpus::synthetic(config.model.vocab, 3);
    for (i64 step = 0; step < 2; ++step) (*trainer)->step(corpus, step);
    const cost::MemoryEstimate estimate =
        cost::estimate_memory(config, (*trainer)->pp_rank(), select_calibration(config));
    const std::vector<double> rows =
        world.gather({(*trainer)->peak().value, estimate.allocated().value});
    ++done;
    if (world.rank() != 0) continue;
    double worst = 0;
    std::string each;
    for (std::size_t r = 0; r < rows.size(); r += 2) {
      worst = std::max(worst, std::abs(rows[r] / rows[r + 1] - 1));
      each += fmt::format(" {:+.1f}", 100 * (rows[r] / rows[r + 1] - 1));
    }
    failed += worst > kBound ? 1 : 0;
    std::cout << fmt::format("{} {}: {:.2f} MB on rank 0, estimate {:.2f}; by rank, %:{}\n",
                             worst > kBound ? "FAIL" : "ok  ", show(layout), rows[0] / 1e6,
                             rows[1] / 1e6, each)
              << std::flush;
  }
  if (world.rank() == 0)
    std::cout << fmt::format("{} ranks: {} layouts, {} more than {:.0f} % off\n", world.size(),
                             done, failed, 100 * kBound);
  std::vector<double> sum{double(failed)};
  world.sum(sum);
  return sum[0] == 0 ? 0 : 1;
}

}  // namespace
}  // namespace rankwright::runtime

int main(int argc, char** argv) {
  using namespace rankwright;
  const Result<std::unique_ptr<runtime::World>> world = runtime::World::start();
  RW_CHECK(world.has_value());
  const std::string only = argc == 3 && std::string(argv[1]) == "--only" ? argv[2] : "";
  return runtime::check(**world, only);
}
