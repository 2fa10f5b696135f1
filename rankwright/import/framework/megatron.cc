// Reads Megatron-LM's flags (checked against main of 2026-08, core 0.20 dev) from launch scripts
// and from the argument dumps of logs.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "rankwright/base/format.h"
#include "rankwright/base/quantity.h"
#include "rankwright/import/framework/foreign.h"
#include "rankwright/import/framework/megatron_forks.h"
#include "rankwright/import/framework/megatron_model.h"
#include "rankwright/import/framework/recipe_script.h"
#include "rankwright/import/framework/recipes.h"
#include "rankwright/import/framework/script_report.h"
#include "rankwright/import/plan/plan_format.h"
#include "rankwright/import/script/recipe_defaults.h"
#include "rankwright/import/script/script_flags.h"

namespace rankwright::importer {
namespace {

void read_mapping(ForeignReading& r, const YamlNode&) {
  r.draft.order =
      mesh::Order{mesh::Axis::tp, mesh::Axis::cp, mesh::Axis::ep, mesh::Axis::pp, mesh::Axis::dp};
}

void read_cp_comm(ForeignReading& r, const YamlNode& node) {
  constexpr Word<plan::CpComm> kWords[] = {{"p2p", plan::CpComm::p2p},
                                           {"all_gather", plan::CpComm::all_gather},
                                           {"allgather", plan::CpComm::all_gather},
                                           {"a2a", plan::CpComm::a2a},
                                           {"a2a+p2p", plan::CpComm::a2a}};
  YamlNode first = node;
  first.scalar = node.scalar.substr(0, node.scalar.find(' '));
  r.draft.cp_comm = parse_word(r, first, kWords);
}

void read_megatron_optimizer(ForeignReading& r, const YamlNode& node) {
  constexpr Word<plan::Optimizer> kWords[] = {
      {"adam", plan::Optimizer::adam}, {"sgd", plan::Optimizer::sgd},
      {"muon", plan::Optimizer::muon}, {"dist_muon", plan::Optimizer::muon},
      {"lion", plan::Optimizer::lion}, {"adamw", plan::Optimizer::adam}};
  for (const Word<plan::Optimizer>& known : kWords)
    if (node.scalar == known.word) {
      r.draft.optimizer = known.value;
      return;
    }
  report_left_out(r, node, "--optimizer: estimated with Adam's states");
}

/// Reads MindSpeed's choice of an optimizer; forks have more of them.
void read_selected_optimizer(ForeignReading& r, const YamlNode& node) {
  constexpr std::string_view kAdam[] = {"fused_adamw", "fused_torch_adamw"};
  if (std::find(std::begin(kAdam), std::end(kAdam), node.scalar) == std::end(kAdam))
    report_left_out(r, node,
                    fmt::format("optimizer-selection {}: estimated with Adam's states",
                                make_excerpt(node.scalar)));
}

/// Reads the length of an encoder's sequences, which is that of all sequences if no other is given.
void read_encoder_length(ForeignReading& r, const YamlNode& node) {
  if (find_path(r.root, "seq-length") == nullptr)
    r.draft.sequence = r.fields.whole(node, 1, kMaxSequence);
}

/// Reads a format of the precision-aware optimizer; without it the flags have no effect.
template <std::optional<plan::Dtype> Draft::*member>
void read_optimizer_dtype(ForeignReading& r, const YamlNode& node) {
  if (find_path(r.root, "use-precision-aware-optimizer") == nullptr) return;
  const bool torch = node.scalar == "torch.bfloat16" || node.scalar == "bfloat16";
  if (torch) r.draft.*member = plan::Dtype::bf16;
  for (const plan::DtypeRow& row : plan::dtypes())
    if (node.scalar == row.name) r.draft.*member = row.dtype;
}

/// Reads the part of the states that --optimizer-cpu-offload moves; without it the flag has no
/// effect.
void read_offload_fraction(ForeignReading& r, const YamlNode& node) {
  if (find_path(r.root, "optimizer-cpu-offload") == nullptr) return;
  r.draft.offload_optimizer = r.fields.number(node, 0, 1);
}

void read_granularity(ForeignReading& r, const YamlNode& node) {
  constexpr Word<plan::Recompute> kWords[] = {{"full", plan::Recompute::full},
                                              {"selective", plan::Recompute::selective},
                                              {"none", plan::Recompute::none}};
  const bool listed =
      std::any_of(std::begin(kWords), std::end(kWords),
                  [&](const Word<plan::Recompute>& one) { return one.word == node.scalar; });
  if (!listed && r.known == nullptr) {  // a fork may have words of its own
    r.draft.recompute = plan::Recompute::none;
    return report_left_out(r, node,
                           fmt::format("recompute-granularity {}: estimated without recomputation",
                                       make_excerpt(node.scalar)));
  }
  r.draft.recompute = parse_word(r, node, kWords);
}

/// Reads Megatron-DeepSpeed's experts beside a dense layer.
void read_mlp_type(ForeignReading& r, const YamlNode& node) {
  if (node.scalar == "residual")
    report_left_out(r, node, "mlp-type residual: estimated without the dense layer beside experts");
}

void read_recompute_activations(ForeignReading& r, const YamlNode&) {
  r.draft.recompute = plan::Recompute::selective;
}

/// The name of full recompute in older versions.
void read_checkpoint_activations(ForeignReading& r, const YamlNode& node) {
  if (r.fields.flag(node) == true) r.draft.recompute = plan::Recompute::full;
}

void read_capacity(ForeignReading& r, const YamlNode& node) {
  constexpr double kMin = 0.01, kMax = 100;
  r.draft.expert_capacity = r.fields.number(node, kMin, kMax);
}

void read_grouped(ForeignReading& r, const YamlNode& node) {
  if (r.fields.flag(node) == true) r.draft.expert_kernel = plan::ExpertKernel::grouped;
}

void read_loss_fusion(ForeignReading& r, const YamlNode& node) {
  if (!is_off(node)) r.draft.loss = plan::Loss::fused;
}

void read_graphs(ForeignReading& r, const YamlNode& node) {
  r.draft.launch = node.scalar == "none" ? plan::Launch::eager : plan::Launch::graphs;
}

void read_attention(ForeignReading& r, const YamlNode& node) {
  constexpr Word<plan::AttentionKernel> kWords[] = {{"flash", plan::AttentionKernel::flash2},
                                                    {"fused", plan::AttentionKernel::fused},
                                                    {"unfused", plan::AttentionKernel::unfused},
                                                    {"local", plan::AttentionKernel::unfused}};
  std::string word = node.scalar.substr(node.scalar.find('.') + 1);  // AttnBackend.flash
  if (word == "auto") return;
  YamlNode bare = node;
  bare.scalar = std::move(word);
  r.draft.attention = parse_word(r, bare, kWords);
}

/// MindSpeed's algorithms of context parallelism.
void read_cp_algorithm(ForeignReading& r, const YamlNode& node) {
  constexpr Word<plan::CpComm> kWords[] = {{"megatron_cp_algo", plan::CpComm::p2p},
                                           {"ulysses_cp_algo", plan::CpComm::a2a},
                                           {"kvallgather_cp_algo", plan::CpComm::all_gather}};
  for (const Word<plan::CpComm>& known : kWords)
    if (node.scalar == known.word) {
      r.draft.cp_comm = known.value;
      return;
    }
  report_left_out(r, node, "context-parallel-algo: estimated as a single ring or all-to-all");
}

void read_flash(ForeignReading& r, const YamlNode& node) {
  if (!is_off(node)) r.draft.attention = plan::AttentionKernel::flash2;
}

/// The name of full recomputation before --recompute-method.
void read_old_recompute(ForeignReading& r, const YamlNode& node) {
  if (node.scalar == "uniform" || node.scalar == "block") r.draft.recompute = plan::Recompute::full;
}

/// Reads the layers that a script takes from a module. Those of Qwen3-Next and Qwen3.5 are not all
/// attention, which flags do not state.
void read_spec(ForeignReading& r, const YamlNode& node) {
  const bool stated = find_path(r.root, "linear-attention-freq") != nullptr;
  for (const std::string_view name : {"qwen3_5", "qwen3_next"})
    if (node.scalar.find(name) != std::string::npos && !stated)
      report_left_out(r, node,
                      fmt::format("spec {}: layers of linear attention are estimated as softmax "
                                  "attention",
                                  make_excerpt(node.scalar)));
}

/// NeMo's weights are in fp32 without this switch; they are in any case if the run is in fp32.
void read_wide_weights(ForeignReading& r, const YamlNode& node) {
  if (!is_on(r, "fp32"))
    report_left_out(r, node, "megatron_amp_O2: weights are estimated in 16 bits, not in fp32");
}

constexpr std::string_view kTeacher = "only the trained model is counted, without its teacher";
constexpr std::string_view kAsStated = "times and memory do not include it";
constexpr std::string_view kOnlyLanguage = "only the language model is estimated";

// Rows that several flags decide together have no reader: see fill_in_flags().
constexpr ForeignKey kMegatronKeys[] = {
    {"nodes", "node_shape"},
    {"gpus-per-node", "node_shape"},
    {"world-size", "world_size"},
    {"data-parallel-size", "parallelism.dp_size", whole<&Draft::dp, kMaxDegree>},
    {"tensor-model-parallel-size", "parallelism.tp_size", whole<&Draft::tp, kMaxDegree>, true},
    {"context-parallel-size", "parallelism.cp_size", whole<&Draft::cp, kMaxContext>, true},
    {"pipeline-model-parallel-size", "parallelism.pp_size", whole<&Draft::pp, kMaxDegree>, true},
    {"expert-model-parallel-size", "parallelism.ep_size", whole<&Draft::ep, kMaxDegree>, true},
    {"expert-tensor-parallel-size", "parallelism.etp_size", whole<&Draft::etp, kMaxDegree>, true},
    {"moe-tp-extend-ep", "parallelism.etp_size"},  // MindSpeed
    {"use-tp-pp-dp-mapping", "parallelism.order", read_mapping},
    {"use-megatron-fsdp", "parallelism.zero_stage"},
    {"use-custom-fsdp", "parallelism.zero_stage"},
    {"use-torch-fsdp2", "parallelism.zero_stage"},
    {"data-parallel-sharding-strategy", "parallelism.zero_stage"},
    {"use-distributed-optimizer", "parallelism.zero_stage"},
    {"zero-stage", "parallelism.zero_stage"},
    {"deepspeed-config", "parallelism.zero_stage"},
    {"num-distributed-optimizer-instances", "parallelism.shard_size"},
    {"ddp-bucket-size", "parallelism.bucket_size", whole<&Draft::bucket_size, kMaxBucket>, true},
    {"sequence-parallel", "parallelism.sequence_parallel", flag<&Draft::sequence_parallel>},
    {"cp-comm-type", "parallelism.cp_comm", read_cp_comm, true},
    {"context-parallel-algo", "parallelism.cp_comm", read_cp_algorithm},  // MindSpeed
    {"micro-batch-size", "parallelism.micro_batch", whole<&Draft::micro_batch, kMaxMicroBatch>,
     true},
    {"num-virtual-stages-per-pipeline-rank", "parallelism.virtual_stages", nullptr, true},
    {"num-layers-per-virtual-pipeline-stage", "parallelism.virtual_stages"},
    {"virtual-pipeline-model-parallel-size", "parallelism.virtual_stages"},
    {"transformer-pipeline-model-parallel-size", ""},  // in a dump: derived from the stages
    {"microbatch-group-size-per-virtual-pipeline-stage", "parallelism.microbatch_group",
     whole<&Draft::microbatch_group, plan::kMaxBatch>, true},
    {"microbatch-group-size-per-vp-stage", "parallelism.microbatch_group",
     whole<&Draft::microbatch_group, plan::kMaxBatch>},
    {"pipeline-model-parallel-layout", "parallelism.stages", nullptr, true},
    {"num-layers-per-virtual-pipeline-stage", "parallelism.stages"},
    {"decoder-first-pipeline-num-layers", "parallelism.stages"},
    {"decoder-last-pipeline-num-layers", "parallelism.stages"},
    {"account-for-embedding-in-pipeline-split", "parallelism.stages"},
    {"account-for-loss-in-pipeline-split", "parallelism.stages"},
    {"pp-partition-method", "parallelism.stages"},  // Megatron-DeepSpeed
    {"noop-layers", "parallelism.stages"},          // MindSpeed
    {"recompute-activations", "parallelism.recompute", read_recompute_activations},
    {"recompute-granularity", "parallelism.recompute", read_granularity},
    {"recompute-method", "parallelism.recompute"},
    {"recompute-num-layers", "parallelism.recompute"},
    {"recompute-modules", "parallelism.recompute"},
    {"moe-layer-recompute", "parallelism.recompute", nullptr, false,
     "the estimate keeps the activations of experts"},
    {"checkpoint-activations", "parallelism.recompute", read_checkpoint_activations},
    {"overlap-grad-reduce", "parallelism.overlap.grad_reduce", flag<&Draft::overlap_grad>},
    {"overlap-param-gather", "parallelism.overlap.param_gather", flag<&Draft::overlap_param>},
    {"tp-comm-overlap", "parallelism.overlap.tp", flag<&Draft::overlap_tp>},
    {"no-overlap-p2p-communication", "parallelism.overlap.pp"},
    {"overlap-moe-expert-parallel-comm", "parallelism.overlap.ep", flag<&Draft::overlap_ep>},
    {"delay-wgrad-compute", "parallelism.overlap.wgrad", flag<&Draft::overlap_wgrad>},
    {"moe-token-dispatcher-type", "parallelism.dispatcher", read_dispatcher_type, true},
    {"moe-flex-dispatcher-backend", "parallelism.dispatcher"},
    {"moe-enable-deepep", "parallelism.dispatcher"},
    {"global-batch-size", "job.global_batch", whole<&Draft::global_batch, plan::kMaxBatch>, true},
    {"gradient-accumulation-steps", "job.global_batch",
     whole<&Draft::accumulation, plan::kMaxBatch>},
    {"seq-length", "job.sequence", whole<&Draft::sequence, kMaxSequence>, true},
    {"encoder-seq-length", "job.sequence", read_encoder_length},
    {"bf16", "job.param_dtype"},
    {"fp16", "job.param_dtype"},
    {"fp32", "job.param_dtype"},  // of recipes
    {"grad-reduce-in-bf16", "job.grad_dtype"},
    {"main-grads-dtype", "job.grad_dtype"},
    {"megatron-fsdp-main-grads-dtype", "job.grad_dtype"},
    {"accumulate-allreduce-grads-in-fp32", "job.grad_dtype"},
    {"fp8-format", "job.matmul"},
    {"fp8-recipe", "job.matmul"},
    {"fp4-format", "job.matmul"},
    {"activation-func-fp8-input-store", "job.fp8_swiglu_input", flag<&Draft::fp8_swiglu_input>},
    {"optimizer", "job.optimizer", read_megatron_optimizer},
    {"optimizer-selection", "job.optimizer", read_selected_optimizer},  // MindSpeed
    {"cuda-graph-impl", "software.launch", read_graphs},
    {"enable-cuda-graph", "software.launch", read_graphs},
    {"external-cuda-graph", "software.launch", read_graphs},
    {"attention-backend", "software.attention", read_attention},
    {"cross-entropy-loss-fusion", "software.loss", read_loss_fusion},
    {"encoder-tensor-model-parallel-size", "", nullptr, false, "plans have no encoder"},
    {"encoder-pipeline-model-parallel-size", "", nullptr, false, "plans have no encoder"},
    {"rampup-batch-size", "", nullptr, false, "the batch grows to the estimated one"},
    {"hierarchical-context-parallel-sizes", "", nullptr, false,
     "estimated as a single ring or all-to-all"},
    {"overlap-param-gather-with-optimizer-step", "", nullptr, false, kAsStated},
    {"moe-shared-expert-overlap", "", nullptr, false, kAsStated},
    {"moe-latent-size", "", nullptr, false, "experts are estimated as wide as the layer"},
    {"torch-fsdp2-no-reshard-after-forward", "parallelism.zero_stage"},
    {"DDP-impl", "software.attention"},  // before 2023
    {"data-impl", "software.attention"},
    {"layernorm-epsilon", "software.attention"},  // before 2024
    {"no-query-key-layer-scaling", "software.attention"},
    {"use-mcore-models", "software.attention"},
    {"distribute-saved-activations", "", nullptr, false, kAsStated},
    {"distribute-checkpointed-activations", "", nullptr, false, kAsStated},  // its name of 2021
    {"partition-activations", "", nullptr, false, kAsStated},                // and DeepSpeed's
    {"cpu-offloading-num-layers", "", nullptr, false, "activations are counted on the GPU"},
    {"fine-grained-activation-offloading", "", nullptr, false,
     "activations are counted on the GPU"},
    {"optimizer-cpu-offload", "parallelism.offload.optimizer", read_offload_optimizer},
    {"optimizer-offload-fraction", "parallelism.offload.optimizer", read_offload_fraction},
    {"use-precision-aware-optimizer", "job.moment_dtype"},
    {"exp-avg-dtype", "job.moment_dtype", read_optimizer_dtype<&Draft::moment_dtype>},
    {"exp-avg-sq-dtype", "job.moment_dtype", read_optimizer_dtype<&Draft::moment_dtype>},
    {"main-params-dtype", "job.master_dtype", read_optimizer_dtype<&Draft::master_dtype>},
    {"fp8-param-gather", "", nullptr, false, "estimated with 16-bit parameters"},
    {"fp4-param-gather", "", nullptr, false, "estimated with 16-bit parameters"},
    {"moe-expert-capacity-factor", "job.expert_capacity", read_capacity},
    {"moe-pad-expert-input-to-capacity", "job.expert_capacity"},
    {"moe-grouped-gemm", "software.expert_kernel", read_grouped},
    {"moe-permute-fusion", "software.fused_permute", flag<&Draft::fused_permute>},
    {"lora-rank", "job.lora_rank", read_lora_rank},
    {"virtual-prompt-style", "job.lora_rank", refuse_partial_training},  // NeMo's other adapters
    {"target-modules", "job.lora_modules", read_lora_targets},
    {"tuner-type", "job.lora_rank"},
    {"train-type", "job.lora_rank"},
    {"use-flash-attn", "software.attention", read_flash},
    {"use-flash-attn-v1", "software.attention", read_flash},
    {"use-flash-attn-v2", "software.attention", read_flash},
    {"use-flash-attn-triton", "software.attention", read_flash},
    {"use-flash-attn-builder", "software.attention", read_flash},
    {"transformer-impl", "software.attention"},
    {"activations-checkpoint-method", "parallelism.recompute", read_old_recompute},
    {"activations-checkpoint-num-layers", "parallelism.recompute"},
    {"checkpoint-num-layers", "parallelism.recompute"},
    {"swap-optimizer", "parallelism.offload.optimizer", read_offload_optimizer, false,
     "estimated with an update on the host"},
    {"reuse-fp32-param", "", nullptr, false, "estimated with bf16 parameters beside fp32 copies"},
    {"swap-attention", "", nullptr, false, "activations are counted on the GPU"},
    {"activation-offload", "", nullptr, false, "activations are counted on the GPU"},
    {"recompute-activation-function", "", nullptr, false, kAsStated},
    {"recompute-norm", "", nullptr, false, kAsStated},
    {"cpu-optimizer", "parallelism.offload.optimizer", read_offload_optimizer},
    {"fp32-residual-connection", "", nullptr, false,
     "residuals are estimated in the format of the parameters"},
    {"attention-output-gate", "", nullptr, false, "attention is estimated without the gate"},
    {"spec", "", read_spec},
    {"linear-attention-freq", "", nullptr, false,
     "the estimate treats all layers as softmax attention"},
    {"heterogeneous-layers-config-path", "", nullptr, false,
     "the estimate has the same shapes in all layers"},
    {"load-teacher", "", nullptr, false, kTeacher},
    {"teacher-model", "", nullptr, false, kTeacher},
    {"export-kd-teacher-load", "", nullptr, false, kTeacher},
    {"freeze-LM", "", nullptr, false, kAllTrained},
    {"freeze-llm", "", nullptr, false, kAllTrained},
    {"freeze-vit", "", nullptr, false, kOnlyLanguage},
    {"modules-to-save", "", nullptr, false, "only the adapters are estimated as trained"},
    {"mos", "", nullptr, false, kTeacher},
    {"mlp-type", "", read_mlp_type},
    {"retro-add-retriever", "", nullptr, false, "the retriever is not estimated"},
    {"vision-model-type", "", nullptr, false, kOnlyLanguage},
    {"vision-tower", "", nullptr, false, kOnlyLanguage},
    {"disable-vision-class-token", "", nullptr, false, kOnlyLanguage},
    {"is-hybrid-model", "model"},
    // Flags of MindSpeed:
    {"num-layer-list", "parallelism.stages"},
    {"recompute-in-advance", "", nullptr, false, kAsStated},
    {"recompute-in-bubble", "", nullptr, false, kAsStated},
    {"enable-recompute-layers-per-pp-rank", "", nullptr, false,
     "layers to recompute are counted per virtual stage"},
    {"moe-zero-memory", "", nullptr, false, "the estimate keeps the activations of experts"},
    {"moe-alltoall-overlap-comm", "", nullptr, false, kAsStated},
    {"moe-fb-overlap", "", nullptr, false, kAsStated},
    {"use-ascend-mc2", "", nullptr, false, kAsStated},
    {"use-mc2", "", nullptr, false, kAsStated},
    {"use-ascend-coc", "", nullptr, false, kAsStated},
    {"schedules-method", "", nullptr, false, "estimated with Megatron-LM's schedule"},
    {"tp-2d", "", nullptr, false, "estimated with tensor parallelism of one dimension"},
    {"fsdp2-config-path", "", nullptr, false, "the settings of FSDP2 in it are not read"},
    {"o2-optimizer", "", nullptr, false, "optimizer states are estimated in fp32"},
    {"lu-lora-final-layer-index", "", nullptr, false, "adapters are estimated in all layers"},
    {"num-zero-experts", "", nullptr, false, "all experts are estimated as computing"},
    {"interleave-sliding-window", "", nullptr, false, "attention is estimated without the window"},
    {"sliding-window", "", nullptr, false, "attention is estimated without the window"},
    {"full-attention-interval", "", nullptr, false,
     "the estimate treats all layers as softmax attention"},
    {"mamba-d-conv", "", nullptr, false, "layers of Mamba are estimated as softmax attention"},
    {"use-checkpoint-args", "model", nullptr, false,
     "the shapes that the checkpoint states replace those of the flags"},
    {"no-megatron-amp-O2", "", read_wide_weights},
    {"hybrid-override-pattern", "", nullptr, false,
     "the estimate treats all layers as attention layers"},
    {"hybrid-layer-pattern", "", nullptr, false,
     "the estimate treats all layers as attention layers"},
};

bool is_read(std::string_view flag) {
  for (const std::string_view name :
       {"model", "max-length", "name-or-path", "model-name-or-path", "hf-model-id",
        "restore-from-path", "num-npus", "mini-batch-size", "n-samples-per-prompt",
        "attention-dropout"})
    if (flag == name) return true;  // of forks and recipes
  const std::span<const std::string_view> shapes = megatron_model_flags();
  return std::find(shapes.begin(), shapes.end(), flag) != shapes.end() ||
         std::any_of(std::begin(kMegatronKeys), std::end(kMegatronKeys),
                     [&](const ForeignKey& row) { return row.path == flag; });
}

/// Flags that later versions of Megatron-LM do not have. Recipes have keys with the names of the
/// second list today.
constexpr std::string_view kOldFlags[] = {"DDP-impl", "data-impl", "checkpoint-activations",
                                          "activations-checkpoint-method"};
constexpr std::string_view kOldNames[] = {"layernorm-epsilon", "no-query-key-layer-scaling"};

void fill_world(ForeignReading& r) {
  constexpr i64 kMaxGpus = 4096;  // per node
  Draft& d = r.draft;
  const std::optional<i64> nodes = read_whole_at(r, "nodes", 1, kMaxDegree);
  const std::optional<i64> gpus = read_whole_at(r, "gpus-per-node", 1, kMaxGpus);
  keep_node_gpus(gpus, d);
  const std::optional<i64> both = nodes && gpus ? product({*nodes, *gpus}) : std::nullopt;
  if (both && *both <= cluster::kMaxDevices) d.shape = NodeShape{.nodes = *nodes, .gpus = *gpus};
  if (!d.shape) d.world = read_whole_at(r, "world-size", 1, cluster::kMaxDevices);
}

int megatron_zero(ForeignReading& r) {
  if (is_on(r, "use-torch-fsdp2")) return is_on(r, "torch-fsdp2-no-reshard-after-forward") ? 2 : 3;
  if (is_on(r, "use-megatron-fsdp") || is_on(r, "use-custom-fsdp")) {
    const YamlNode* const strategy = find_path(r.root, "data-parallel-sharding-strategy");
    constexpr Word<int> kWords[] = {
        {"no_shard", 0}, {"optim", 1}, {"optim_grads", 2}, {"optim_grads_params", 3}};
    return strategy == nullptr ? 0 : parse_word(r, *strategy, kWords).value_or(0);
  }
  if (const YamlNode* const stage = find_path(r.root, "zero-stage")) {  // Megatron-DeepSpeed
    constexpr Word<int> kStages[] = {{"0", 0}, {"1", 1}, {"2", 2}, {"3", 3}};
    return parse_word(r, *stage, kStages).value_or(0);
  }
  return is_on(r, "use-distributed-optimizer") ? 1 : 0;
}

/// The optimizer instances divide the data ranks, whose number follows from the world size.
void fill_shards(ForeignReading& r) {
  const Draft& d = r.draft;
  const std::optional<i64> instances =
      read_whole_at(r, "num-distributed-optimizer-instances", 1, kMaxDegree);
  if (!instances || *instances == 1) return;
  std::optional<i64> world = d.world;
  if (d.shape) world = d.shape->nodes * d.shape->gpus;
  const std::optional<i64> stages = product({d.tp.value_or(1), d.pp.value_or(1)});
  const bool known =
      world && stages && divides(*stages, *world) && divides(*instances, *world / *stages);
  if (known) {
    r.draft.shard_size = *world / *stages / *instances;
    return;
  }
  const YamlNode& node = *find_path(r.root, "num-distributed-optimizer-instances");
  r.fields.report(
      node,
      {.code = "RW0601",
       .severity = Severity::warning,
       .message = "the estimate does not include this setting",
       .detail = fmt::format(
           "num-distributed-optimizer-instances: needs a world size that {} divides", *instances)});
}

/// Reads the modules of selective recomputation. Reports those that the estimate keeps.
plan::RecomputeModules read_recompute_modules(ForeignReading& r, const YamlNode& node) {
  plan::RecomputeModules modules{.core_attn = false};
  std::string_view rest = node.scalar;
  if (rest.starts_with('[') && rest.ends_with(']')) rest = rest.substr(1, rest.size() - 2);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find_first_of(" ,"), rest.size());
    const std::string_view word = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    bool known = word.empty();
    for (const plan::RecomputeModuleRow& row : plan::recompute_modules()) {
      if (word != row.name) continue;
      modules.*row.field = true;
      known = true;
    }
    if (!known)
      r.fields.report(node, {.code = "RW0601",
                             .severity = Severity::warning,
                             .message = "the estimate does not include this setting",
                             .detail = fmt::format("recompute-modules: {} is counted as kept",
                                                   make_excerpt(word, 40))});
  }
  return modules;
}

