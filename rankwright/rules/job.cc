// Faults of a job that hold for every layout, so that `plan` refuses it: formats that the device
// does not compute in, exchanges between context-parallel ranks that are not modeled, frozen parts
// that leave nothing to train, images that the model cannot read, and unknown releases.
#include <fmt/format.h>

#include "rankwright/base/format.h"
#include "rankwright/plan/encoder.h"
#include "rankwright/rules/change.h"
#include "rankwright/rules/rule.h"

namespace rankwright::rules {
namespace job_impl {
namespace {

/// Returns the format of the matmuls that the device has no units for; empty if it has them. Blocks
/// with a scale each (mxfp8) came with fp4, in Blackwell and CDNA 4.
std::string_view find_missing_format(const plan::TrainingConfig& s) {
  const cluster::Device& device = s.cluster.device;
  const bool fp8 = device.fp8.value > 0, fp4 = device.fp4.value > 0;
  switch (s.job.matmul) {
    case plan::Matmul::same:
      return s.job.param_dtype == plan::Dtype::fp8 && !fp8 ? "fp8" : "";
    case plan::Matmul::fp8:
      return fp8 ? "" : "fp8";
    case plan::Matmul::mxfp8:
      return fp4 ? "" : "mxfp8";
    case plan::Matmul::fp4:
      return fp4 ? "" : "fp4";
  }
  return "";
}

bool lacks_units(const plan::TrainingConfig& s) { return !find_missing_format(s).empty(); }

Finding describe_missing_units(const plan::TrainingConfig& s) {
  const bool parameters = s.job.matmul == plan::Matmul::same;
  Change change(s);
  if (parameters)
    change.param_dtype(plan::Dtype::bf16);
  else
    change.matmul(s.cluster.device.fp8.value > 0 ? plan::Matmul::fp8 : plan::Matmul::same);
  return {.detail =
              fmt::format("{} does not support {}", s.cluster.device.name, find_missing_format(s)),
          .key = parameters ? "job.param_dtype" : "job.matmul",
          .fix = change.edits()};
}

bool splits_recurrence(const plan::TrainingConfig& s) {
  return s.plan.cp > 1 && s.model.recurrent();
}

Finding describe_split_recurrence(const plan::TrainingConfig& s) {
  return {
      .detail = fmt::format("{} has layers of linear attention or Mamba-2, whose state would pass "
                            "between {} context-parallel ranks",
                            s.model.name, s.plan.cp),
      .key = "parallelism.cp_size",
      .hint = "cp_size: 1"};
}

/// Reports images that the encoder cannot read, or whose tokens exceed the sequence.
std::optional<Finding> check_images(const Subject& subject) {
  const plan::TrainingConfig& s = subject.config;
  if (s.job.images == 0) return std::nullopt;
  const std::string key(plan::find_encoder_key(s.model.encoder));
  if (s.model.encoder.hidden == 0)
    return Finding{.detail = s.model.encoder_layers == 0
                                 ? "the model has no encoder"
                                 : "the shapes of the model's encoder are unknown",
                   .key = key,
                   .hint = "remove images, or use the config.json of a multimodal model"};
  const i64 each = find_image_tokens(s);
  if (each == 0)
    return Finding{.detail = "the encoder takes images of any size",
                   .key = key,
                   .hint = "job: {image_tokens: 256}"};
  if (s.job.images <= s.job.sequence / each) return std::nullopt;
  return Finding{.detail = fmt::format("{} of {} tokens each exceed a sequence of {}",
                                       show_encoder_inputs(s), count(each), count(s.job.sequence)),
                 .key = key,
                 .hint = s.job.sequence >= each
                             ? fmt::format("job: {{{}: {}}}", key.substr(key.find('.') + 1),
                                           s.job.sequence / each)
                             : fmt::format("job: {{sequence: {}}}", each)};
}

std::optional<Finding> check_all_frozen(const Subject& subject) {
  if (!is_all_frozen(subject.config.model)) return std::nullopt;
  return Finding{.detail = fmt::format("frozen: [{}]", show(subject.config.model.frozen)),
                 .key = "job.frozen",
                 .hint = "freeze fewer parts"};
}

bool has_unknown_release(const plan::TrainingConfig& s) {
  return !s.software.release.empty() && !find_release(s.software, s.software.release);
}

Finding describe_unknown_release(const plan::TrainingConfig& s) {
  std::vector<std::string_view> known;
  for (const std::string_view name : plan::release_names())
    if (find_release(s.software, name)) known.push_back(name);
  return {.detail = fmt::format("{} has no release {}", s.software.name, s.software.release),
          .key = "software.release",
          .hint = known.empty() ? fmt::format("remove release: {} has only one", s.software.name)
                                : fmt::format("known are {}", fmt::join(known, ", "))};
}

constexpr Rule kRules[] = {
    {{"RW0128", Severity::error, "the framework has no such release",
      "A release sets what the framework can do. `rankwright catalog frameworks megatron-core` "
      "lists its releases. Other frameworks have dated rows, such as deepspeed-2021.",
      "Remove software.release: the newest release is the default.",
      "Megatron-LM, tags of its releases",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "cluster: dgx-h100 x 1\n"
      "parallelism: {tp_size: 1, dp_size: 8, order: tp-dp-pp}\n"
      "software: {framework: maxtext, release: 0.14}\n"},
     Target::any,
     Rule::When::without_violations,
     when<has_unknown_release, describe_unknown_release>},
    {{"RW0125", Severity::error, "the GPU does not support this number format",
      "Frameworks refuse to start. Transformer Engine needs compute capability 8.9 for fp8 and "
      "10.0 for mxfp8 and fp4. A100 and older GPUs support 16-bit formats only.",
      "Set job.matmul: same, or train on GPUs that support the format.",
      "Transformer Engine, pytorch/fp8.py: check_fp8_support, check_mxfp8_support",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "cluster: dgx-a100 x 1\n"
      "parallelism: {tp_size: 1, dp_size: 8, order: tp-dp-pp}\n"
      "job: {sequence: 2048, matmul: fp8}\n"},
     Target::any,
     Rule::When::without_violations,
     when<lacks_units, describe_missing_units>},
    {{"RW0127", Severity::error, "context parallelism of a recurrence is not modeled",
      "Layers of linear attention and Mamba-2 pass a state along the sequence instead of keys and "
      "values. The estimate has no cost of that exchange.",
      "Set cp_size: 1, and tp_size or a smaller micro_batch to make room.",
      "Gated Delta Networks (Yang et al. 2024); Mamba-2 (Dao and Gu 2024), section 8",
      "world_size: 8\n"
      "model: {architecture: bamba, hidden: 1024, layers: 8, heads: 16, ffn: 4096, vocab: 32000, "
      "linear_heads: 32, linear_dim: 64, linear_key_heads: 1, linear_key_dim: 128, linear_conv: "
      "4}\n"
      "parallelism: {tp_size: 1, dp_size: 4, cp_size: 2, order: tp-cp-dp-pp}\n"
      "job: {sequence: 8192}\n"},
     Target::any,
     Rule::When::without_violations,
     when<splits_recurrence, describe_split_recurrence>},
    {{"RW0209", Severity::error, "frozen parts leave nothing to train",
      "`frozen` lists every part of the model: encoder, embedding, all layers and head.",
      "Remove a part from the list.", "",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "cluster: dgx-a100 x 1\n"
      "parallelism: {tp_size: 1, dp_size: 8, order: tp-dp-pp, zero_stage: 1}\n"
      "job: {sequence: 2048, frozen: [embedding, layers 0-15, head]}\n"},
     Target::any,
     Rule::When::without_violations,
     check_all_frozen},
    {{"RW0210", Severity::error, "images or clips do not fit the model or the sequence",
      "The tokens of images and of clips of audio are part of the sequence. Encoders have images "
      "of one size, or of any "
      "size; the job then states image_tokens.",
      "State fewer images or a longer sequence.", "",
      "world_size: 8\n"
      "model: {name: vlm, architecture: llama, hidden: 2048, layers: 16, heads: 32, kv_heads: 8, "
      "ffn: 8192, vocab: 128256, encoder_parameters: 400000000, encoder_layers: 24, "
      "encoder_hidden: 1024, encoder_ffn: 4096, encoder_heads: 16, encoder_image_tokens: 576}\n"
      "cluster: dgx-a100 x 1\n"
      "parallelism: {tp_size: 1, dp_size: 8, order: tp-dp-pp, zero_stage: 1}\n"
      "job: {sequence: 2048, images: 4}\n"},
     Target::any,
     Rule::When::without_violations,
     check_images},
};

}  // namespace
}  // namespace job_impl

std::span<const Rule> job_rules() { return job_impl::kRules; }

}  // namespace rankwright::rules
