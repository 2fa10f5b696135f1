// The shapes of what tensor parallelism splits: heads, widths and weights, whole and per rank.
// plan/shares.h counts the parameters; a test compares the two.
#pragma once

#include <string>
#include <vector>

#include "rankwright/plan/plan.h"

namespace rankwright::planner {

/// One thing that is split over the ranks of a tensor-parallel group.
struct SplitShape {
  std::string name;        // "QKV"
  std::string text;        // "10,240 x 8,192 -> 1,280 x 8,192"
  i64 local_elements = 0;  // per rank and layer; heads and widths: how many
  bool weight = false;     // a matrix of a layer, else a count
};

/// Returns the heads, widths and weights of the model's first layer with a dense feed-forward, and
/// of its first layer with experts. A weight's shape is output x input, as PyTorch stores it.
/// Requires: a config without constraint violations.
std::vector<SplitShape> list_split_shapes(const plan::TrainingConfig& config);

}  // namespace rankwright::planner
