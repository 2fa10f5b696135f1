// For the runtime's checks: small models of both styles, and the layouts that a given number of
// ranks can train them in. Not part of the library.
#pragma once

#include <string>
#include <vector>

#include "rankwright/plan/plan.h"

namespace rankwright::runtime {

enum class Style : unsigned char { gpt2, llama };

/// One layout of a small model to check.
struct LayoutCase {
  Style style = Style::gpt2;
  i64 tp = 1, pp = 1, dp = 1;
  int zero = 0;
  bool sequence_parallel = false;
  pipeline::Schedule schedule = pipeline::Schedule::one_f_one_b;
  i64 chunks = 1;
  bool tied = true;
  plan::Dtype dtype = plan::Dtype::fp64;
  plan::Recompute recompute = plan::Recompute::none;
  i64 bucket = 0;
  bool overlap = true;
  i64 lora = 0;  // rank of LoRA's adapters; 0: every parameter is trained
  plan::LoraModules modules{};
  model::FrozenParts frozen{};

  i64 ranks() const { return tp * pp * dp; }
};

/// Returns a label such as "llama tp2 pp2 dp2 zero1 sp zb-v tied".
std::string show(const LayoutCase& layout);

/// Returns a config with a model just large enough for the layout, and few microbatches.
plan::TrainingConfig config_of(const LayoutCase& layout);

/// Returns the same model, batch and microbatches on one rank.
plan::TrainingConfig on_one_rank(const plan::TrainingConfig& config);

/// Returns every valid (tp, pp, dp) of powers of two whose product is `ranks`, with ZeRO 0 to 3, SP
/// on and off, each schedule if pp > 1, and both styles.
std::vector<LayoutCase> all_layouts(i64 ranks);

/// Returns layouts that train LoRA adapters: every ZeRO stage with dp, tp with and without SP, pp
/// and all of them, schedules that split the backward, recompute, small buckets, and some modules
/// only.
std::vector<LayoutCase> lora_layouts(i64 ranks);

/// Returns layouts with frozen parts: the embedding and the first layers, the last ones with the
/// head, or those in between; every ZeRO stage with dp, tp with and without SP, pp, schedules that
/// split the backward, recompute, small buckets, and LoRA in the layers that are not frozen.
std::vector<LayoutCase> frozen_layouts(i64 ranks);

/// Returns a sample of a few dozen over all axes, plus options that all_layouts() does not vary:
/// recompute, small buckets, no overlap.
std::vector<LayoutCase> some_layouts(i64 ranks);

}  // namespace rankwright::runtime
