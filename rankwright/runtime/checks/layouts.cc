#include "rankwright/runtime/checks/layouts.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/check.h"
#include "rankwright/model/architecture.h"
#include "rankwright/plan/constraint_violation.h"

namespace rankwright::runtime {
namespace {

constexpr i64 kSequence = 16;

model::Model model_of(const LayoutCase& layout) {
  const bool gpt2 = layout.style == Style::gpt2;
  model::Shapes shapes{.name = gpt2 ? "tiny gpt2" : "tiny llama",
                       .architecture = gpt2 ? "gpt2" : "llama",
                       .hidden = 32,
                       .layers = std::max<i64>(4, layout.pp * layout.chunks),
                       .heads = gpt2 ? 8 : 16,
                       .kv_heads = 8,
                       .head_dim = gpt2 ? 4 : 2,
                       .ffn = gpt2 ? 64 : 48,
                       .vocab = 61,  // not a multiple of tp
                       .positions = gpt2 ? kSequence : 0};
  shapes.tied = layout.tied;
  Result<model::Model> model = build(shapes);
  RW_CHECK(model.has_value());
  return *model;
}

bool valid(const LayoutCase& layout) {
  const plan::TrainingConfig config = config_of(layout);
  return find_violations(config).empty() && !find_shape_fault(make_pipeline_shape(config));
}

/// Returns whether two chunks of a rank read the tied embedding under ZeRO-3, which gathers by
/// chunk and cannot share a weight between chunks.
bool has_shared_embedding(const LayoutCase& layout) {
  return layout.tied && layout.zero == 3 && layout.pp > 1 &&
         row(layout.schedule).stage_order != pipeline::StageOrder::loop;
}

std::vector<LayoutCase> pipelines(const LayoutCase& plain) {
  if (plain.pp == 1) return {plain};
  std::vector<LayoutCase> all;
  for (const pipeline::ScheduleRow& schedule : pipeline::schedules()) {
    LayoutCase one = plain;
    one.schedule = schedule.schedule;
    one.chunks = schedule.min_chunks;
    if (has_shared_embedding(one)) one.tied = false;
    if (valid(one)) all.push_back(one);
  }
  return all;
}

}  // namespace

std::string show(const LayoutCase& l) {
  std::string text =
      fmt::format("{} tp{} pp{} dp{} zero{}", l.style == Style::gpt2 ? "gpt2" : "llama", l.tp, l.pp,
                  l.dp, l.zero);
  if (l.sequence_parallel) text += " sp";
  if (l.pp > 1) text += fmt::format(" {}", name(l.schedule));
  text += l.tied ? " tied" : " untied";
  if (l.recompute != plan::Recompute::none) text += fmt::format(" {} recompute", name(l.recompute));
  if (l.bucket > 0) text += fmt::format(" buckets of {}", l.bucket);
  if (!l.overlap) text += " no overlap";
  if (l.lora > 0) text += fmt::format(" lora{}", l.lora);
  if (l.lora > 0 && l.modules != plan::LoraModules{})
    text += fmt::format(" of {}", show(l.modules, ","));
  if (l.frozen.any()) text += fmt::format(" without {}", show(l.frozen));
  if (l.dtype != plan::Dtype::fp64) text += fmt::format(" {}", name(l.dtype));
  return text;
}

plan::TrainingConfig config_of(const LayoutCase& layout) {
  plan::TrainingConfig config{.model = model_of(layout), .cluster = {}, .job = {}, .plan = {}};
  config.cluster.name = "one host";
  config.cluster.levels = {{.name = "host", .arity = layout.ranks(), .bandwidth = {1e9}}};
  config.cluster.host_devices = layout.ranks();
  // DualPipe needs two microbatches per pp rank; the other schedules get as many.
  const i64 rounds = std::max<i64>(2, row(layout.schedule).rounds);
  config.job = {
      .global_batch = layout.dp * std::max<i64>(2, layout.pp > 1 ? rounds * layout.pp : 2),
      .sequence = kSequence,
      .param_dtype = layout.dtype,
      .grad_dtype = layout.dtype == plan::Dtype::fp64 ? plan::Dtype::fp64 : plan::Dtype::fp32};
  config.job.lora_rank = layout.lora;
  config.job.lora_modules = layout.modules;
  freeze(config.model, layout.frozen);
  for (const plan::Software& software : plan::frameworks())
    if (software.name == "rankwright") config.software = software;
  plan::Plan& plan = config.plan;
  plan.tp = layout.tp;
  plan.pp = layout.pp;
  plan.dp = layout.dp;
  plan.zero = layout.zero;
  plan.sequence_parallel = layout.sequence_parallel;
  plan.schedule = layout.schedule;
  plan.virtual_stages = layout.chunks;
  plan.recompute = layout.recompute;
  plan.bucket_size = layout.bucket;
  plan.overlap.grad_reduce = plan.overlap.param_gather = layout.overlap;
  config.world = layout.ranks();
  return config;
}

plan::TrainingConfig on_one_rank(const plan::TrainingConfig& config) {
  plan::TrainingConfig one = config;
  one.plan = {};
  one.plan.micro_batch = config.plan.micro_batch;
  one.world = 1;
  return one;
}

std::vector<LayoutCase> all_layouts(i64 ranks) {
  std::vector<LayoutCase> all;
  for (const Style style : {Style::gpt2, Style::llama})
    for (i64 tp = 1; tp <= ranks; tp *= 2)
      for (i64 pp = 1; tp * pp <= ranks; pp *= 2)
        for (const int zero : {0, 1, 2, 3})
          for (const bool sp : {false, true}) {
            if (sp && tp == 1) continue;
            const std::vector<LayoutCase> made = pipelines({.style = style,
                                                            .tp = tp,
                                                            .pp = pp,
                                                            .dp = ranks / tp / pp,
                                                            .zero = zero,
                                                            .sequence_parallel = sp,
                                                            .tied = style == Style::gpt2});
            all.insert(all.end(), made.begin(), made.end());
          }
  return all;
}

std::vector<LayoutCase> lora_layouts(i64 ranks) {
  std::vector<LayoutCase> all;
  const auto add = [&](LayoutCase layout) {
    if (layout.ranks() != ranks) return;
    layout.lora = 3;  // no multiple of tp
    for (const Style style : {Style::gpt2, Style::llama}) {
      layout.style = style;
      layout.tied = style == Style::gpt2 && !has_shared_embedding(layout);
      if (valid(layout)) all.push_back(layout);
    }
  };
  for (const int zero : {0, 1, 2, 3}) {
    add({.dp = ranks, .zero = zero});
    for (const bool sp : {false, true}) {
      add({.tp = ranks, .zero = zero, .sequence_parallel = sp});
      add({.tp = 2, .dp = ranks / 2, .zero = zero, .sequence_parallel = sp});
      add({.tp = 2, .pp = 2, .dp = ranks / 4, .zero = zero, .sequence_parallel = sp});
    }
    for (const pipeline::ScheduleRow& schedule : pipeline::schedules()) {
      // Looped BFS is not bit-equal to one process in full training either: 3e-16.
      if (schedule.schedule == pipeline::Schedule::looped_bfs && ranks == 2) continue;
      add({.pp = 2,
           .dp = ranks / 2,
           .zero = zero,
           .schedule = schedule.schedule,
           .chunks = schedule.min_chunks});
    }
  }
  const plan::LoraModules queries{true, false, false, false, false, false, false};
  const plan::LoraModules outputs{false, false, false, true, false, false, true};
  for (const plan::LoraModules& modules : {queries, outputs})
    add({.tp = 2, .dp = ranks / 2, .zero = 3, .sequence_parallel = true, .modules = modules});
  for (const plan::Recompute recompute : {plan::Recompute::selective, plan::Recompute::full})
    add({.dp = ranks, .zero = 2, .recompute = recompute, .bucket = 500, .overlap = false});
  return all;
}

std::vector<LayoutCase> frozen_layouts(i64 ranks) {
  const model::FrozenParts first{.embedding = true, .end = 2};
  const model::FrozenParts last{.first = 2, .end = 64, .head = true};
  const model::FrozenParts inner{.first = 1, .end = 3};
  const model::FrozenParts ends{.embedding = true, .head = true};
  std::vector<LayoutCase> all;
  const auto add = [&](LayoutCase layout, const model::FrozenParts& frozen) {
    if (layout.ranks() != ranks) return;
    layout.frozen = frozen;
    for (const Style style : {Style::gpt2, Style::llama}) {
      layout.style = style;
      layout.tied = style == Style::gpt2 && !has_shared_embedding(layout);
      if (valid(layout)) all.push_back(layout);
    }
  };
  for (const int zero : {0, 1, 2, 3}) {
    for (const model::FrozenParts& frozen : {first, last, inner, ends})
      add({.dp = ranks, .zero = zero}, frozen);
    for (const bool sp : {false, true}) {
      add({.tp = ranks, .zero = zero, .sequence_parallel = sp}, first);
      add({.tp = 2, .dp = ranks / 2, .zero = zero, .sequence_parallel = sp}, ends);
      add({.tp = 2, .pp = 2, .dp = ranks / 4, .zero = zero, .sequence_parallel = sp}, first);
    }
    for (const pipeline::ScheduleRow& schedule : pipeline::schedules()) {
      // Looped BFS is not bit-equal to one process in full training either: 3e-16.
      if (schedule.schedule == pipeline::Schedule::looped_bfs && ranks == 2) continue;
      add({.pp = 2,
           .dp = ranks / 2,
           .zero = zero,
           .schedule = schedule.schedule,
           .chunks = schedule.min_chunks},
          zero % 2 == 0 ? first : last);
    }
  }
  for (const plan::Recompute recompute : {plan::Recompute::selective, plan::Recompute::full})
    add({.dp = ranks, .zero = 2, .recompute = recompute, .bucket = 500, .overlap = false}, first);
  add({.tp = 2, .dp = ranks / 2, .zero = 3, .sequence_parallel = true, .lora = 3}, first);
  return all;
}

std::vector<LayoutCase> some_layouts(i64 ranks) {
  const std::vector<LayoutCase> all = all_layouts(ranks);
  // Neighbors in the list differ in one axis, so a stride that shares no factor with their counts
  // passes through all values.
  const std::size_t stride = ranks == 8 ? 61 : ranks == 4 ? 29 : 13;
  std::vector<LayoutCase> some;
  for (std::size_t i = 0; i < all.size(); i += stride) some.push_back(all[i]);
  if (ranks < 2) return some;
  for (LayoutCase special : {all.front(), all.back()}) {
    special.recompute = plan::Recompute::full;
    some.push_back(special);
    special.recompute = plan::Recompute::selective;
    special.bucket = 5000;
    some.push_back(special);
    special.overlap = false;
    some.push_back(special);
  }
  return some;
}

}  // namespace rankwright::runtime
