// RW0125 and RW0127: problems of the job itself, which no layout mends: formats that the device
// does not compute in, and attention that is not modeled.
#include <fmt/format.h>

#include <bit>

#include "rankwright/base/format.h"
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

bool exceeds_window(const plan::TrainingConfig& s) {
  return s.model.window > 0 && s.job.sequence > s.model.window;
}

Finding describe_window(const plan::TrainingConfig& s) {
  const i64 window = s.model.window;
  Finding finding{.detail = fmt::format("layers of {} attend to {} tokens, but sequences have {}: "
                                        "the estimate would count full attention",
                                        s.model.name, count(window), count(s.job.sequence)),
                  .key = "job.sequence",
                  .hint = fmt::format("sequence: {}", window)};
  for (const i64 tokens : {window, i64(std::bit_floor(std::uint64_t(window)))}) {
    const Change shorter = Change(s).sequence(tokens);
    if (!finding.fix.empty() || !find_violations(shorter.config()).empty()) continue;
    finding.fix = shorter.edits();
  }
  return finding;
}

constexpr Rule kRules[] = {
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
    {{"RW0127", Severity::error, "sliding-window attention is not modeled",
      "Some layers of the model attend only to the last tokens. This version counts full attention "
      "in every layer. Beyond the window, this overstates time and, with unfused kernels, memory.",
      "Set job.sequence to at most the window, or set `window: 0` in the model and take the "
      "estimate as an upper bound.",
      "Mistral 7B (Jiang et al. 2023), section 2; Gemma 2 (2024), section 2",
      "world_size: 8\n"
      "model: gemma-2-2b\n"
      "parallelism: {tp_size: 1, dp_size: 8, order: tp-dp-pp}\n"
      "job: {sequence: 8192}\n"},
     Target::any,
     Rule::When::without_violations,
     when<exceeds_window, describe_window>},
};

}  // namespace
}  // namespace job_impl

std::span<const Rule> job_rules() { return job_impl::kRules; }

}  // namespace rankwright::rules