void fill_recompute(ForeignReading& r, bool by_recipe) {
  Draft& d = r.draft;
  if (!d.recompute) d.recompute = plan::Recompute::none;
  const YamlNode* const granularity_at = find_path(r.root, "recompute-granularity");
  const YamlNode* method = find_path(r.root, "recompute-method");
  if (method == nullptr) method = find_path(r.root, "activations-checkpoint-method");
  const YamlNode* const modules = find_path(r.root, "recompute-modules");
  std::optional<i64> layers = read_whole_at(r, "recompute-num-layers", 0, model::kMaxLayers);
  if (!layers) layers = read_whole_at(r, "activations-checkpoint-num-layers", 0, model::kMaxLayers);
  // NeMo recomputes the first layers of a stage: none. Megatron-LM's layers recompute attention in
  // all of them.
  const YamlNode* const layer = find_path(r.root, "transformer-impl");
  const bool core = layer != nullptr && layer->scalar == "transformer_engine" &&
                    d.recompute == plan::Recompute::selective;
  if (by_recipe && layers == 0 && method != nullptr && method->scalar == "block" && !core)
    d.recompute = plan::Recompute::none;
  if (layers == 0) layers.reset();  // Megatron-LM ignores it, as it ignores None
  if (by_recipe && layers && method != nullptr && method->scalar == "block" && !core &&
      d.recompute == plan::Recompute::selective)
    report_left_out(r, *method,
                    fmt::format("attention is recomputed in the first {} of each stage, and "
                                "estimated as in all layers",
                                plural(*layers, "layer", "layers")));
  const auto refuse = [&](const YamlNode& at, std::string detail) {
    r.fields.report(at, {.code = "RW0616",
                         .severity = Severity::warning,
                         .message = "the framework rejects these settings together",
                         .detail = std::move(detail)});
  };
  // The number of layers is 1 by default in Megatron-DeepSpeed and in older versions.
  if (d.recompute == plan::Recompute::full && granularity_at != nullptr && !method && !by_recipe)
    refuse(*granularity_at,
           "full recomputation needs --recompute-method and --recompute-num-layers");
  if (d.recompute == plan::Recompute::selective && (method || layers) && !by_recipe)
    refuse(method ? *method : *find_path(r.root, "recompute-num-layers"),
           "selective recomputation does not allow --recompute-method or --recompute-num-layers");
  if (d.recompute == plan::Recompute::full && method && method->scalar == "block" && layers)
    d.recompute_layers = *layers;
  if (d.recompute == plan::Recompute::full && (!method || method->scalar == "uniform"))
    for (const char* const name :
         {"recompute-num-layers", "activations-checkpoint-num-layers", "checkpoint-num-layers"})
      if (const std::optional<i64> at_once = read_whole_at(r, name, 0, model::kMaxLayers);
          at_once > 1)
        report_layers_at_once(r, *find_path(r.root, name), *at_once);
  if (d.recompute == plan::Recompute::selective && modules)
    d.recompute_modules = read_recompute_modules(r, *modules);
}

