// A Job is what is trained, independent of the layout: batch, sequence, number formats, optimizer.
#pragma once

#include <span>
#include <string>
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

/// adam_8bit keeps its moments in 8 bits with a scale per block (bitsandbytes, torchao). adafactor
/// factors the second moment into rows and columns and keeps no first one. muon orthogonalizes the
/// momentum of the layers' matrices; embedding, output head and vectors use Adam.
enum class Optimizer : unsigned char { adam, sgd, lion, adam_8bit, adafactor, muon };

/// Name of an optimizer and the moments that it keeps per parameter.
struct OptimizerRow {
  Optimizer optimizer;
  std::string_view name;
  i64 moments;          // Adam 2, momentum 1
  double moment_bytes;  // of one moment; 0: as Job::moment_dtype
};
std::span<const OptimizerRow> optimizers();
const OptimizerRow& row(Optimizer);
std::string_view name(Optimizer);

/// The format in which frozen weights of the layers' matrices are stored. same: as param_dtype. nf4
/// and int8 are those of bitsandbytes; they are cast to 16 bits for each matmul.
enum class BaseDtype : unsigned char { same, nf4, int8, fp32 };
std::span<const std::string_view> base_dtype_names();
std::string_view name(BaseDtype);

/// The training objective. lm: next-token prediction, of pretraining and supervised fine-tuning.
/// dpo: direct preference optimization; its micro-batches hold whole pairs of a chosen and a
/// rejected sequence. grpo: the update of reinforcement learning, without its rollouts.
enum class Method : unsigned char { lm, dpo, grpo };

/// Name and defaults of a method.
struct MethodRow {
  Method method;
  std::string_view name;
  i64 sequences;   // that one sample has
  bool reference;  // by default, a frozen reference model runs forward on every micro-batch
};
std::span<const MethodRow> methods();
const MethodRow& row(Method);
std::string_view name(Method);

/// The linear layers to which LoRA adds a pair of low-rank matrices, under Hugging Face's names.
struct LoraModules {
  bool q_proj = true, k_proj = true, v_proj = true, o_proj = true;
  bool gate_proj = true, up_proj = true, down_proj = true;

  friend bool operator==(const LoraModules&, const LoraModules&) = default;
};
inline constexpr LoraModules kNoLoraModules{false, false, false, false, false, false, false};
/// A field of LoraModules with its name.
struct LoraModuleRow {
  std::string_view name;
  bool LoraModules::*field;
};
std::span<const LoraModuleRow> lora_modules();
/// Returns the names of the modules: "q_proj, v_proj".
std::string show(const LoraModules& modules, std::string_view separator);

/// Bytes of scales per element of a block-scaled format: one byte per 32 elements.
inline constexpr double kBlockScale = 1.0 / 32;

/// The largest global batch and the most images or clips per sequence that a file may state.
inline constexpr i64 kMaxBatch = i64{1} << 28;
inline constexpr i64 kMaxImages = i64{1} << 16;

struct Job {
  i64 global_batch = 1;  // sequences per step over all ranks
  i64 sequence = 1;      // tokens per sequence
  i64 doc_length = 0;    // tokens that attention sees in a packed sequence; 0: the whole sequence
  i64 loss_tokens = 0;   // of `sequence`, those whose logits are computed; 0: all
  i64 images = 0;        // images, or clips of audio, per sequence, for models with an encoder
  i64 image_tokens = 0;  // of `sequence`, per image or clip; 0: as the model's encoder states
  Method method = Method::lm;
  bool ref_model = false;  // a frozen reference model runs forward on every micro-batch
  Dtype param_dtype = Dtype::bf16;
  Dtype grad_dtype = Dtype::bf16;
  Matmul matmul = Matmul::same;
  bool fp8_swiglu_input = false;  // backward reads SwiGLU's input from a copy in fp8
  Optimizer optimizer = Optimizer::adam;
  Dtype moment_dtype = Dtype::fp32;
  /// The format in which the optimizer updates parameters: a copy, unless it is param_dtype or
  /// narrower.
  Dtype master_dtype = Dtype::fp32;
  i64 lora_rank = 0;  // 0: every parameter is trained
  LoraModules lora_modules{};
  BaseDtype base_dtype = BaseDtype::same;  // of the frozen weights under LoRA
  double expert_imbalance = 0;  // tokens of the busiest ep rank over the mean; 0: not stated (L7)
  double expert_capacity = 0;   // tokens per expert over the mean, padded and dropped; 0: dropless

  /// Returns the bytes per element of sums, norms and moments: fp32, or fp64 with fp64 parameters.
  i64 scalar_bytes() const { return size(param_dtype) > 4 ? 8 : 4; }
  static constexpr i64 kAdapterBytes = 4;  // adapters are kept in fp32, as PEFT does by default

  /// Returns the tokens over which attention is computed: a document of a packed sequence (F7).
  i64 attended() const { return doc_length > 0 && doc_length < sequence ? doc_length : sequence; }
  /// Returns the fraction of the tokens whose logits are computed (M13).
  double loss_fraction() const {
    return loss_tokens > 0 && loss_tokens < sequence ? double(loss_tokens) / double(sequence) : 1;
  }
  /// Returns whether only adapters are trained (LoRA).
  bool frozen() const { return lora_rank > 0; }
  /// Returns whether the reference model has weights of its own. Under LoRA it is the model with
  /// its adapters turned off.
  bool keeps_ref_weights() const { return ref_model && !frozen(); }
  /// Returns whether the frozen matrices of layers have fewer bits than computations.
  bool quantized() const { return base_dtype == BaseDtype::nf4 || base_dtype == BaseDtype::int8; }
  /// Returns the bytes per weight of a frozen matrix of a layer (M30).
  double base_bytes() const;
  /// Returns the bytes of the master copy per parameter; 0 if the parameters are updated in place.
  i64 master_bytes() const;
  /// Returns the bytes of optimizer state per trained parameter: moments and the master copy (M1).
  double optimizer_bytes() const;
  /// Returns the bytes of one moment.
  double moment_bytes() const;
  i64 param_bytes() const { return size(param_dtype); }
  i64 grad_bytes() const { return size(grad_dtype); }
  /// Returns the bytes per element of activations: as wide as the parameters, but at least 16 bits.
  i64 activation_bytes() const { return size(param_dtype) < 2 ? 2 : size(param_dtype); }

  friend bool operator==(const Job&, const Job&) = default;
};

}  // namespace rankwright::plan
