// RW0578 to RW0580 and RW0592..: plans that this project's own runtime cannot run or runs
// differently.
#include <fmt/format.h>

#include <algorithm>

#include "rankwright/rules/change.h"
#include "rankwright/rules/target_findings.h"

namespace rankwright::rules {
namespace runtime_impl {
namespace {

/// Returns the first part of a network that the runtime does not implement; empty if there is none.
std::string_view find_unsupported_part(const model::Model& model) {
  if (model.sparse()) return "experts";
  if (model.encoder_parameters > 0) return "an encoder";
  if (model.mtp_layers > 0) return "multi-token prediction modules";
  if (model.embedding_norms > 0) return "a norm after the embedding";
  if (model.head_bias) return "a bias on the output head";
  if (model.architecture == "gpt_neox") return "parallel attention and feed-forward layers";
  for (const model::LayerRun& run : model.runs) {
    const model::Attention& a = run.layer.attention;
    if (run.layer.blocks() != 2) return "layers of one block";
    if (a.kind == model::Attention::Kind::latent) return "latent attention";
    if (a.recurrent()) return "linear attention and Mamba-2";
    if (a.window > 0) return "attention with a window";
    if (a.gated || a.sinks) return "gates and sinks of attention";
    if (a.qk_norm) return "query and key norms";
    if (run.layer.norms != 2) return "layers without exactly two norms";
  }
  return "";
}

bool has_unsupported_network(const plan::TrainingConfig& s) {
  return !find_unsupported_part(s.model).empty();
}

bool uses_context_parallelism(const plan::TrainingConfig& s) { return s.plan.cp > 1; }

bool has_undivided_kv_heads(const plan::TrainingConfig& s) {
  return find_undivided_kv_heads(s.model, s.plan.tp).has_value();
}

bool exceeds_positions(const plan::TrainingConfig& s) {
  return s.model.positions > 0 && s.job.sequence > s.model.positions;
}

/// Two chunks of a rank read the tied embedding, and each would gather its own shard.
bool gathers_embedding_twice(const plan::TrainingConfig& s) {
  return s.model.tied && s.plan.zero == 3 && s.plan.pp > 1 &&
         row(s.plan.schedule).stage_order != pipeline::StageOrder::loop;
}

bool is_hybrid_sharded(const plan::TrainingConfig& s) {
  return s.plan.zero >= 1 && s.plan.shards() != s.plan.data_ranks();
}

bool overlaps_tensor_parallelism(const plan::TrainingConfig& s) { return s.plan.overlap.tp; }

/// Returns the key of a setting of the optimizer or of its states that the runtime does not have;
/// empty if it has all of them.
std::string_view find_unsupported_state(const plan::TrainingConfig& s) {
  if (s.job.optimizer != plan::Optimizer::adam) return "job.optimizer";
  if (s.job.moment_dtype != plan::Dtype::fp32) return "job.moment_dtype";
  if (s.job.master_dtype != plan::Dtype::fp32) return "job.master_dtype";
  if (s.job.fp8_swiglu_input) return "job.fp8_swiglu_input";
  if (s.plan.offload.any()) return "parallelism.offload";
  return {};
}

bool has_unsupported_optimizer(const plan::TrainingConfig& s) {
  return !find_unsupported_state(s).empty();
}

bool is_supported(plan::Dtype dtype) {
  return dtype == plan::Dtype::fp64 || dtype == plan::Dtype::fp32 || dtype == plan::Dtype::bf16;
}

bool has_quantized_base(const plan::TrainingConfig& s) {
  return s.job.frozen() && s.job.base_dtype != plan::BaseDtype::same;
}

bool has_unsupported_dtype(const plan::TrainingConfig& s) {
  return !is_supported(s.job.param_dtype) || s.job.matmul != plan::Matmul::same ||
         has_quantized_base(s);
}

/// Returns the key of a setting of the objective that the runtime does not have; empty if it has
/// all of them. It has one loss, and every token of a sequence attends to all before it.
std::string_view find_unsupported_objective(const plan::Job& job) {
  if (job.method != plan::Method::lm) return "job.method";
  if (job.ref_model) return "job.ref_model";
  if (job.attended() != job.sequence) return "job.doc_length";
  if (job.loss_fraction() < 1) return "job.loss_tokens";
  return {};
}

bool has_unsupported_objective(const plan::TrainingConfig& s) {
  return !find_unsupported_objective(s.job).empty();
}

/// The checks that reject a plan; a fix triggers none of them.
constexpr Fault kFaults[] = {has_unsupported_network,     exceeds_positions,
                             gathers_embedding_twice,     uses_context_parallelism,
                             has_undivided_kv_heads,      is_hybrid_sharded,
                             overlaps_tensor_parallelism, has_unsupported_optimizer,
                             has_unsupported_dtype,       has_unsupported_objective};

/// Returns the format in which gradients are accumulated and reduced.
plan::Dtype accumulation_dtype(const plan::Job& job) {
  return job.param_dtype == plan::Dtype::fp64 ? plan::Dtype::fp64 : plan::Dtype::fp32;
}

bool has_other_gradient_dtype(const plan::TrainingConfig& s) {
  return s.job.grad_dtype != accumulation_dtype(s.job);
}

Finding describe_network(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("{} has {}", s.model.name, find_unsupported_part(s.model)),
          .key = "model",
          .hint = "a dense model of the llama or gpt2 architecture"};
}

Finding describe_context(const plan::TrainingConfig& s) {
  const plan::Plan& p = s.plan;
  return {.detail = fmt::format("CP is {}", p.cp),
          .key = "parallelism.cp_size",
          .fix = first_fix(s, uses_context_parallelism, kFaults,
                           {Change(s).cp(1).degrees(p.tp, p.pp, p.dp * p.cp)}),
          .hint = "cp_size: 1"};
}

Finding describe_kv_heads(const plan::TrainingConfig& s) {
  return describe_undivided_kv_heads(s, has_undivided_kv_heads, kFaults);
}

Finding describe_positions(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("{} has {} learned positions, but a sequence has {} tokens",
                                s.model.name, s.model.positions, s.job.sequence),
          .key = "job.sequence",
          .fix = first_fix(s, exceeds_positions, kFaults, {Change(s).sequence(s.model.positions)}),
          .hint = fmt::format("sequence: {}", s.model.positions)};
}

Finding describe_read_twice(const plan::TrainingConfig& s) {
  return {.detail = fmt::format(
              "{} has tied embeddings, and {} puts its first and last stage on the same rank",
              s.model.name, name(s.plan.schedule)),
          .key = "parallelism.zero_stage",
          .fix = first_fix(s, gathers_embedding_twice, kFaults, {Change(s).zero(2)}),
          .hint = "zero_stage: 2"};
}

Finding describe_hybrid(const plan::TrainingConfig& s) {
  return describe_full_sharding_only(s, is_hybrid_sharded, kFaults);
}

Finding describe_overlap(const plan::TrainingConfig& s) {
  return {.detail = "overlap.tp is on",
          .key = "parallelism.overlap.tp",
          .fix = first_fix(s, overlaps_tensor_parallelism, kFaults, {Change(s).overlap_tp(false)}),
          .hint = "overlap: {tp: false}"};
}

Finding describe_optimizer(const plan::TrainingConfig& s) {
  const std::string_view key = find_unsupported_state(s);
  if (key != "job.optimizer")
    return {.detail = fmt::format("the plan sets {}", key),
            .key = std::string(key),
            .hint = fmt::format("remove {}", key)};
  return {.detail = fmt::format("the plan sets {}", name(s.job.optimizer)),
          .key = "job.optimizer",
          .fix = first_fix(s, has_unsupported_optimizer, kFaults,
                           {Change(s).optimizer(plan::Optimizer::adam)}),
          .hint = "optimizer: adam"};
}

Finding describe_objective(const plan::TrainingConfig& s) {
  const std::string_view key = find_unsupported_objective(s.job);
  const std::string set = key == "job.method"      ? fmt::format("method {}", name(s.job.method))
                          : key == "job.ref_model" ? "a reference model"
                          : key == "job.loss_tokens"
                              ? fmt::format("logits of {} tokens per sequence", s.job.loss_tokens)
                              : fmt::format("documents of {} tokens", s.job.doc_length);
  return {.detail = fmt::format("the plan has {}", set),
          .key = std::string(key),
          .hint = fmt::format("remove {}", key)};
}

Finding describe_formats(const plan::TrainingConfig& s) {
  if (has_quantized_base(s))
    return {.detail = fmt::format("frozen weights in {}", name(s.job.base_dtype)),
            .key = "job.base_dtype",
            .hint = "remove job.base_dtype"};
  const bool matmul = s.job.matmul != plan::Matmul::same;
  return {.detail = matmul ? fmt::format("matmuls in {}", name(s.job.matmul))
                           : fmt::format("parameters in {}", name(s.job.param_dtype)),
          .key = matmul ? "job.matmul" : "job.param_dtype",
          .fix = first_fix(
              s, has_unsupported_dtype, kFaults,
              {Change(s).matmul(plan::Matmul::same), Change(s).param_dtype(plan::Dtype::bf16),
               Change(s).matmul(plan::Matmul::same).param_dtype(plan::Dtype::bf16)}),
          .hint = "param_dtype: bf16, fp32 or fp64, and matmul: same"};
}

Finding describe_gradients(const plan::TrainingConfig& s) {
  const plan::Dtype wide = accumulation_dtype(s.job);
  return {.detail = fmt::format("grad_dtype {} runs as {}", name(s.job.grad_dtype), name(wide)),
          .key = "job.grad_dtype",
          .fix = first_fix(s, has_other_gradient_dtype, kFaults, {Change(s).grad_dtype(wide)}),
          .hint = fmt::format("grad_dtype: {}", name(wide))};
}

constexpr Rule::When kWithoutViolations = Rule::When::without_violations;
constexpr std::string_view kSource = "rankwright/runtime";

constexpr Rule kRules[] = {
    {{"RW0578", Severity::error, "the runtime trains only next-token prediction on whole sequences",
      "It has no loss on pairs or rewards, no reference model, and no mask between the documents "
      "of a packed sequence.",
      "Remove method, ref_model, doc_length and loss_tokens.", kSource,
      "world_size: 8\n"
      "model: tinyllama-1.1b\n"
      "parallelism: {dp_size: 8, micro_batch: 2}\n"
      "job: {grad_dtype: fp32, method: dpo}\n"},
     Target::rankwright,
     kWithoutViolations,
     when<has_unsupported_objective, describe_objective>,
     has_unsupported_objective},
    {{"RW0579", Severity::error, "the sequence exceeds the model's learned positions",
      "Tokens beyond the last learned position have no position embedding.",
      "Lower job.sequence, or choose a model with more positions.", kSource,
      "world_size: 8\n"
      "model: gpt2\n"
      "parallelism: {dp_size: 8}\n"
      "job: {grad_dtype: fp32, sequence: 2048}\n"},
     Target::rankwright,
     kWithoutViolations,
     when<exceeds_positions, describe_positions>,
     exceeds_positions},
    {{"RW0580", Severity::error,
      "the runtime does not shard a weight that two virtual stages share",
      "ZeRO-3 gathers the weights of one virtual stage. If the schedule puts the first and last "
      "stage on one rank, tied embeddings belong to two virtual stages.",
      "Set zero_stage: 2, another schedule, or a model without tied embeddings.", kSource,
      "world_size: 8\n"
      "model: gpt2\n"
      "parallelism: {pp_size: 2, dp_size: 4, zero_stage: 3, virtual_stages: 2, schedule: zb-v}\n"
      "job: {grad_dtype: fp32, global_batch: 64, sequence: 1024}\n"},
     Target::rankwright,
     kWithoutViolations,
     when<gathers_embedding_twice, describe_read_twice>,
     gathers_embedding_twice},
    {{"RW0592", Severity::error, "the runtime does not support this architecture",
      "It supports decoders like GPT-2 and Llama: grouped-query attention, a dense feed-forward "
      "layer, two norms per layer, and a head without a bias.",
      "Choose a dense model of the llama or gpt2 architecture.", kSource,
      "world_size: 8\n"
      "model: {architecture: qwen3, hidden: 1024, layers: 8, heads: 16, kv_heads: 8, head_dim: 64, "
      "ffn: 3072, vocab: 32768}\n"
      "parallelism: {dp_size: 8}\n"
      "job: {grad_dtype: fp32}\n"},
     Target::rankwright,
     kWithoutViolations,
     when<has_unsupported_network, describe_network>,
     has_unsupported_network},
    {{"RW0593", Severity::error, "the runtime has no context parallelism",
      "Every rank attends to whole sequences.", "Set cp_size: 1.", kSource,
      "world_size: 8\n"
      "model: tinyllama-1.1b\n"
      "parallelism: {cp_size: 2, dp_size: 4}\n"
      "job: {grad_dtype: fp32, global_batch: 32}\n"},
     Target::rankwright,
     kWithoutViolations,
     when<uses_context_parallelism, describe_context>,
     uses_context_parallelism},
    {{"RW0594", Severity::error, "the runtime needs whole key-value heads on every TP rank",
      "Each TP rank holds its own key-value heads; heads are not replicated.",
      "Set tp_size to a divisor of the number of key-value heads.", kSource,
      "world_size: 8\n"
      "model: tinyllama-1.1b\n"
      "parallelism: {tp_size: 8, dp_size: 1}\n"
      "job: {grad_dtype: fp32, global_batch: 32}\n"},
     Target::rankwright,
     kWithoutViolations,
     when<has_undivided_kv_heads, describe_kv_heads>,
     has_undivided_kv_heads},
    {{"RW0595", Severity::error, "the runtime has no hybrid sharding",
      "ZeRO shards over all data-parallel ranks.", "Remove shard_size.", kSource,
      "world_size: 8\n"
      "model: tinyllama-1.1b\n"
      "parallelism: {dp_size: 8, zero_stage: 1, shard_size: 4}\n"
      "job: {grad_dtype: fp32}\n"},
     Target::rankwright,
     kWithoutViolations,
     when<is_hybrid_sharded, describe_hybrid>,
     is_hybrid_sharded},
    {{"RW0596", Severity::error, "the runtime does not overlap tensor-parallel collectives",
      "The collectives run between the matmuls, unsplit.", "Remove overlap.tp.", kSource,
      "world_size: 8\n"
      "model: tinyllama-1.1b\n"
      "parallelism: {tp_size: 2, dp_size: 4, sequence_parallel: true, overlap: {tp: true}}\n"
      "job: {grad_dtype: fp32}\n"},
     Target::rankwright,
     kWithoutViolations,
     when<overlaps_tensor_parallelism, describe_overlap>,
     overlaps_tensor_parallelism},
    {{"RW0597", Severity::error, "the runtime supports only AdamW",
      "Its optimizer keeps two moments per parameter.", "Set optimizer: adam.", kSource,
      "world_size: 8\n"
      "model: tinyllama-1.1b\n"
      "parallelism: {dp_size: 8}\n"
      "job: {grad_dtype: fp32, optimizer: lion}\n"},
     Target::rankwright,
     kWithoutViolations,
     when<has_unsupported_optimizer, describe_optimizer>,
     has_unsupported_optimizer},
    {{"RW0598", Severity::error, "the runtime does not support this number format",
      "Parameters are fp64, fp32, or bf16 with an fp32 copy. Matmuls, and frozen weights under "
      "LoRA, "
      "use the format of the parameters.",
      "Set param_dtype: bf16, fp32 or fp64, and matmul: same; remove base_dtype.", kSource,
      "world_size: 8\n"
      "model: tinyllama-1.1b\n"
      "parallelism: {dp_size: 8}\n"
      "job: {grad_dtype: fp32, param_dtype: fp16}\n"},
     Target::rankwright,
     kWithoutViolations,
     when<has_unsupported_dtype, describe_formats>,
     has_unsupported_dtype},
    {{"RW0599", Severity::warning, "the runtime accumulates gradients in fp32",
      "Gradients are stored and reduced in fp32 (fp64 with fp64 parameters). Another grad_dtype "
      "gives wrong bytes in the estimate.",
      "Set grad_dtype: fp32, or fp64 with fp64 parameters.", kSource,
      "world_size: 8\n"
      "model: tinyllama-1.1b\n"
      "parallelism: {dp_size: 8}\n"
      "job: {grad_dtype: bf16}\n"},
     Target::rankwright,
     kWithoutViolations,
     when<has_other_gradient_dtype, describe_gradients>,
     has_other_gradient_dtype},
};

}  // namespace
}  // namespace runtime_impl

std::span<const Rule> runtime_rules() { return runtime_impl::kRules; }

}  // namespace rankwright::rules
