#include "rankwright/export/framework/megatron_settings.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/export/quote.h"
#include "rankwright/import/plan/plan_format.h"
#include "rankwright/rules/change.h"

namespace rankwright::exporter {
namespace {

constexpr std::string_view kMegatronStates[] = {"parallelism.tp_size",
                                                "parallelism.cp_size",
                                                "parallelism.pp_size",
                                                "parallelism.dp_size",
                                                "parallelism.ep_size",
                                                "parallelism.etp_size",
                                                "parallelism.order",
                                                "parallelism.zero_stage",
                                                "parallelism.shard_size",
                                                "parallelism.bucket_size",
                                                "parallelism.sequence_parallel",
                                                "parallelism.cp_comm",
                                                "parallelism.micro_batch",
                                                "parallelism.virtual_stages",
                                                "parallelism.microbatch_group",
                                                "parallelism.schedule",
                                                "parallelism.stages",
                                                "parallelism.recompute",
                                                "parallelism.overlap.grad_reduce",
                                                "parallelism.overlap.param_gather",
                                                "parallelism.overlap.tp",
                                                "parallelism.overlap.pp",
                                                "parallelism.overlap.ep",
                                                "parallelism.overlap.wgrad",
                                                "parallelism.offload.optimizer",
                                                "parallelism.dispatcher",
                                                "model",
                                                "job.global_batch",
                                                "job.sequence",
                                                "job.param_dtype",
                                                "job.grad_dtype",
                                                "job.matmul",
                                                "job.optimizer",
                                                "job.moment_dtype",
                                                "job.master_dtype",
                                                "job.expert_capacity",
                                                "software.expert_kernel",
                                                "software.fused_permute"};

constexpr mesh::Order kAlternateOrder{mesh::Axis::tp, mesh::Axis::cp, mesh::Axis::ep,
                                      mesh::Axis::pp, mesh::Axis::dp};

struct Settings {
  std::vector<MegatronSetting> rows{};

