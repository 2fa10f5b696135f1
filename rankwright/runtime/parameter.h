// A Parameter is one weight tensor as this rank holds it: its tp slice of the full weights. The
// seed and the name alone determine the full weights, so every layout starts from the same model.
// ShardedParams owns the memory; the weight and the gradient here are views that it sets.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <string>
#include <vector>

#include "rankwright/base/integer.h"

namespace rankwright::runtime {

/// How tensor parallelism splits the full weights.
enum class Cut : unsigned char { none, rows, columns };

/// The full weights of one name. A parameter is one or more blocks concatenated by rows: queries,
/// keys and values share one matmul, but each is split separately.
struct Block {
  std::string name{};
  i64 rows = 0;
  i64 columns = 0;       // 0: a vector
  double deviation = 0;  // of the initial values; 0: all equal the mean
  double mean = 0;

  i64 size() const { return rows * (columns == 0 ? 1 : columns); }
};

struct Parameter {
  std::string name{};
  std::vector<Block> blocks{};
  Cut cut = Cut::none;
  bool partial = false;  // its gradient must be summed over tp (sequence parallelism)
  bool copy = false;     // a tied head, whose norm another pp rank counts
  bool decays = true;    // weight decay: matrices only, not norms and biases

  std::vector<i64> shape{};  // of the slice
  torch::Tensor weight{};    // in the compute format; undefined while ZeRO-3 has it sharded
  torch::Tensor gradient{};  // accumulated into; undefined while none is being computed

  i64 size() const;
  bool whole_everywhere() const { return cut == Cut::none; }  // replicated over tp
};

/// Makes a parameter. Rows are split into tp equal parts; the last one is padded with zeros (tp
/// need not divide the vocabulary).
Parameter make_parameter(std::string name, std::vector<Block> blocks, Cut cut, i64 tp);

/// Returns the tp slice of full weights, or of a tensor of their shape: the blocks' slices
/// concatenated.
torch::Tensor slice(const Parameter& parameter, const torch::Tensor& full, i64 tp, i64 tp_rank);

/// Returns the initial values of the tp slice, in `format`. Only one full block exists at a time.
torch::Tensor initial(const Parameter& parameter, std::uint64_t seed, i64 tp, i64 tp_rank,
                      torch::ScalarType format);

}  // namespace rankwright::runtime
