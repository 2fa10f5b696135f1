// The number formats of Hugging Face's Trainer: those that it computes in, and those that the
// weights are loaded in, which decide about gradients and optimizer states.
#include <algorithm>

#include "rankwright/import/trainer/trainer_parts.h"

namespace rankwright::importer {
namespace {

/// Returns whether a file turns 16 bits off where the weights are loaded in fp32. LLaMA-Factory and
/// ms-swift load them in the format of the checkpoint.
bool computes_in_fp32(const ForeignReading& r) {
  constexpr const char* kOtherFormats[] = {"finetuning_type", "train_type",  "tuner_type",
                                           "sft_type",        "torch_dtype", "dtype"};
  const auto stated = [&](const char* key) { return find_path(r.root, key) != nullptr; };
  return (stated("bf16") || stated("fp16")) &&
         std::none_of(std::begin(kOtherFormats), std::end(kOtherFormats), stated);
}

/// Returns whether a script has flags of the Trainer and none of a number format: it then computes
/// in fp32, but for the tools and methods whose defaults differ.
bool leaves_fp32(const ForeignReading& r) {
  constexpr const char* kOthers[] = {
      "finetuning_type",
      "train_type",
      "tuner_type",
      "sft_type",
      "torch_dtype",
      "dtype",
      "rl",
      "rlhf_type",
      "num_generations",
      "deepspeed",
      "fsdp",
      "bf16",
      "fp16",
      "precision",
      "mixed_precision",
      "parallel"};  // MindSpeed-LLM's, which has a default of its own
  return !r.dashes.empty() && find_path(r.root, "per_device_train_batch_size") != nullptr &&
         r.draft.target != rules::Target::deepspeed && !has_any_key(r, kOthers);
}

/// Returns the format that the weights are stated to be loaded in.
std::optional<plan::Dtype> find_loaded_format(const ForeignReading& r) {
  for (const char* const key : {"torch_dtype", "dtype"}) {
    const std::string_view word = read_word(r, key);
    if (word == "bf16" || word.ends_with("bfloat16")) return plan::Dtype::bf16;
    if (word == "fp32" || word.ends_with("float32")) return plan::Dtype::fp32;
    if (word.find("16") != std::string_view::npos) return plan::Dtype::fp16;
  }
  return std::nullopt;
}

/// Returns whether the weights are loaded in 16 bits: TRL's recipes say so, and axolotl loads them
/// in the format that it computes in. LLaMA-Factory makes fp32 copies of trained weights unless
/// told not to.
bool loads_16bit_weights(const ForeignReading& r) {
  if (is_on_at(r.root, "pure_bf16")) return true;
  if (find_path(r.root, "base_model") != nullptr) return r.draft.param_dtype.has_value();
  return find_loaded_format(r).value_or(plan::Dtype::fp32) != plan::Dtype::fp32;
}

/// Without DeepSpeed and FSDP, which keep fp32 copies, gradients and optimizer states have the
/// format of the loaded weights. The trainer refuses fp16 weights if it scales the loss.
void finish_16bit_weights(ForeignReading& r) {
  Draft& d = r.draft;
  const bool half = d.param_dtype == plan::Dtype::fp16 && !is_on_at(r.root, "fp16");
  if (d.zero != 0 || d.lora_rank || (d.param_dtype != plan::Dtype::bf16 && !half)) return;
  if (!loads_16bit_weights(r)) return;
  d.grad_dtype = d.master_dtype = d.param_dtype;
  if (!d.moment_dtype) d.moment_dtype = d.param_dtype;
}

/// Weights that are loaded in fp32 stay so under adapters, unless DeepSpeed casts them.
void finish_frozen_format(ForeignReading& r) {
  Draft& d = r.draft;
  if (d.lora_rank && !d.base_dtype && d.target != rules::Target::deepspeed &&
      d.param_dtype != plan::Dtype::fp32 && find_loaded_format(r) == plan::Dtype::fp32)
    d.base_dtype = plan::BaseDtype::fp32;
}

}  // namespace

void read_trainer_precision(ForeignReading& r) {
  if (is_on_at(r.root, "bf16") || is_on_at(r.root, "pure_bf16"))
    r.draft.param_dtype = plan::Dtype::bf16;
  else if (is_on_at(r.root, "fp16"))
    r.draft.param_dtype = plan::Dtype::fp16;
  else if (!r.draft.param_dtype && computes_in_fp32(r))  // the launcher may have one
    r.draft.param_dtype = plan::Dtype::fp32;
  else if (!r.draft.param_dtype)  // the trainer computes in the format of the weights
    r.draft.param_dtype = find_loaded_format(r);
  if (!r.draft.param_dtype && leaves_fp32(r)) {
    r.draft.param_dtype = plan::Dtype::fp32;
    r.fields.report(r.root, make_assumption("fp32: no flag states another number format",
                                            "--param-dtype bf16, if the program does"));
  }
  if (!r.draft.param_dtype) return;
  r.draft.grad_dtype = r.draft.zero > 0 ? r.draft.param_dtype : plan::Dtype::fp32;
}

void finish_trainer_precision(ForeignReading& r) {
  finish_frozen_format(r);
  finish_16bit_weights(r);
}

}  // namespace rankwright::importer
