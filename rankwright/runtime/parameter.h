// A Parameter is one tensor of weights as this rank holds it: its slice of full weights that follow
// from a seed and a name alone, so every layout starts from the same model. Where its numbers lie
// is the store's business; the weight and the gradient here are views that the store sets.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <string>
#include <vector>

#include "rankwright/base/integer.h"

namespace rankwright::runtime {

/// How a tp rank's slice lies in the full weights.
enum class Cut : unsigned char { none, rows, columns };

/// Full weights of one name. Several on top of each other make one parameter: queries, keys and
/// values are multiplied in one go, but each is cut by itself.
struct Block {
  std::string name{};
  i64 rows = 0;
  i64 columns = 0;  // 0: a vector
  double deviation = 0;
  double mean = 0;

  i64 size() const { return rows * (columns == 0 ? 1 : columns); }
};

struct Parameter {
  std::string name{};
  std::vector<Block> blocks{};
  Cut cut = Cut::none;
  bool partial = false;  // under sequence parallelism tp ranks add up its gradient
  bool copy = false;     // another pp rank has it too and counts it: a tied head
  bool decays = true;    // AdamW shrinks matrices, not norms and biases

  std::vector<i64> shape{};  // of the slice
  torch::Tensor weight{};    // as it is computed with; nothing where ZeRO-3 has it elsewhere
  torch::Tensor gradient{};  // to add to; nothing where none is being computed

  i64 size() const;
  bool whole_everywhere() const { return cut == Cut::none; }  // all tp ranks hold the same
};

/// Rows are cut in tp parts alike, the last one filled up with zeros (a vocabulary need not
/// divide).
Parameter make_parameter(std::string name, std::vector<Block> blocks, Cut cut, i64 tp);

/// The slice of full weights, or of anything of their shape: the blocks on top of each other.
torch::Tensor slice(const Parameter& parameter, const torch::Tensor& full, i64 tp, i64 tp_rank);

/// The slice's first values, in `format`. Full weights are made one block at a time.
torch::Tensor initial(const Parameter& parameter, std::uint64_t seed, i64 tp, i64 tp_rank,
                      torch::ScalarType format);

}  // namespace rankwright::runtime