/// Reads the dispatcher behind `flex`, and the kernels of experts, which are optional.
void fill_experts(ForeignReading& r) {
  if (find_path(r.root, "num-experts") != nullptr) {
    if (!r.draft.expert_kernel) r.draft.expert_kernel = plan::ExpertKernel::sequential;
    if (!r.draft.fused_permute) r.draft.fused_permute = false;
  }
  const YamlNode* const backend = find_path(r.root, "moe-flex-dispatcher-backend");
  if (r.draft.dispatcher == plan::Dispatcher::deepep && backend && backend->scalar == "hybridep")
    r.draft.dispatcher = plan::Dispatcher::hybridep;
}

void fill_numbers(ForeignReading& r, bool by_recipe) {
  Draft& d = r.draft;
  const bool fp16 = is_on(r, "fp16"), bf16 = is_on(r, "bf16");
  d.param_dtype = bf16 ? plan::Dtype::bf16 : fp16 ? plan::Dtype::fp16 : plan::Dtype::fp32;
  // bf16 accumulates in fp32 by default, fp16 only if told to.
  const bool half = fp16 && !is_on(r, "accumulate-allreduce-grads-in-fp32");
  d.grad_dtype = half ? plan::Dtype::fp16 : plan::Dtype::fp32;
  if (bf16 && is_on(r, "grad-reduce-in-bf16")) d.grad_dtype = plan::Dtype::bf16;
  const YamlNode* const main = find_path(r.root, "main-grads-dtype");
  if (bf16 && main != nullptr && main->scalar == "bf16") d.grad_dtype = plan::Dtype::bf16;
  // The gradients of Megatron-FSDP have the format of the parameters if it is `auto`.
  const YamlNode* const sharded = find_path(r.root, "megatron-fsdp-main-grads-dtype");
  if (bf16 && sharded != nullptr)
    d.grad_dtype = sharded->scalar == "fp32" ? plan::Dtype::fp32 : plan::Dtype::bf16;
  const YamlNode* const recipe = find_path(r.root, "fp8-recipe");
  if (find_path(r.root, "fp8-format") != nullptr)
    d.matmul =
        recipe != nullptr && recipe->scalar == "mxfp8" ? plan::Matmul::mxfp8 : plan::Matmul::fp8;
  if (find_path(r.root, "fp4-format") != nullptr) d.matmul = plan::Matmul::fp4;
  if (!d.optimizer) d.optimizer = plan::Optimizer::adam;
  if (by_recipe && !bf16 && !fp16 && !is_on(r, "fp32")) {  // recipes name it elsewhere
    d.param_dtype.reset();
    d.grad_dtype.reset();
    if (is_on(r, "grad-reduce-in-bf16")) d.grad_dtype = plan::Dtype::bf16;
  }
}