  void add(std::string_view flag, i64 value) { rows.push_back({flag, std::to_string(value)}); }
  void add(std::string_view flag, std::string value) { rows.push_back({flag, std::move(value)}); }
  void on(std::string_view flag, bool is = true) {
    if (is) rows.push_back({flag});
  }
};

/// Returns whether the stages must be written as a layout: they differ from the even split that pp
/// and virtual stages imply.
bool needs_layout(const plan::TrainingConfig& s) {
  const std::optional<i64> count = product({s.plan.pp, s.plan.virtual_stages});
  if (s.plan.stages.empty()) return false;
  if (!count) return true;
  return !divides(*count, s.model.layers()) || *count > s.model.layers() ||
         s.plan.stages != plan::split_evenly(s.model.layers(), *count, s.model.mtp_layers);
}

void add_pipeline(const plan::TrainingConfig& s, Settings& out) {
  const plan::Plan& p = s.plan;
  out.add("pipeline-model-parallel-size", p.pp);
  if (needs_layout(s))
    out.add("pipeline-model-parallel-layout", show_layout(p.stages));
  else if (p.virtual_stages > 1)
    out.add("num-virtual-stages-per-pipeline-rank", p.virtual_stages);
  if (p.virtual_stages == 1) return;
  if (p.microbatch_group > 0 && row(p.schedule).groups)
    out.add("microbatch-group-size-per-virtual-pipeline-stage", p.microbatch_group);
  out.on("no-overlap-p2p-communication", !p.overlap.pp);
}

void add_experts(const plan::TrainingConfig& s, Settings& out) {
  if (s.plan.ep > 1) out.add("expert-model-parallel-size", s.plan.ep);
  if (!s.model.sparse()) return;
  out.add("expert-tensor-parallel-size", s.plan.etp);
  out.on("moe-grouped-gemm", s.software.experts != plan::ExpertKernel::sequential);
  out.on("moe-permute-fusion", s.software.fused_permute);
  const plan::Dispatcher dispatcher = s.plan.dispatcher;
  const bool flex = dispatcher != plan::Dispatcher::alltoall;
  if (s.plan.ep > 1) out.add("moe-token-dispatcher-type", flex ? "flex" : "alltoall");
  const bool hybrid = dispatcher == plan::Dispatcher::hybridep;
  // Releases before HybridEP have a single backend. UCCL-EP takes the place of the DeepEP package.
  const bool single = !s.software.release.empty() && !s.software.expert_features.hybridep;
  if (s.plan.ep > 1 && flex && single && !hybrid)
    out.on("moe-enable-deepep");
  else if (s.plan.ep > 1 && flex)
    out.add("moe-flex-dispatcher-backend", hybrid ? "hybridep" : "deepep");
  if (s.job.expert_capacity > 0) {
    out.add("moe-expert-capacity-factor", fmt::format("{}", s.job.expert_capacity));
    out.on("moe-pad-expert-input-to-capacity");
  }
  out.on("overlap-moe-expert-parallel-comm", s.plan.overlap.ep);
  out.on("delay-wgrad-compute", s.plan.overlap.wgrad);
}

void add_data_parallel(const plan::TrainingConfig& s, Settings& out) {
  const plan::Plan& p = s.plan;
  if (p.zero >= 2) {
    out.on("use-megatron-fsdp");
    out.add("data-parallel-sharding-strategy", p.zero == 2 ? "optim_grads" : "optim_grads_params");
    out.add("ckpt-format", "fsdp_dtensor");
    // Otherwise every rank builds the whole model on its device before it is sharded.
    out.on("init-model-with-meta-device", p.zero == 3);
  }
  out.on("use-distributed-optimizer", p.zero >= 1);
  if (p.zero >= 1 && p.shard_size > 0 && p.data_ranks() / p.shard_size > 1)
    out.add("num-distributed-optimizer-instances", p.data_ranks() / p.shard_size);
  if (p.bucket_size > 0) out.add("ddp-bucket-size", p.bucket_size);
  out.on("overlap-grad-reduce", p.overlap.grad_reduce);
  out.on("overlap-param-gather", p.overlap.param_gather);
}

void add_recompute(const plan::Plan& p, Settings& out) {
  if (p.recompute == plan::Recompute::none) return;
  out.add("recompute-granularity", std::string(name(p.recompute)));
  if (p.recompute == plan::Recompute::selective)
    return out.rows.push_back({"recompute-modules", show(p.modules, " "), true});
  const bool all = p.recompute_layers == 0;
  out.add("recompute-method", all ? "uniform" : "block");
  out.add("recompute-num-layers", all ? 1 : p.recompute_layers);
}

// By plan::Optimizer. Those that it does not have are written as adam and reported.
constexpr std::string_view kMegatronOptimizers[] = {"adam", "sgd", "adam", "adam", "adam", "muon"};

/// Returns whether the precision-aware optimizer has the format of the moments, and it is not the
/// default.
bool can_state_moments(const plan::Job& job) {
  return job.moment_dtype != plan::Dtype::fp32 && job.moment_dtype != plan::Dtype::fp64;
}

bool has_fp16_master(const plan::Job& job) {
  return job.master_dtype == plan::Dtype::fp16 && job.param_dtype == plan::Dtype::bf16;
}

void add_number_formats(const plan::TrainingConfig& s, Settings& out) {
  const plan::Job& job = s.job;
  const bool half = job.param_dtype == plan::Dtype::fp16;
  const bool bf16 = job.param_dtype == plan::Dtype::bf16 || job.param_dtype == plan::Dtype::fp8;
  out.on("bf16", bf16);
  out.on("fp16", half);
  out.on("grad-reduce-in-bf16", bf16 && job.grad_dtype == plan::Dtype::bf16);
  out.on("accumulate-allreduce-grads-in-fp32", half && job.grad_dtype == plan::Dtype::fp32);
  if (job.matmul == plan::Matmul::fp8) {
    out.add("fp8-format", "hybrid");
    out.add("fp8-recipe", std::string(choose_fp8_recipe(s.plan)));
  }
  if (job.matmul == plan::Matmul::mxfp8) {
    out.add("fp8-format", "e4m3");
    out.add("fp8-recipe", "mxfp8");
  }
  if (job.matmul == plan::Matmul::fp4) out.add("fp4-format", "e2m1");
  out.add("optimizer", std::string(kMegatronOptimizers[std::size_t(job.optimizer)]));
  if (s.plan.zero == 0) return;  // its precision-aware optimizer is a distributed one
  const double offloaded = s.plan.offload.optimizer;
  const bool moments = can_state_moments(job);
  const bool master = has_fp16_master(job);
  out.on("use-precision-aware-optimizer", moments || master || offloaded > 0);
  if (master) out.add("main-params-dtype", "fp16");
  if (moments) {
    out.add("exp-avg-dtype", std::string(name(job.moment_dtype)));
    out.add("exp-avg-sq-dtype", std::string(name(job.moment_dtype)));
  }
  out.on("optimizer-cpu-offload", offloaded > 0);
  if (offloaded > 0 && offloaded < 1)
    out.add("optimizer-offload-fraction", fmt::format("{}", offloaded));
}

void add_attention(const model::Attention& a, i64 hidden, Settings& out) {
  out.add("num-attention-heads", a.heads);
  if (a.kind == model::Attention::Kind::latent) {
    out.on("multi-latent-attention");
    if (a.q_rank > 0) out.add("q-lora-rank", a.q_rank);
    out.add("kv-lora-rank", a.kv_rank);
    out.add("qk-head-dim", a.nope_dim);
    out.add("qk-pos-emb-head-dim", a.rope_dim);
    out.add("v-head-dim", a.value_dim);
    out.on("qk-layernorm");  // norms of the latents, as in DeepSeek's models
    return;
  }
  if (a.kv_heads != a.heads) {
    out.on("group-query-attention");
    out.add("num-query-groups", a.kv_heads);
  }
  if (a.head_dim * a.heads != hidden) out.add("kv-channels", a.head_dim);
  out.on("qk-layernorm", a.qk_norm);
}

/// Returns "([0]*3+[1]*58)": 1 for each MoE layer, 0 for each dense one.
std::string layer_pattern(const model::Model& model) {
  std::string text;
  for (const model::LayerRun& run : model.runs)
    text += fmt::format("{}[{}]*{}", text.empty() ? "" : "+", run.layer.ffn.sparse() ? 1 : 0,
                        run.count);
  return "(" + text + ")";
}

void add_feed_forward(const model::Model& model, Settings& out) {
  const model::FeedForward *dense = nullptr, *sparse = nullptr;
  for (const model::LayerRun& run : model.runs)
    (run.layer.ffn.sparse() ? sparse : dense) = &run.layer.ffn;
  const model::FeedForward& any = dense != nullptr ? *dense : *sparse;
  out.add("ffn-hidden-size", dense != nullptr ? dense->width : sparse->expert_width);
  out.on("swiglu", any.matrices == 3);
  if (sparse == nullptr) return;
  out.add("num-experts", sparse->experts);
  out.add("moe-router-topk", sparse->active);
  if (sparse->groups > 0) {
    out.add("moe-router-num-groups", sparse->groups);
    out.add("moe-router-group-topk", sparse->active_groups);
  }
  out.add("moe-ffn-hidden-size", sparse->expert_width);
  if (sparse->shared_width > 0)
    out.add("moe-shared-expert-intermediate-size", sparse->shared_width);
  out.on("moe-shared-expert-gate", sparse->shared_gate);
  if (sparse->router_bias) {
    out.add("moe-router-score-function", "sigmoid");  // the router bias requires it
    out.on("moe-router-enable-expert-bias");
  } else {
    out.on("moe-router-pre-softmax", sparse->active == 1);  // refused without it
  }
  if (dense != nullptr) out.add("moe-layer-freq", layer_pattern(model));
}

std::vector<MegatronSetting> model_rows(const plan::TrainingConfig& s) {
  const model::Model& model = s.model;
  const model::Layer& first = model.layer(0);
  Settings out;
  out.add("num-layers", model.layers());
  out.add("hidden-size", model.hidden);
  add_attention(first.attention, model.hidden, out);
  add_feed_forward(model, out);
  out.add("normalization", model.norm_bias ? "LayerNorm" : "RMSNorm");
  const bool bias = first.attention.out_bias && first.ffn.bias;
  out.on("disable-bias-linear", !bias);
  out.on("add-qkv-bias", !bias && first.attention.qkv_bias);
  out.on("untie-embeddings-and-output-weights", !model.tied);
  const bool none = model.positions == 0 && model.architecture == "gpt";
  out.add("position-embedding-type", model.positions > 0 ? "learned_absolute"
                                     : none              ? "none"
                                                         : "rope");
  out.add("max-position-embeddings",
          model.positions > 0 ? model.positions : std::max(model.max_sequence, s.job.sequence));
  if (model.architecture != "gpt" && model.architecture != "gpt2") {  // Megatron's default is 0.1
    out.add("attention-dropout", i64{0});
    out.add("hidden-dropout", i64{0});
  }
  if (model.mtp_layers > 0) out.add("mtp-num-layers", model.mtp_layers);
  out.add("vocab-size", model.vocab);
  return out.rows;
}

/// Returns whether reading the flags back builds the same network.
bool states_model(const plan::TrainingConfig& s, const std::vector<MegatronSetting>& rows) {
  const bool gelu_gates = s.model.architecture.starts_with("gemma");
  const bool learned_mtp =
      s.model.mtp_layers > 0 && s.model.positions > 0;  // Megatron refuses these
  if (gelu_gates || learned_mtp) return false;
  std::string text = fmt::format("A=(--seq-length {} ", s.job.sequence);
  for (const MegatronSetting& row : rows) text += format_flag(row) + " ";
  const importer::PlanFile read = read_plan_as(*importer::find_plan_format("megatron"),
                                               text + ")\n", "megatron.sh", importer::refuse_file);
  model::Model stated = s.model;
  // The flag must cover the training sequence, so a model with a shorter maximum cannot be stated.
  if (stated.positions == 0 && stated.max_sequence <= s.job.sequence) stated.max_sequence = 0;
  return read.draft.model && is_same_network(*read.draft.model, stated);
}

/// Returns whether Megatron's flags can state the gradient type for this parameter type.
bool can_state_grads(const plan::Job& job) {
  switch (job.param_dtype) {
    case plan::Dtype::fp32:
      return job.grad_dtype == plan::Dtype::fp32;
    case plan::Dtype::fp16:
      return job.grad_dtype == plan::Dtype::fp32 || job.grad_dtype == plan::Dtype::fp16;
    case plan::Dtype::bf16:
    case plan::Dtype::fp8:
      return job.grad_dtype == plan::Dtype::fp32 || job.grad_dtype == plan::Dtype::bf16;
    case plan::Dtype::fp64:
      return job.grad_dtype == plan::Dtype::fp32;
  }
  return false;
}

}  // namespace

std::string_view choose_fp8_recipe(const plan::Plan& plan) {
  const bool recomputes = plan.recompute == plan::Recompute::selective &&
                          (plan.modules.layernorm || plan.modules.moe_act);
  return recomputes ? "tensorwise" : "delayed";
}

std::string format_flag(const MegatronSetting& setting) {
  if (setting.value.empty()) return fmt::format("--{}", setting.flag);
  return fmt::format("--{} {}", setting.flag,
                     setting.words ? setting.value : quote_script_word(setting.value));
}

std::vector<MegatronSetting> list_megatron_layout(const plan::TrainingConfig& s) {
  const plan::Plan& p = s.plan;
  Settings out;
  out.add("tensor-model-parallel-size", p.tp);
  out.on("sequence-parallel", p.sequence_parallel);
  out.on("tp-comm-overlap", p.overlap.tp);
  out.add("context-parallel-size", p.cp);
  if (p.cp > 1) out.add("cp-comm-type", std::string(name(p.cp_comm)));
  add_pipeline(s, out);
  add_experts(s, out);
  out.on("use-tp-pp-dp-mapping",
         !rules::same_order(s, mesh::kDefaultOrder) && rules::same_order(s, kAlternateOrder));
  add_data_parallel(s, out);
  add_recompute(p, out);
  out.add("micro-batch-size", p.micro_batch);
  out.add("global-batch-size", s.job.global_batch);
  out.add("seq-length", s.job.sequence);
  add_number_formats(s, out);
  out.on("cross-entropy-loss-fusion", s.software.loss == plan::Loss::fused);
  return out.rows;
}

std::vector<MegatronSetting> list_megatron_model(const plan::TrainingConfig& s) {
  if (s.reference_model) return {};
  std::vector<MegatronSetting> rows = model_rows(s);
  return states_model(s, rows) ? rows : std::vector<MegatronSetting>{};
}

std::span<const std::string_view> list_megatron_keys() { return kMegatronStates; }

std::vector<UnsupportedSetting> find_unsupported_by_megatron(const plan::TrainingConfig& s) {
  const plan::Plan& p = s.plan;
  std::vector<UnsupportedSetting> lost;
  const auto add = [&](bool is, std::string_view key, std::string_view why) {
    if (is) lost.push_back({std::string(key), std::string(why)});
  };
  add(!s.reference_model && list_megatron_model(s).empty(), "model",
      "its flags cannot describe this model: set the shapes yourself");
  add(p.virtual_stages == 1 && p.microbatch_group > 0, "parallelism.microbatch_group",
      "micro-batch groups need virtual stages");
  add(p.virtual_stages == 1 && p.overlap.pp, "parallelism.overlap.pp",
      "1F1B does not overlap its sends");
  add(s.job.param_dtype == plan::Dtype::fp8, "job.param_dtype",
      "written as bf16: --fp8-param-gather gathers parameters in fp8 and keeps both");
  add(s.job.param_dtype == plan::Dtype::fp64, "job.param_dtype", "written as fp32: it has no fp64");
  add(!can_state_grads(s.job), "job.grad_dtype", "gradients are fp32 or in the parameters' format");
  const bool other_optimizer = s.job.optimizer == plan::Optimizer::adam_8bit ||
                               s.job.optimizer == plan::Optimizer::adafactor ||
                               s.job.optimizer == plan::Optimizer::lion;
  add(other_optimizer, "job.optimizer",
      fmt::format("written as adam: it has no {}", name(s.job.optimizer)));
  constexpr std::string_view kDistributed = "its precision-aware optimizer needs zero_stage: 1";
  add(p.zero == 0 && p.offload.optimizer > 0, "parallelism.offload.optimizer", kDistributed);
  add(s.job.moment_dtype != plan::Dtype::fp32 && (p.zero == 0 || !can_state_moments(s.job)),
      "job.moment_dtype", kDistributed);
  add(s.job.master_dtype != plan::Dtype::fp32 && (p.zero == 0 || !has_fp16_master(s.job)),
      "job.master_dtype",
      "it updates parameters in fp32, or bf16 ones in fp16 with its precision-aware optimizer");
  return lost;
}

}  // namespace rankwright::exporter
