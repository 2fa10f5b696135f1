// RW0501..: plans that Megatron-LM refuses or runs differently. Constraints that hold for every
// framework are in arithmetic.cc.
#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/rules/change.h"
#include "rankwright/rules/target_findings.h"

namespace rankwright::rules {
namespace megatron_impl {
namespace {

constexpr mesh::Order kAlternateOrder{mesh::Axis::tp, mesh::Axis::cp, mesh::Axis::ep,
                                      mesh::Axis::pp, mesh::Axis::dp};
constexpr i64 kVocabUnit = 128;  // --make-vocab-size-divisible-by

bool has_unsupported_order(const plan::TrainingConfig& s) {
  return !same_order(s, mesh::kDefaultOrder) && !same_order(s, kAlternateOrder);
}

// Megatron-LM creates expert groups for dense models too, and requires the same dp in both meshes.
bool has_unequal_meshes(const plan::TrainingConfig& s) {
  return s.plan.pp > 1 && !same_order(s, mesh::kDefaultOrder) &&
         s.plan.tp * s.plan.cp != s.plan.etp * s.plan.ep;
}

bool has_undivided_layers(const plan::TrainingConfig& s) {
  return !s.reference_model && s.plan.stages.empty() &&
         !divides(s.plan.pp * s.plan.virtual_stages, s.model.layers());
}

bool has_unsupported_schedule(const plan::TrainingConfig& s) {
  return s.plan.pp > 1 && s.plan.schedule != pipeline::Schedule::one_f_one_b &&
         s.plan.schedule != pipeline::Schedule::interleaved;
}

bool has_chunks_without_pipeline(const plan::TrainingConfig& s) {
  return s.plan.virtual_stages > 1 && s.plan.pp == 1;
}

/// A microbatch group has between pp and all microbatches; a remainder is empty or has at least pp.
bool has_unsupported_group(const plan::TrainingConfig& s) {
  if (s.plan.virtual_stages == 1 || s.plan.pp == 1) return false;
  const i64 m = s.microbatches();
  const i64 size = make_pipeline_shape(s).group_size();
  return size < s.plan.pp || size > m || (m % size > 0 && m % size < s.plan.pp);
}

bool has_experts_without_sp(const plan::TrainingConfig& s) {
  return s.model.sparse() && s.plan.tp > 1 && !s.plan.sequence_parallel;
}

bool has_invalid_param_gather(const plan::TrainingConfig& s) {
  return s.plan.overlap.param_gather && (s.plan.zero == 0 || !s.plan.overlap.grad_reduce);
}

bool has_invalid_tp_overlap(const plan::TrainingConfig& s) {
  return s.plan.overlap.tp && (s.plan.tp == 1 || !s.plan.sequence_parallel);
}

bool has_undivided_ulysses_kv(const plan::TrainingConfig& s) {
  return s.plan.cp > 1 && s.plan.cp_comm == plan::CpComm::a2a &&
         find_undivided_kv_heads(s.model, s.plan.tp * s.plan.cp).has_value();
}

bool has_fp16_experts(const plan::TrainingConfig& s) {
  return s.plan.ep > 1 && s.job.param_dtype == plan::Dtype::fp16;
}

/// With pp 2 and chunks, both ranks would send to and receive from each other in one batch of
/// transfers.
bool has_crossing_sends(const plan::TrainingConfig& s) {
  return s.plan.virtual_stages > 1 && s.plan.pp == 2 && !s.plan.overlap.pp;
}

bool exceeds_positions(const plan::TrainingConfig& s) {
  return s.model.positions > 0 && s.job.sequence > s.model.positions;
}

/// All MTP modules must be on one stage, in the last chunk of its rank, with no layer after them.
bool has_misplaced_mtp(const plan::TrainingConfig& s) {
  const plan::Stages& stages = s.plan.stages;
  i64 modules = 0, holders = 0;
  bool late = false;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    late = late || (modules > 0 && stages[i].layers > 0);
    if (stages[i].mtp == 0) continue;
    modules += stages[i].mtp;
    ++holders;
    late = late || i64(i) < i64(stages.size()) - s.plan.pp;
  }
  return !stages.empty() && (modules != s.model.mtp_layers || holders > 1 || late);
}

/// The number of optimizer instances must divide the experts' data ranks.
bool has_undivided_instances(const plan::TrainingConfig& s) {
  const plan::Plan& p = s.plan;
  if (p.zero == 0 || p.shard_size == 0 || !s.model.sparse()) return false;
  return !divides(p.data_ranks() / p.shard_size, p.expert_dp());
}

/// The checks that reject a plan; a fix triggers none of them.
constexpr Fault kFaults[] = {
    has_unsupported_order,    has_unequal_meshes,          has_undivided_layers,
    has_unsupported_schedule, has_chunks_without_pipeline, has_unsupported_group,
    has_experts_without_sp,   has_invalid_param_gather,    has_invalid_tp_overlap,
    has_undivided_ulysses_kv, has_crossing_sends,          exceeds_positions,
    has_misplaced_mtp,        has_undivided_instances};

bool uses_fsdp(const plan::TrainingConfig& s) { return s.plan.zero >= 2; }

bool uses_fsdp_with_pipeline(const plan::TrainingConfig& s) {
  return uses_fsdp(s) && s.plan.pp > 1;
}

/// Blackwell is the first generation with FP4 units.
bool is_before_blackwell(const cluster::Device& device) {
  return device.vendor == "NVIDIA" && device.fp4 == FlopsPerSecond{};
}

bool needs_one_connection(const plan::TrainingConfig& s) {
  return (s.plan.tp > 1 || s.plan.cp > 1) && !uses_fsdp(s) && !s.plan.overlap.ep &&
         is_before_blackwell(s.cluster.device);
}

/// Megatron-FSDP wants many queues to the device, tp and cp want one.
bool mixes_fsdp_with_tp_or_cp(const plan::TrainingConfig& s) {
  return (s.plan.tp > 1 || s.plan.cp > 1) && uses_fsdp(s) && is_before_blackwell(s.cluster.device);
}

bool recomputes_experts(const plan::TrainingConfig& s) {
  return s.plan.recompute == plan::Recompute::selective && s.plan.modules.moe;
}

/// Dispatch and combine overlap the computation of another microbatch, which an interleaved
/// schedule or gradient accumulation without a pipeline provides.
bool has_invalid_ep_overlap(const plan::TrainingConfig& s) {
  return s.plan.overlap.ep &&
         (s.plan.ep == 1 || s.plan.recompute == plan::Recompute::full || recomputes_experts(s) ||
          s.job.param_dtype == plan::Dtype::fp32 || s.model.mtp_layers > 1 ||
          (s.plan.pp > 1 && s.plan.virtual_stages == 1));
}

/// CUDA graphs of attention cannot compute delayed gradients of its biases while gradients are
/// reduced.
bool captures_biased_attention(const plan::TrainingConfig& s) {
  const model::Attention& attention = s.model.layer(0).attention;
  return s.software.launch == plan::Launch::partial_graphs && s.plan.overlap.grad_reduce &&
         (attention.qkv_bias || attention.out_bias);
}

bool has_invalid_wgrad_delay(const plan::TrainingConfig& s) {
  return s.plan.overlap.wgrad && (!s.plan.overlap.ep || captures_biased_attention(s));
}

/// A setting that the framework's release may not have.
struct ReleaseSetting {
  bool plan::ExpertFeatures::*feature;
  bool (*uses)(const plan::TrainingConfig&);
  std::string_view key, setting, instead;
};
constexpr ReleaseSetting kReleaseSettings[] = {
    {&plan::ExpertFeatures::deepep,
     [](const plan::TrainingConfig& s) { return s.plan.dispatcher == plan::Dispatcher::deepep; },
     "parallelism.dispatcher", "dispatcher: deepep", "dispatcher: alltoall"},
    {&plan::ExpertFeatures::hybridep,
     [](const plan::TrainingConfig& s) { return s.plan.dispatcher == plan::Dispatcher::hybridep; },
     "parallelism.dispatcher", "dispatcher: hybridep", "dispatcher: alltoall"},
    {&plan::ExpertFeatures::overlap,
     [](const plan::TrainingConfig& s) { return s.plan.overlap.ep; }, "parallelism.overlap.ep",
     "overlap: {ep: true}", "overlap: {ep: false}"},
    {&plan::ExpertFeatures::fused,
     [](const plan::TrainingConfig& s) {
       return s.model.sparse() && s.software.experts == plan::ExpertKernel::fused;
     },
     "software.expert_kernel", "expert_kernel: fused", "expert_kernel: grouped"},
};

/// Returns the first setting that the stated release does not have; nullptr if it has all.
const ReleaseSetting* find_missing_in_release(const plan::TrainingConfig& s) {
  if (s.software.release.empty()) return nullptr;
  for (const ReleaseSetting& one : kReleaseSettings)
    if (one.uses(s) && !(s.software.expert_features.*one.feature)) return &one;
  return nullptr;
}

bool lacks_in_release(const plan::TrainingConfig& s) {
  return find_missing_in_release(s) != nullptr;
}

bool lacks_grouped_experts(const plan::TrainingConfig& s) {
  return !s.model.sparse() || s.software.experts == plan::ExpertKernel::sequential;
}

bool has_unsupported_modules(const plan::TrainingConfig& s) {
  const plan::RecomputeModules& modules = s.plan.modules;
  return s.plan.recompute == plan::Recompute::selective && !s.reference_model &&
         ((modules.mla_up_proj && !s.model.latent()) ||
          (modules.moe_act && lacks_grouped_experts(s)));
}

bool needs_vocabulary_padding(const plan::TrainingConfig& s) {
  return !s.reference_model && !divides(kVocabUnit * s.plan.tp, s.model.vocab);
}

bool reduces_bf16_gradients(const plan::TrainingConfig& s) {
  const bool half = s.job.param_dtype == plan::Dtype::bf16 || s.job.param_dtype == plan::Dtype::fp8;
  return half && s.job.grad_dtype == plan::Dtype::bf16 && s.plan.data_ranks() > 1;
}

Finding describe_order(const plan::TrainingConfig& s) {
  return {
      .detail = fmt::format("{} is neither {} nor {}", show(s.plan.order),
                            show(mesh::kDefaultOrder), show(kAlternateOrder)),
      .key = "parallelism.order",
      .fix = first_fix(s, has_unsupported_order, kFaults,
                       {Change(s).order(mesh::kDefaultOrder), Change(s).order(kAlternateOrder)}),
      .hint = fmt::format("order: {}", show(mesh::kDefaultOrder))};
}

Finding describe_meshes(const plan::TrainingConfig& s) {
  return {
      .detail = fmt::format("TP {} x CP {} is not ETP {} x EP {}, and PP is not last in the order",
                            s.plan.tp, s.plan.cp, s.plan.etp, s.plan.ep),
      .key = "parallelism.order",
      .fix = first_fix(s, has_unequal_meshes, kFaults, {Change(s).order(mesh::kDefaultOrder)}),
      .hint = fmt::format("order: {}", show(mesh::kDefaultOrder))};
}

Finding describe_layers(const plan::TrainingConfig& s) {
  const i64 stages = s.plan.pp * s.plan.virtual_stages;
  const i64 run = s.model.layers() / stages * stages;
  return {.detail = fmt::format("{} stages do not divide the {} layers of {}", stages,
                                s.model.layers(), s.model.name),
          .key = "parallelism.pp_size",
          .fix = first_fix(s, has_undivided_layers, kFaults, {Change(s).even_stages()}),
          .hint = "list the layers of each stage: stages: [...]",
          .notes = {fmt::format("versions that do not stop round down and train {} layers", run)}};
}

Finding describe_schedule(const plan::TrainingConfig& s) {
  const i64 chunks = s.plan.virtual_stages;
  const pipeline::Schedule nearest = pipeline::default_schedule(chunks);
  return {.detail = fmt::format("{} is neither 1f1b nor interleaved-1f1b", name(s.plan.schedule)),
          .key = "parallelism.schedule",
          .fix = first_fix(s, has_unsupported_schedule, kFaults,
                           {Change(s).chunks(chunks, nearest),
                            Change(s).chunks(1, pipeline::Schedule::one_f_one_b)}),
          .hint = "schedule: 1f1b, or interleaved-1f1b with virtual_stages"};
}

Finding describe_lonely_chunks(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("virtual_stages {} with PP 1", s.plan.virtual_stages),
          .key = "parallelism.virtual_stages",
          .fix = first_fix(s, has_chunks_without_pipeline, kFaults,
                           {Change(s).chunks(1, pipeline::Schedule::one_f_one_b),
                            Change(s).chunks(1, pipeline::Schedule::one_f_one_b).even_stages()}),
          .hint = "virtual_stages: 1"};
}

/// Proposes the smallest group that the microbatches divide into, otherwise more microbatches.
std::vector<Edit> propose_group(const plan::TrainingConfig& s) {
  const i64 m = s.microbatches();
  std::vector<Change> changes;
  for (i64 size = s.plan.pp; size <= std::min(m, 2 * s.plan.pp); ++size)
    changes.push_back(Change(s).microbatch_group(size));
  changes.push_back(Change(s).microbatch_group(m));
  Change more = Change(s).microbatches(round_up(m, s.plan.pp));
  if (s.plan.microbatch_group != 0) more.microbatch_group(s.plan.pp);
  changes.push_back(more);
  return first_fix(s, has_unsupported_group, kFaults, changes);
}

Finding describe_group(const plan::TrainingConfig& s) {
  if (s.plan.microbatch_group != 0)
    return {.detail = fmt::format(
                "groups of {} do not divide {} micro-batches: each group needs at least PP {}",
                count(s.plan.microbatch_group), count(s.microbatches()), s.plan.pp),
            .key = "parallelism.microbatch_group",
            .fix = propose_group(s),
            .hint = "microbatch_group: PP, with a multiple of it as the number of micro-batches"};
  return {.detail = fmt::format("{} micro-batches are not a multiple of PP {}",
                                count(s.microbatches()), s.plan.pp),
          .key = "job.global_batch",
          .fix = propose_group(s),
          .hint = "a global_batch that gives a multiple of PP micro-batches"};
}

Finding describe_experts_without_sp(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("{} has experts and TP {}, but sequence_parallel is off",
                                s.model.name, s.plan.tp),
          .key = "parallelism.sequence_parallel",
          .fix = first_fix(s, has_experts_without_sp, kFaults, {Change(s).sequence_parallel(true)}),
          .hint = "sequence_parallel: true, with a sequence that TP divides"};
}