/// Sets the values that flags determine: a flag that is not given is off.
void fill_in_flags(ForeignReading& r, bool by_recipe) {
  Draft& d = r.draft;
  fill_world(r);
  if (!d.order) d.order = mesh::kDefaultOrder;
  if (is_on(r, "moe-tp-extend-ep")) {  // whole experts on the ranks of both groups
    d.ep = std::min(d.ep.value_or(1) * d.tp.value_or(1), kMaxDegree);
    d.etp = 1;
  }
  if (!d.etp) d.etp = d.tp.value_or(1);
  d.zero = megatron_zero(r);
  // Only the distributed optimizer gathers parameters; recipes have it on by default.
  if (by_recipe && d.zero == 0 && d.overlap_param == true) d.zero = 1;
  fill_shards(r);
  if (!d.sequence_parallel) d.sequence_parallel = false;
  if (!d.overlap_grad) d.overlap_grad = false;
  if (!d.overlap_param) d.overlap_param = false;
  read_megatron_stages(r);
  d.overlap_pp = d.virtual_stages.value_or(1) > 1 && !is_on(r, "no-overlap-p2p-communication");
  fill_recompute(r, by_recipe);
  fill_experts(r);
  fill_numbers(r, by_recipe);
  d.framework = plan::frameworks().front();
  // The layers of Megatron-LM itself write the scores of attention to memory, and fused kernels
  // have 16-bit formats only.
  const YamlNode* const layers = find_path(r.root, "transformer-impl");
  const bool local = layers != nullptr && layers->scalar == "local";
  // So do programs of before 2024, which have these flags, unless they are told otherwise.
  const auto stated = [&](std::string_view flag) { return find_path(r.root, flag) != nullptr; };
  const bool old =
      layers == nullptr && !is_on(r, "use-mcore-models") &&
      (std::any_of(std::begin(kOldFlags), std::end(kOldFlags), stated) ||
       (!by_recipe && std::any_of(std::begin(kOldNames), std::end(kOldNames), stated)));
  if ((local || old || d.param_dtype == plan::Dtype::fp32) && !d.attention)
    d.attention = plan::AttentionKernel::unfused;
}

