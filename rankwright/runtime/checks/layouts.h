// For the runtime's checks: small models in both styles and every layout that a number of ranks can
// train them in. Not part of the library.
#pragma once

#include <string>
#include <vector>

#include "rankwright/plan/plan.h"

namespace rankwright::runtime {

enum class Style : unsigned char { gpt2, llama };

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

  i64 ranks() const { return tp * pp * dp; }
};

/// "llama tp2 pp2 dp2 zero1 sp zb-v x2"
std::string show(const LayoutCase& layout);

/// A model just large enough for the layout, and the fewest microbatches that its schedule takes.
plan::TrainingConfig config_of(const LayoutCase& layout);

/// The same model, batch and microbatches on one rank.
plan::TrainingConfig alone(const plan::TrainingConfig& config);

/// Every valid (tp, pp, dp) with powers of two that multiply to `ranks`, ZeRO 0 to 3, SP on and
/// off, each schedule where pp > 1, both styles.
std::vector<LayoutCase> all_layouts(i64 ranks);

/// A few dozen of them over all axes, and what the matrix
/// holds still: recompute, small buckets, no overlap.
std::vector<LayoutCase> some_layouts(i64 ranks);

}  // namespace rankwright::runtime
