// A Job is what is trained, independent of the layout: batch, sequence, number formats, optimizer.
#pragma once

#include <span>
#include <string_view>

#include "rankwright/base/integer.h"

namespace rankwright::plan {

enum class Dtype : unsigned char { fp32, bf16, fp16, fp8, fp64 };

/// Size and name of a number format.
struct DtypeRow {
  Dtype dtype;
  std::string_view name;
  i64 bytes;
};
std::span<const DtypeRow> dtypes();
i64 size(Dtype);
std::string_view name(Dtype);

/// The format in which the layers' matmuls compute. same: the format of the parameters. mxfp8
/// scales blocks of 32 elements, fp4 blocks of 16. The core of attention and the output head stay
/// in 16 bits.
enum class Matmul : unsigned char { same, fp8, mxfp8, fp4 };
std::span<const std::string_view> matmul_names();
std::string_view name(Matmul);

enum class Optimizer : unsigned char { adam, sgd, lion };

/// Name of an optimizer and the number of moments that it keeps per parameter.
struct OptimizerRow {
  Optimizer optimizer;
  std::string_view name;
  i64 moments;  // Adam 2, momentum 1
};
std::span<const OptimizerRow> optimizers();
std::string_view name(Optimizer);

/// Bytes of scales per element of a block-scaled format: one byte per 32 elements.
inline constexpr double kBlockScale = 1.0 / 32;

/// The largest global batch that a file may state.
inline constexpr i64 kMaxBatch = i64{1} << 28;

struct Job {
  i64 global_batch = 1;  // sequences per step over all ranks
  i64 sequence = 1;      // tokens per sequence
  Dtype param_dtype = Dtype::bf16;
  Dtype grad_dtype = Dtype::bf16;
  Matmul matmul = Matmul::same;
  Optimizer optimizer = Optimizer::adam;
  Dtype moment_dtype = Dtype::fp32;
  double expert_imbalance = 0;  // tokens of the busiest ep rank over the mean; 0: not stated (L7)
  double expert_capacity = 0;   // tokens per expert over the mean, padded and dropped; 0: dropless

  /// Returns the bytes per element of sums, norms and moments: fp32, or fp64 with fp64 parameters.
  i64 scalar_bytes() const { return size(param_dtype) > 4 ? 8 : 4; }
  /// Returns the bytes of optimizer state per parameter: moments, and an fp32 master copy unless
  /// the parameters are fp32 or wider (formula M1).
  i64 optimizer_bytes() const;
  i64 param_bytes() const { return size(param_dtype); }
  i64 grad_bytes() const { return size(grad_dtype); }
  /// Returns the bytes per element of activations: as wide as the parameters, but at least 16 bits.
  i64 activation_bytes() const { return size(param_dtype) < 2 ? 2 : size(param_dtype); }

  friend bool operator==(const Job&, const Job&) = default;
};

}  // namespace rankwright::plan