Finding describe_param_gather(const plan::TrainingConfig& s) {
  return {.detail = s.plan.zero == 0 ? "overlap.param_gather with zero_stage 0"
                                     : "overlap.param_gather without overlap.grad_reduce",
          .key = "parallelism.overlap.param_gather",
          .fix = first_fix(s, has_invalid_param_gather, kFaults,
                           {Change(s).overlap_param_gather(false)}),
          .hint = "overlap.param_gather: false"};
}

Finding describe_tp_overlap(const plan::TrainingConfig& s) {
  std::vector<Change> changes{Change(s).overlap_tp(false)};
  if (s.plan.tp > 1) changes.insert(changes.begin(), Change(s).sequence_parallel(true));
  return {
      .detail = s.plan.tp == 1 ? "TP 1: there is nothing to overlap" : "sequence_parallel is off",
      .key = "parallelism.overlap.tp",
      .fix = first_fix(s, has_invalid_tp_overlap, kFaults, changes),
      .hint = "overlap.tp: false"};
}

Finding describe_fsdp_pipeline(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("zero_stage {} with PP {}", s.plan.zero, s.plan.pp),
          .key = "parallelism.zero_stage",
          .fix = first_fix(s, uses_fsdp_with_pipeline, kFaults, {Change(s).zero(1)})};
}