/// The program accepted the values of its dump: one that cannot be read here is left out.
void weaken_value_errors(Diagnostics& findings) {
  for (Diagnostic& found : findings)
    if (found.severity == Severity::error) found.severity = Severity::warning;
}

/// Without a stated batch, the batch is one microbatch per data rank. A batch stated by an unknown
/// variable is left to defaults.
void fill_batch(ForeignReading& r, const ScriptFlags& flags) {
  const bool unknown = std::any_of(flags.unknown.begin(), flags.unknown.end(),
                                   [](const auto& one) { return one.flag == "global-batch-size"; });
  // Recipes state the whole batch: the key of another program beside it has no effect.
  if (flags.recipe && r.draft.global_batch) r.draft.accumulation.reset();
  if (!r.draft.global_batch && !r.draft.accumulation && !unknown) r.draft.accumulation = 1;
}

bool is_yaml_name(std::string_view file) {
  return file.ends_with(".yaml") || file.ends_with(".yml");
}

/// Returns whether a YAML file has Megatron-LM's degrees as keys, and is not a configuration of
/// reinforcement learning, which has several models.
bool has_yaml_arguments(std::string_view text) {
  for (const std::string_view other :
       {"actor_rollout_ref", "grpo:", "distributed_type:", "policy_trainer:", "actor_train:"})
    if (text.find(other) != std::string_view::npos) return false;
  if (text.find("pre_trainer:") != std::string_view::npos &&
      text.find("framework: megatron") != std::string_view::npos)
    return true;
  // FlagScale's file names another one that has them.
  if (text.find("defaults:") != std::string_view::npos &&
      text.find("backend: megatron") != std::string_view::npos)
    return true;
  const auto has = [&](std::string_view key) { return text.find(key) != std::string_view::npos; };
  // Overrides of a recipe of Megatron-Bridge need not state degrees.
  if (has("micro_batch_size:") && has("global_batch_size:") && !has("policy:") &&
      (has("grad_reduce_in_fp32:") || has("use_megatron_fsdp:") || has("train_iters:")))
    return true;
  constexpr std::string_view kKeys[] = {
      "tensor_model_parallel_size:", "tensor-model-parallel-size:",
      "pipeline_model_parallel_size:"};
  return std::any_of(std::begin(kKeys), std::end(kKeys), has);
}