Finding describe_fsdp_with_tp_or_cp(const plan::TrainingConfig& s) {
  return {
      .detail = fmt::format("zero_stage {} with TP {} x CP {} on {}, which is older than Blackwell",
                            s.plan.zero, s.plan.tp, s.plan.cp, s.cluster.device.name),
      .key = "parallelism.zero_stage",
      .fix = first_fix(s, mixes_fsdp_with_tp_or_cp, kFaults, {Change(s).zero(1)})};
}

Finding describe_ep_overlap(const plan::TrainingConfig& s) {
  const std::string why = s.plan.ep == 1                              ? "EP 1"
                          : s.plan.recompute == plan::Recompute::full ? "full recomputation"
                          : recomputes_experts(s)                     ? "recomputed experts (moe)"
                          : s.model.mtp_layers > 1                    ? "more than one MTP layer"
                          : s.job.param_dtype == plan::Dtype::fp32
                              ? "param_dtype fp32"
                              : fmt::format("PP {} without virtual stages", s.plan.pp);
  return {.detail = fmt::format("overlap.ep with {}", why),
          .key = "parallelism.overlap.ep",
          .fix = first_fix(s, has_invalid_ep_overlap, kFaults, {Change(s).overlap_ep(false)})};
}

Finding describe_wgrad_delay(const plan::TrainingConfig& s) {
  return {.detail = s.plan.overlap.ep ? "overlap.wgrad with CUDA graphs of attention with biases"
                                      : "overlap.wgrad without overlap.ep",
          .key = "parallelism.overlap.wgrad",
          .fix = first_fix(s, has_invalid_wgrad_delay, kFaults,
                           {Change(s).overlap_ep(true), Change(s).overlap_wgrad(false)})};
}

Finding describe_release(const plan::TrainingConfig& s) {
  const ReleaseSetting& missing = *find_missing_in_release(s);
  return {.detail = fmt::format("{} {} does not have {}", s.software.name, s.software.release,
                                missing.setting),
          .key = std::string(missing.key),
          .hint = std::string(missing.instead)};
}

Finding describe_modules(const plan::TrainingConfig& s) {
  const bool latent = s.plan.modules.mla_up_proj && !s.model.latent();
  const std::string_view module = latent ? "mla_up_proj" : "moe_act";
  return {.detail =
              latent ? fmt::format("mla_up_proj, but {} has no latent attention", s.model.name)
              : !s.model.sparse() ? fmt::format("moe_act, but {} has no experts", s.model.name)
                                  : "moe_act, but the experts of a rank compute one after another",
          .key = "parallelism.recompute",
          .hint = fmt::format("remove {} from the modules", module)};
}

Finding describe_one_connection(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("TP {} x CP {} on {}, which is older than Blackwell", s.plan.tp,
                                s.plan.cp, s.cluster.device.name),
          .key = s.plan.tp > 1 ? "parallelism.tp_size" : "parallelism.cp_size",
          .hint = "export CUDA_DEVICE_MAX_CONNECTIONS=1"};
}

Finding describe_many_connections(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("zero_stage {} is Megatron-FSDP", s.plan.zero),
          .key = "parallelism.zero_stage",
          .hint = "unset CUDA_DEVICE_MAX_CONNECTIONS"};
}

Finding describe_ulysses_kv(const plan::TrainingConfig& s) {
  return describe_undivided_ulysses_kv(s, plan::CpComm::p2p, has_undivided_ulysses_kv, kFaults);
}

Finding describe_vocabulary(const plan::TrainingConfig& s) {
  const i64 padded = round_up(s.model.vocab, kVocabUnit * s.plan.tp);
  return {.detail = fmt::format("{} rows are padded to {}: {} more, for a multiple of 128 x TP {}",
                                count(s.model.vocab), count(padded), count(padded - s.model.vocab),
                                s.plan.tp),
          .key = "model.vocab"};
}

Finding describe_gradients(const plan::TrainingConfig&) {
  return {
      .detail = "grad_dtype is bf16",
      .key = "job.grad_dtype",
      .hint =
          "grad_dtype: fp32 (Megatron-LM's default), or pass --grad-reduce-in-bf16 to Megatron-LM"};
}

Finding describe_half_experts(const plan::TrainingConfig& s) {
  return {
      .detail = fmt::format("EP {} with param_dtype fp16", s.plan.ep),
      .key = "job.param_dtype",
      .fix = first_fix(s, has_fp16_experts, kFaults, {Change(s).param_dtype(plan::Dtype::bf16)}),
      .hint = "param_dtype: bf16"};
}

Finding describe_crossed_sends(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("virtual_stages {} on PP 2 with overlap.pp: false",
                                s.plan.virtual_stages),
          .key = "parallelism.overlap.pp",
          .fix = first_fix(s, has_crossing_sends, kFaults, {Change(s).overlap_pp(true)}),
          .hint = "overlap.pp: true"};
}

Finding describe_positions(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("{} has {} learned positions, but a sequence has {} tokens",
                                s.model.name, count(s.model.positions), count(s.job.sequence)),
          .key = "job.sequence",
          .fix = first_fix(s, exceeds_positions, kFaults, {Change(s).sequence(s.model.positions)}),
          .hint = fmt::format("sequence: {}", s.model.positions)};
}