/// Keeps a flag whose value is unknown where its presence matters: a file of merges is one of
/// GPT-2's tokenizer, wherever it is.
void keep_presence(ScriptFlags& flags, std::string_view name) {
  for (const ScriptFlags::Unknown& one : flags.unknown)
    if (one.flag == name && flags.map.find(name) == nullptr) {
      YamlEntry entry{one.place, one.place};
      entry.key.scalar = name;
      entry.value.scalar = "unknown";
      flags.map.entries.push_back(std::move(entry));
      return;
    }
}

/// Reports a program of Megatron-DeepSpeed that is named after preference optimization
/// ("dpo_training.py"), which no flag states.
void report_preference_program(ForeignReading& r, const ScriptFlags& flags) {
  constexpr std::string_view kMethod = "dpo";
  const auto is_letter = [&](std::size_t at) {
    return at < flags.program.size() && std::isalpha(static_cast<unsigned char>(flags.program[at]));
  };
  for (std::size_t at = flags.program.find(kMethod); at != std::string::npos;
       at = flags.program.find(kMethod, at + 1))
    if ((at == 0 || !is_letter(at - 1)) && !is_letter(at + kMethod.size()))
      return report_left_out(r, flags.map,
                             fmt::format("{}: estimated as pretraining, without the reference "
                                         "model of DPO",
                                         make_excerpt(flags.program)));
}

/// Sets the kernel of attention that Transformer Engine chooses if the script turns others off. The
/// layers of Megatron-LM itself, and --attention-backend, do not depend on these variables.
void disable_kernels(ForeignReading& r, const ScriptFlags& flags) {
  const YamlNode* const stated = find_path(r.root, "attention-backend");
  const YamlNode* const layers = find_path(r.root, "transformer-impl");
  if (stated != nullptr || (layers != nullptr && layers->scalar == "local")) return;
  if (!flags.disabled_kernels.contains("NVTE_FLASH_ATTN")) return;
  if (flags.disabled_kernels.contains("NVTE_FUSED_ATTN"))
    r.draft.attention = plan::AttentionKernel::unfused;
  else if (r.draft.attention != plan::AttentionKernel::unfused)
    r.draft.attention = plan::AttentionKernel::fused;
}

/// Reports dropout in unfused attention, which keeps a mask and the dropped scores for the backward
/// pass. It is on by default (arguments.py: --attention-dropout 0.1); recipes have other defaults,
/// and dumps state every argument.
void report_attention_dropout(ForeignReading& r, const ScriptFlags& flags, bool dump,
                              PlanFile& plan) {
  constexpr const char* kFlag = "attention-dropout";
  const Draft& d = r.draft;
  const bool again = d.recompute == plan::Recompute::full ||
                     (d.recompute == plan::Recompute::selective &&
                      d.recompute_modules.value_or(plan::RecomputeModules{}).core_attn);
  const bool unfused =
      d.attention ? d.attention == plan::AttentionKernel::unfused
                  : d.framework && d.framework->attention == plan::AttentionKernel::unfused;
  if (!unfused || again) return;
  const YamlNode* const stated = find_path(r.root, kFlag);
  // NeMo 1.x has the same default, whose configs leave it out (megatron_gpt_model.py).
  const bool nemo = flags.recipe && plan.text.find("megatron_amp_O2") != std::string::npos &&
                    plan.text.find("transformer_engine:") != std::string::npos;
  if (stated == nullptr && ((flags.recipe && !nemo) || dump || !is_open(flags, kFlag))) return;
  const std::string rate = stated == nullptr ? "0.1" : stated->scalar;
  if (rate.find_first_of("123456789") == std::string::npos) return;  // 0.0
  report_left_out(r, stated == nullptr ? r.root : *stated,
                  fmt::format("{} {}{}: the masks and dropped scores of unfused attention are not "
                              "estimated",
                              kFlag, make_excerpt(rate), stated == nullptr ? ", by default" : ""));
  std::erase(plan.ignored_keys, kFlag);
}