Finding describe_mtp_stages(const plan::TrainingConfig& s) {
  return {.detail = fmt::format("{} of {} are in {}",
                                plural(s.model.mtp_layers, "MTP module", "MTP modules"),
                                s.model.name, make_excerpt(show_layout(s.plan.stages), 60)),
          .key = "parallelism.stages",
          .fix = first_fix(s, has_misplaced_mtp, kFaults, {Change(s).even_stages()}),
          .hint = "put all m on one stage after the last t"};
}

Finding describe_instances(const plan::TrainingConfig& s) {
  const plan::Plan& p = s.plan;
  return {
      .detail = fmt::format("{} data-parallel ranks in shards of {} give {} optimizer instances, "
                            "which do not divide {} per expert",
                            p.data_ranks(), p.shard_size, p.data_ranks() / p.shard_size,
                            plural(p.expert_dp(), "data-parallel rank", "data-parallel ranks")),
      .key = "parallelism.shard_size",
      .fix = first_fix(s, has_undivided_instances, kFaults, {Change(s).shard_size(p.data_ranks())}),
      .hint = "remove shard_size"};
}

constexpr Rule::When kWithoutViolations = Rule::When::without_violations;

constexpr Rule kRules[] = {
    {{"RW0501", Severity::error, "Megatron-LM does not support this rank order",
      "It supports tp-cp-ep-dp-pp and, with --use-tp-pp-dp-mapping, tp-cp-ep-pp-dp. The position "
      "of axes of degree 1 does not matter.",
      "Set order: tp-cp-ep-dp-pp or order: tp-cp-ep-pp-dp. To move ranks to other devices, change "
      "`placement`.",
      "Megatron-LM core/parallel_state.py, initialize_model_parallel",
      "world_size: 16\n"
      "model: llama-3.1-8b\n"
      "parallelism: {tp_size: 2, pp_size: 4, dp_size: 2, order: dp-tp-cp-ep-pp}\n"},
     Target::megatron,
     kWithoutViolations,
     when<has_unsupported_order, describe_order>,
     has_unsupported_order,
     false,
     Rule::Depends::order},
    {{"RW0502", Severity::error, "with PP before DP, Megatron-LM requires TP x CP = ETP x EP",
      "Megatron-LM creates expert groups for every model. Unless PP is last, it requires equal "
      "data-parallel sizes of dense and expert layers. CP on a dense model breaks that, because "
      "the expert mesh has no CP.",
      "Set order: tp-cp-ep-dp-pp.", "Megatron-LM core/parallel_state.py, initialize_model_parallel",
      "world_size: 32\n"
      "model: llama-3.1-8b\n"
      "parallelism: {tp_size: 2, cp_size: 2, pp_size: 4, dp_size: 2, order: tp-cp-ep-pp-dp}\n"},
     Target::megatron,
     kWithoutViolations,
     when<has_unequal_meshes, describe_meshes>,
     has_unequal_meshes,
     false,
     Rule::Depends::order},
    {{"RW0503", Severity::error, "Megatron-LM cannot split these layers evenly",
      "Without a layout, every stage gets layers / (PP x virtual_stages), rounded down. Not all "
      "versions check the remainder: 80 layers have trained as 64, and 30 as 28, without a "
      "warning.",
      "List the layers of each stage in `stages`. Export writes it as "
      "--pipeline-model-parallel-layout (Megatron Core 0.13 or later).",
      "Megatron-LM issues 468 and 1304; training/arguments.py, validate_args",
      "world_size: 16\n"
      "model: megatron-3.6b\n"
      "parallelism: {tp_size: 2, pp_size: 4, dp_size: 2}\n"
      "job: {sequence: 2048}\n"},
     Target::megatron,
     kWithoutViolations,
     when<has_undivided_layers, describe_layers>,
     has_undivided_layers,
     false,
     Rule::Depends::even_stages},
    {{"RW0504", Severity::error, "Megatron-LM does not have this schedule",
      "It supports 1F1B, and interleaved 1F1B with virtual stages. It has no GPipe, zero-bubble or "
      "DualPipe schedule.",
      "Set schedule: 1f1b, or schedule: interleaved-1f1b with virtual_stages: 2 or more.",
      "Megatron-LM core/pipeline_parallel/schedules.py; pull request 5254 (DualPipe) was closed",
      "world_size: 16\n"
      "model: llama-3.1-8b\n"
      "parallelism: {tp_size: 2, pp_size: 4, dp_size: 2, schedule: zb-h1}\n"},
     Target::megatron,
     kWithoutViolations,
     when<has_unsupported_schedule, describe_schedule>,
     has_unsupported_schedule,
     false,
     Rule::Depends::schedule},
    {{"RW0505", Severity::error, "Megatron-LM interleaves micro-batches in groups of at least PP",
      "Each group, also the last one, has at least PP micro-batches. The default group is PP, so "
      "PP must divide the number of micro-batches.",
      "Set microbatch_group, or a global_batch that gives a multiple of PP micro-batches.",
      "Megatron-LM core/pipeline_parallel/schedules.py, "
      "forward_backward_pipelining_with_interleaving",
      "world_size: 16\n"
      "model: llama-3.1-8b\n"
      "parallelism: {tp_size: 2, pp_size: 4, dp_size: 2, virtual_stages: 2}\n"
      "job: {global_batch: 20}\n"},
     Target::megatron,
     kWithoutViolations,
     when<has_unsupported_group, describe_group>,
     has_unsupported_group},
    {{"RW0506", Severity::error, "Megatron-LM supports virtual stages only with a pipeline",
      "Interleaving shrinks the bubble between PP ranks. With one PP rank there is no bubble.",
      "Remove virtual_stages.", "Megatron-LM training/arguments.py, validate_args",
      "world_size: 8\n"
      "model: llama-3.1-8b\n"
      "parallelism: {tp_size: 8, dp_size: 1, virtual_stages: 2}\n"},
     Target::megatron,
     kWithoutViolations,
     when<has_chunks_without_pipeline, describe_lonely_chunks>,
     has_chunks_without_pipeline},
    {{"RW0507", Severity::error, "Megatron-LM requires sequence parallelism for experts with TP",
      "Without it, every TP rank would route all tokens. The MoE layer raises an error in the "
      "first training step, for any EP.",
      "Set sequence_parallel: true.",
      "Megatron-LM core/transformer/moe/moe_layer.py, as logs of 2026 quote it; "
      "core/model_parallel_config.py warns",
      "world_size: 8\n"
      "model: {architecture: mixtral, hidden: 1024, layers: 8, heads: 16, kv_heads: 8, "
      "expert_ffn: 2048, vocab: 32768, experts: 8, active_experts: 2}\n"
      "parallelism: {tp_size: 2, dp_size: 4, ep_size: 4, sequence_parallel: false}\n"},
     Target::megatron,
     kWithoutViolations,
     when<has_experts_without_sp, describe_experts_without_sp>,
     has_experts_without_sp,
     false,
     Rule::Depends::sequence_parallel},
    {{"RW0508", Severity::error, "Megatron-LM cannot overlap the parameter gather here",
      "--overlap-param-gather needs the distributed optimizer and --overlap-grad-reduce.",
      "Set overlap.param_gather: false, or zero_stage: 1 and overlap.grad_reduce: true.",
      "Megatron-LM training/arguments.py, validate_args",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {tp_size: 2, dp_size: 4, zero_stage: 0, overlap: {param_gather: true}}\n"},
     Target::megatron,
     kWithoutViolations,
     when<has_invalid_param_gather, describe_param_gather>,
     has_invalid_param_gather},
    {{"RW0509", Severity::error, "Megatron-LM overlaps TP only with sequence parallelism",
      "--tp-comm-overlap overlaps the all-gathers and reduce-scatters of sequence parallelism. "
      "With TP 1, sequence parallelism is off.",
      "Set sequence_parallel: true, or set overlap.tp: false.",
      "Megatron-LM training/arguments.py, validate_args",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {tp_size: 4, dp_size: 2, sequence_parallel: false, overlap: {tp: true}}\n"},
     Target::megatron,
     kWithoutViolations,
     when<has_invalid_tp_overlap, describe_tp_overlap>,
     has_invalid_tp_overlap},
    {{"RW0510", Severity::warning, "Megatron-FSDP with a pipeline is undocumented",
      "Megatron-LM runs ZeRO-2 and ZeRO-3 as Megatron-FSDP. Its documentation covers TP, EP and "
      "CP, but not PP, and one of NVIDIA's scripts calls them mutually exclusive. No check that "
      "rejects the combination is known.",
      "Set zero_stage: 1 (the distributed optimizer).",
      "Megatron-LM docs, custom_fsdp; pull requests 6081 (merged) and 6486 (open)",
      "world_size: 16\n"
      "model: llama-3.1-8b\n"
      "parallelism: {tp_size: 2, pp_size: 4, dp_size: 2, zero_stage: 3}\n"},
     Target::megatron,
     kWithoutViolations,
     when<uses_fsdp_with_pipeline, describe_fsdp_pipeline>,
     uses_fsdp_with_pipeline,
     true,
     Rule::Depends::zero},
    {{"RW0511", Severity::note, "Megatron-LM needs CUDA_DEVICE_MAX_CONNECTIONS=1 here",
      "Before Blackwell, a single hardware queue is needed to run TP and CP collectives before the "
      "kernels that they overlap with. Megatron-LM refuses to start without it.",
      "Run export CUDA_DEVICE_MAX_CONNECTIONS=1 on every rank.",
      "Megatron-LM training/arguments.py, validate_args",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {tp_size: 4, dp_size: 2}\n"},
     Target::megatron,
     kWithoutViolations,
     when<needs_one_connection, describe_one_connection>,
     needs_one_connection},
    {{"RW0512", Severity::note, "Megatron-FSDP rejects CUDA_DEVICE_MAX_CONNECTIONS=1",
      "With a single hardware queue, its parameter gathers could not overlap with compute.",
      "Run unset CUDA_DEVICE_MAX_CONNECTIONS on every rank.",
      "Megatron-LM training/arguments.py, validate_args",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {tp_size: 1, dp_size: 8, zero_stage: 3}\n"},
     Target::megatron,
     kWithoutViolations,
     when<uses_fsdp, describe_many_connections>,
     uses_fsdp},
    {{"RW0513", Severity::error,
      "all-to-all context parallelism does not divide the key-value heads",
      "Transformer Engine exchanges sequence shards for head shards of queries, keys and values. "
      "After the TP split, CP must divide the key-value heads too.",
      "Set cp_comm: p2p, or lower cp_size.",
      "TransformerEngine's attention with a2a, AttnFuncWithCPAndQKVOA2A",
      "world_size: 16\n"
      "model: llama-3.1-8b\n"
      "parallelism: {tp_size: 4, cp_size: 4, dp_size: 1, cp_comm: a2a}\n"},
     Target::megatron,
     kWithoutViolations,
     when<has_undivided_ulysses_kv, describe_ulysses_kv>,
     has_undivided_ulysses_kv},
    {{"RW0514", Severity::note, "Megatron-LM pads the vocabulary",
      "Rows are added to the embedding and the output head until 128 x TP divides their number. "
      "They cost memory and compute, and checkpoints of another TP may have other shapes.",
      "No action is needed. --make-vocab-size-divisible-by changes the 128.",
      "Megatron-LM training/tokenizer, vocab_size_with_padding",
      "world_size: 8\n"
      "model: gpt2\n"
      "parallelism: {tp_size: 4, dp_size: 2}\n"
      "job: {sequence: 1024}\n"},
     Target::megatron,
     kWithoutViolations,
     when<needs_vocabulary_padding, describe_vocabulary>,
     needs_vocabulary_padding},
    {{"RW0515", Severity::note, "Megatron-LM reduces gradients in fp32",
      "With --bf16, it accumulates and reduces gradients in fp32 unless --grad-reduce-in-bf16 is "
      "given. That is 2 bytes per parameter more, and twice the data-parallel traffic.",
      "Set job.grad_dtype: fp32, or pass --grad-reduce-in-bf16 to Megatron-LM.",
      "Megatron-LM training/arguments.py",
      "world_size: 8\n"
      "model: llama-3.2-1b\n"
      "parallelism: {tp_size: 1, dp_size: 8}\n"
      "job: {grad_dtype: bf16}\n"},
     Target::megatron,
     kWithoutViolations,
     when<reduces_bf16_gradients, describe_gradients>,
     reduces_bf16_gradients},
    {{"RW0516", Severity::warning, "older versions of Megatron-LM refuse experts in fp16",
      "They reject --fp16 with an expert-parallel size above 1. The main branch of 2026 accepts "
      "it, except in YAML configs.",
      "Set job.param_dtype: bf16.",
      "Megatron-LM training/arguments.py and yaml_arguments.py, validate_args",
      "world_size: 8\n"
      "model: {architecture: mixtral, hidden: 1024, layers: 8, heads: 16, kv_heads: 8, "
      "expert_ffn: 2048, vocab: 32768, experts: 8, active_experts: 2}\n"
      "parallelism: {tp_size: 2, dp_size: 4, ep_size: 4}\n"
      "job: {param_dtype: fp16}\n"},
     Target::megatron,
     kWithoutViolations,
     when<has_fp16_experts, describe_half_experts>,
     has_fp16_experts,
     true},
    {{"RW0517", Severity::error, "Megatron-LM interleaves 2 PP ranks only with overlapped sends",
      "With two ranks, each is both predecessor and successor of the other. Without overlap, all "
      "sends go out in one batch, and two messages between the same ranks could be mixed up.",
      "Set overlap.pp: true, or raise pp_size.", "Megatron-LM training/arguments.py, validate_args",
      "world_size: 8\n"
      "model: llama-3.1-8b\n"
      "parallelism: {tp_size: 4, pp_size: 2, dp_size: 1, virtual_stages: 2, overlap: {pp: "
      "false}}\n"},
     Target::megatron,
     kWithoutViolations,
     when<has_crossing_sends, describe_crossed_sends>,
     has_crossing_sends},
    {{"RW0518", Severity::error, "the sequence exceeds Megatron-LM's learned positions",
      "--max-position-embeddings is the number of learned positions and must be at least "
      "--seq-length.",
      "Lower job.sequence, or choose a model with more positions.",
      "Megatron-LM training/arguments.py, validate_args",
      "world_size: 8\n"
      "model: gpt2\n"
      "parallelism: {dp_size: 8}\n"
      "job: {sequence: 2048}\n"},
     Target::megatron,
     kWithoutViolations,
     when<exceeds_positions, describe_positions>,
     exceeds_positions},
    {{"RW0519", Severity::error, "Megatron-LM does not support this placement of MTP modules",
      "All MTP modules must be on one stage, in the last virtual stage of its PP rank, with no "
      "layer after them.",
      "In `stages`, move every m to one stage after the last t.",
      "Megatron-LM core/transformer/pipeline_parallel_layer_layout.py, validate_layer_layout",
      "world_size: 8\n"
      "model: {architecture: deepseek_v3, hidden: 1024, layers: 8, heads: 16, vocab: 32768, "
      "ffn: 4096, first_dense: 1, experts: 8, active_experts: 2, expert_ffn: 512, kv_rank: 64, "
      "nope_dim: 64, rope_dim: 32, value_dim: 64, mtp_layers: 1}\n"
      "parallelism: {pp_size: 2, dp_size: 4, stages: Et*4m|t*4L}\n"},
     Target::megatron,
     kWithoutViolations,
     when<has_misplaced_mtp, describe_mtp_stages>,
     has_misplaced_mtp},
    {{"RW0520", Severity::error,
      "optimizer instances do not divide the experts' data-parallel ranks",
      "shard_size sets --num-distributed-optimizer-instances. Megatron-LM divides the experts' "
      "data-parallel ranks into the same number of parts as those of the dense layers.",
      "Remove shard_size, or lower ep_size.",
      "Megatron-LM core/parallel_state.py, initialize_model_parallel",
      "world_size: 8\n"
      "model: {architecture: mixtral, hidden: 1024, layers: 8, heads: 16, kv_heads: 8, "
      "expert_ffn: 2048, vocab: 32768, experts: 8, active_experts: 2}\n"
      "parallelism: {dp_size: 8, ep_size: 8, zero_stage: 1, shard_size: 4}\n"},
     Target::megatron,
     kWithoutViolations,
     when<has_undivided_instances, describe_instances>,
     has_undivided_instances},
    {{"RW0525", Severity::warning, "Megatron-FSDP with tensor or context parallelism",
      "Before Blackwell, TP and CP need CUDA_DEVICE_MAX_CONNECTIONS=1 to overlap their "
      "collectives, but Megatron-FSDP needs more than one queue to overlap its gathers. "
      "Megatron-LM warns that one of them will not overlap.",
      "Set zero_stage: 1, or tp_size: 1 and cp_size: 1.",
      "Megatron-LM training/arguments.py, validate_args",
      "world_size: 16\n"
      "model: llama-3.1-8b\n"
      "parallelism: {tp_size: 2, dp_size: 8, zero_stage: 3}\n"},
     Target::megatron,
     kWithoutViolations,
     when<mixes_fsdp_with_tp_or_cp, describe_fsdp_with_tp_or_cp>,
     mixes_fsdp_with_tp_or_cp,
     true,
     Rule::Depends::zero},
    {{"RW0555", Severity::error, "Megatron-LM cannot overlap dispatch and combine here",
      "The overlap runs the forward pass of one micro-batch during the backward pass of another. "
      "Megatron-LM requires EP above 1, an interleaved schedule if there is a pipeline, at most "
      "one MTP layer, and neither full recomputation nor recomputed experts (moe).",
      "Set overlap.ep: false, raise virtual_stages above 1, or use less recomputation.",
      "Megatron-LM training/arguments.py and transformer_config.py, "
      "overlap_moe_expert_parallel_comm",
      "world_size: 32\n"
      "model: qwen3-30b-a3b\n"
      "parallelism: {tp_size: 1, pp_size: 4, dp_size: 8, ep_size: 8, overlap: {ep: true}}\n"},
     Target::megatron,
     kWithoutViolations,
     when<has_invalid_ep_overlap, describe_ep_overlap>,
     has_invalid_ep_overlap},
    {{"RW0556", Severity::error, "Megatron-LM cannot recompute these modules",
      "mla_up_proj is a part of latent attention, and moe_act of experts that compute in one "
      "grouped kernel. Megatron-LM stops if the model has neither.",
      "Remove the module from recompute.",
      "Megatron-LM core/transformer/transformer_config.py, recompute_modules",
      "world_size: 8\n"
      "model: llama-3.1-8b\n"
      "parallelism: {dp_size: 8, zero_stage: 1, recompute: {modules: [mla_up_proj]}}\n"},
     Target::megatron,
     kWithoutViolations,
     when<has_unsupported_modules, describe_modules>,
     has_unsupported_modules},
    {{"RW0534", Severity::error, "this release of the framework lacks a setting of the plan",
      "DeepEP came with Megatron Core 0.12, overlapped dispatch and combine with 0.14, HybridEP "
      "with 0.16, and fused kernels of experts with 0.18. NeMo containers have them since 25.09, "
      "HybridEP since 25.11 and fused kernels since 26.06.",
      "Remove the setting, or use a newer software.release.",
      "Megatron-LM core/transformer/transformer_config.py at the tags of its releases; "
      "Megatron-Bridge docs/releases/software-versions.md",
      "world_size: 16\n"
      "model: qwen3-30b-a3b\n"
      "parallelism: {tp_size: 1, dp_size: 16, ep_size: 8, dispatcher: hybridep}\n"
      "software: {release: 0.14}\n"},
     Target::megatron,
     kWithoutViolations,
     when<lacks_in_release, describe_release>,
     lacks_in_release},
    {{"RW0574", Severity::error, "Megatron-LM cannot delay weight gradients here",
      "--delay-wgrad-compute moves weight gradients beside the dispatch and combine of another "
      "micro-batch. Megatron-LM requires --overlap-moe-expert-parallel-comm with it, and refuses "
      "CUDA graphs of attention with biases while gradient reduction overlaps.",
      "Set overlap.ep: true, or overlap.wgrad: false.",
      "Megatron-LM core/transformer/transformer_config.py and training/arguments.py, "
      "delay_wgrad_compute",
      "world_size: 16\n"
      "model: qwen3-30b-a3b\n"
      "parallelism: {tp_size: 1, dp_size: 16, ep_size: 8, overlap: {wgrad: true}}\n"},
     Target::megatron,
     kWithoutViolations,
     when<has_invalid_wgrad_delay, describe_wgrad_delay>,
     has_invalid_wgrad_delay},
};

}  // namespace
}  // namespace megatron_impl

std::span<const Rule> megatron_rules() { return megatron_impl::kRules; }

}  // namespace rankwright::rules