/// Returns whether the text sets CUDA_DEVICE_MAX_CONNECTIONS to 1, in a shell or in JSON.
bool sets_one_connection(std::string_view text) {
  constexpr std::string_view kName = "CUDA_DEVICE_MAX_CONNECTIONS";
  for (std::size_t at = text.find(kName); at != std::string_view::npos;
       at = text.find(kName, at + 1)) {
    const std::size_t value = text.find_first_not_of(" =:\"'\\", at + kName.size());
    if (value == std::string_view::npos || text[value] != '1') continue;
    if (value > at + kName.size() &&
        !std::isdigit(static_cast<unsigned char>(value + 1 < text.size() ? text[value + 1] : ' ')))
      return true;
  }
  return false;
}

/// Returns whether flags state to what the vocabulary is padded, and not the usual multiple of 128.
bool states_padding(const ForeignReading& r) {
  const YamlNode* const unit = find_path(r.root, "make-vocab-size-divisible-by");
  return (unit != nullptr && unit->scalar != "128") ||
         find_path(r.root, "padded-vocab-size") != nullptr;
}

/// Takes the recipe that a YAML config builds on, "recipe: {_target_:
/// a.b.llama3_8b_pretrain_config}".
void name_recipe_of(const YamlNode& root, ScriptFlags& flags) {
  const YamlNode* const target = find_path(root, "recipe._target_");
  if (target == nullptr || target->kind != YamlNode::Kind::scalar) return;
  flags.recipe_name = target->scalar.substr(target->scalar.rfind('.') + 1);
  const std::string_view model = find_recipe_model(flags.recipe_name);
  if (model.empty() || flags.map.find("model") != nullptr ||
      flags.map.find("hf-model-id") != nullptr)
    return;
  YamlEntry named{*target, *target};
  named.key.scalar = "model";
  named.value.scalar = model;
  flags.map.entries.push_back(std::move(named));
}

/// Leaves the ranks of a program open that are defaults of its options.
void open_default_ranks(ScriptFlags& program) {
  struct Rank {
    std::string_view flag, setting;
  };
  constexpr Rank kNodes{"nodes", "trainer.num_nodes"}, kGpus{"gpus-per-node", "trainer.devices"};
  constexpr i64 kMost = 1 << 16;
  const auto open = std::find_if(
      program.defaults.begin(), program.defaults.end(),
      [&](const auto& one) { return one.flag == kNodes.flag || one.flag == kGpus.flag; });
  if (open == program.defaults.end() || program.open_ranks) return;
  const auto states = [](const YamlEntry& entry, const Rank& rank) {
    return entry.key.scalar == rank.setting || name_flag(entry.key.scalar) == rank.flag;
  };
  const auto find = [&](const Rank& rank) -> std::optional<i64> {
    for (const YamlEntry& entry : program.map.entries)
      if (const Result<i64> n = parse_count(entry.value.scalar, 1);
          states(entry, rank) && n && *n <= kMost)
        return *n;
    return std::nullopt;
  };
  const ScriptFlags::OpenRanks ranks{
      .nodes = find(kNodes), .gpus = find(kGpus), .variable = open->variable};
  if (!ranks.nodes || !ranks.gpus) return;
  std::erase_if(program.map.entries, [&](const YamlEntry& entry) {
    return states(entry, kNodes) || states(entry, kGpus);
  });
  program.open_ranks = ranks;
}

/// Gives the settings of a program in Python the names of flags.
ScriptFlags name_program_flags(ScriptFlags program, const ShellInput& input) {
  open_default_ranks(program);
  ScriptFlags flags = read_megatron_yaml(program.map, input, is_read);
  flags.unknown = std::move(program.unknown);
  flags.defaults = std::move(program.defaults);
  flags.used = std::move(program.used);
  flags.open_ranks = std::move(program.open_ranks);
  flags.recipe_name = std::move(program.recipe_name);
  return flags;
}

/// Adds the arguments of the YAML file that takes the place of flags: `--yaml-cfg gpt.yaml`.
void add_yaml_arguments(ScriptFlags& flags, const ShellInput& input) {
  const YamlNode* const named = flags.map.find("yaml-cfg");
  if (named == nullptr || !input.files) return;
  const YamlNode place = *named;
  const Result<std::string> text = read_named_config(input.files, input.file, place.scalar);
  Diagnostics ignored;
  Result<YamlNode> root =
      text ? read_python_yaml(*text, place.scalar, ignored) : Result<YamlNode>(fail(text.error()));
  if (!root) return;
  ScriptFlags stated = read_megatron_yaml(*root, input, is_read);
  move_to(stated.map, place);
  for (YamlEntry& entry : stated.map.entries)
    if (flags.map.find(entry.key.scalar) == nullptr) flags.map.entries.push_back(std::move(entry));
  flags.off.insert(flags.off.end(), stated.off.begin(), stated.off.end());
}

}  // namespace

bool claims_megatron(std::string_view file, std::string_view text) {
  if (is_bridge_program(file, text)) return true;
  if (is_yaml_name(file)) return has_yaml_arguments(text);
  for (const std::string_view other : {".yaml", ".yml", ".json", ".toml", ".py", ".md"})
    if (file.ends_with(other)) return false;
  const auto has = [&](std::string_view flag) { return text.find(flag) != std::string_view::npos; };
  return has_argument_dump(text) || has("--tensor-model-parallel-size") ||
         has("--tensor_model_parallel_size") || has_overrides(text) || has("megatron sft") ||
         has("megatron pt") || has("megatron rlhf") || has("--train-backend fsdp") ||
         has("--yaml-cfg") || (has("--num-layers") && has("--hidden-size")) ||
         (has("--num_layers") && has("--hidden_size") && has("--micro_batch_size"));
}

bool sources_megatron(std::string_view text, const std::string& name, const FileReader& files,
                      ShellInput variables) {
  constexpr std::string_view kRuns[] = {"source ", ". ", "bash ", "sh "};
  if (std::none_of(std::begin(kRuns), std::end(kRuns), [&](std::string_view word) {
        return text.find(word) != std::string_view::npos;
      }))
    return false;
  variables.file = name;
  variables.files = files;
  return has_training_flags(read_script_flags(text, variables));
}

void read_megatron(PlanFile& plan, const FileReader& files) {
  ShellInput input = plan.variables;
  input.file = plan.name;
  input.files = files;
  ScriptFlags flags;
  const bool yaml = is_yaml_name(plan.name);
  bool program = false;  // in Python
  bool bridge = false;   // overrides a recipe of Megatron-Bridge or NeMo
  if (yaml) {
    Result<YamlNode> root = read_python_yaml(plan.text, plan.name, plan.findings);
    if (!root) return plan.findings.push_back(root.error());
    inherit_primus_model(*root, plan.name, files, plan.findings);
    if (plan.text.find("backend: megatron") != std::string::npos)
      inherit_defaults(*root, plan.name, files, plan.findings);
    bridge = is_bridge_recipe(*root);
    if (const YamlNode* const inherited = root->find("defaults");
        inherited != nullptr && inherited->kind == YamlNode::Kind::scalar)
      inherit_defaults(*root, plan.name, files, plan.findings);
    bridge = bridge || is_bridge_recipe(*root);
    resolve_references(*root);
    flags = read_megatron_yaml(*root, input, is_read);
    name_recipe_of(*root, flags);
  } else if (is_bridge_program(plan.name, plan.text)) {
    flags = name_program_flags(read_bridge_program(plan.text, input, plan.findings), input);
    bridge = program = true;
  } else if (std::optional<ScriptFlags> run = read_run_bridge_program(plan, input, plan.findings)) {
    flags = name_program_flags(std::move(*run), input);
    bridge = program = true;
  } else if (!has_argument_dump(plan.text) &&
             (has_overrides(plan.text) || runs_overrides(plan.text, input))) {
    flags = read_overridden_recipe(plan.text, input, is_read, plan.findings);
    bridge = !flags.recipe_name.empty();
  } else {
    flags = read_script_flags(plan.text, input);
    add_yaml_arguments(flags, input);
  }
  add_recipe_defaults(flags, plan);
  keep_presence(flags, "merge-file");
  const bool dump = has_argument_dump(plan.text);
  const MegatronFork* const fork = dump ? nullptr : find_megatron_fork(plan.name, plan.text, flags);
  add_model_file(flags, plan.name, files);
  if (fork != nullptr) apply_fork(*fork, flags);
  for (const std::string& assumed : flags.assumed)
    plan.findings.push_back(make_assumption(assumed, "--model FILE", {.file = plan.name}));
  if (plan.text.find("\"zero_optimization\"") != std::string::npos)  // the script writes the config
    std::erase_if(flags.unknown, [](const auto& one) { return one.flag == "deepspeed-config"; });
  FieldReader fields(plan.name, plan.findings);
  const FileReader all_files = with_written_files(files, plan.name, flags);
  ForeignReading reading{fields, plan.draft, flags.map, all_files};
  reading.model_keys = megatron_model_flags();
  reading.dashes = "--";
  reading.launcher_keys = flags.of_launcher;
  // A dump is written by the program itself, which knows more names than flags.
  if (!flags.recipe && !yaml && !dump && fork == nullptr)
    reading.known = &KnownKeys::find("megatron");
  read_foreign(reading, kMegatronKeys, plan);
  fill_in_flags(reading, flags.recipe);
  if (bridge && is_open(flags, "use-distributed-optimizer") && plan.draft.zero == 0) {
    plan.draft.zero = 1;
    plan.open.push_back({"parallelism.zero_stage", "ZeRO-1, as these recipes have",
                         "set ddp.use_distributed_optimizer"});
  }
  disable_kernels(reading, flags);
  fill_batch(reading, flags);
  read_megatron_model(reading);
  if (fork != nullptr) finish_fork(*fork, reading, plan);
  report_attention_dropout(reading, flags, dump, plan);
  if (flags.recipe && !plan.draft.model) read_recipe_model(reading, plan.ignored_keys);
  if (flags.recipe) fill_usual_ranks(reading, plan);
  // A config in Python has values of its own classes, which may have other names.
  if (dump || program) weaken_value_errors(plan.findings);
  report_script_values(reading, flags, kMegatronKeys, plan);
  assume_recipe(reading, flags, plan);
  if (fork != nullptr && fork->deepspeed) report_preference_program(reading, flags);
  if (sets_one_connection(plan.text)) plan.answered.emplace_back("RW0511");
  if (states_padding(reading)) plan.answered.emplace_back("RW0514");
  // MindSpeed repeats key-value heads until the ranks divide them.
  if (is_on(reading, "kv-head-repeat-before-uly-alltoall")) plan.answered.emplace_back("RW0513");
  if (is_on(reading, "grad-reduce-in-bf16") || find_path(flags.map, "main-grads-dtype") != nullptr)
    plan.answered.emplace_back("RW0515");
  plan.keys = fields.keys();
}

std::string spell_megatron(const Edit& edit) {
  struct Switch {
    std::string_view key, flag;
  };
  constexpr Switch kSwitches[] = {{"parallelism.sequence_parallel", "--sequence-parallel"},
                                  {"parallelism.overlap.grad_reduce", "--overlap-grad-reduce"},
                                  {"parallelism.overlap.param_gather", "--overlap-param-gather"},
                                  {"parallelism.overlap.tp", "--tp-comm-overlap"},
                                  {"parallelism.overlap.ep", "--overlap-moe-expert-parallel-comm"},
                                  {"parallelism.overlap.wgrad", "--delay-wgrad-compute"}};
  for (const Switch& one : kSwitches)
    if (edit.key == one.key)
      return fmt::format("{}{}", edit.value == "true" ? "" : "no ", one.flag);
  if (edit.key == "parallelism.order")
    return edit.value == show(mesh::kDefaultOrder) ? "no --use-tp-pp-dp-mapping"
                                                   : "--use-tp-pp-dp-mapping";
  if (edit.key == "parallelism.zero_stage" && edit.value <= "1")
    return edit.value == "1" ? "--use-distributed-optimizer" : "no --use-distributed-optimizer";
  if (edit.key == "parallelism.zero_stage")
    return fmt::format("--use-megatron-fsdp --data-parallel-sharding-strategy {}",
                       edit.value == "2" ? "optim_grads" : "optim_grads_params");
  if (edit.key == "parallelism.dispatcher")
    return edit.value == "alltoall"
               ? "--moe-token-dispatcher-type alltoall"
               : fmt::format("--moe-token-dispatcher-type flex --moe-flex-dispatcher-backend {}",
                             edit.value == "hybridep" ? "hybridep" : "deepep");
  if (edit.key == "parallelism.recompute" && edit.value == "selective")
    return "--recompute-granularity selective";
  if (edit.key == "parallelism.recompute" && edit.value == "full")
    return "--recompute-granularity full --recompute-method uniform --recompute-num-layers 1";
  if (edit.key == "job.param_dtype" && (edit.value == "bf16" || edit.value == "fp16"))
    return "--" + edit.value;
  if (edit.key == "parallelism.dp_size")
    return fmt::format("the data-parallel size is then {}", edit.value);
  const ForeignKey* const row = find_row_for(kMegatronKeys, edit.key);
  if (row == nullptr) return "";
  const bool plain = edit.value.find_first_of("|()*") == std::string::npos;
  return fmt::format("--{} {}", row->path, plain ? edit.value : "'" + edit.value + "'");
}

}  // namespace rankwright::importer
