#include "rankwright/validate/run_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "rankwright/catalog/catalog.h"

namespace rankwright::validate {
namespace {

/// A prefix of the GPU names that sources use, and the catalog's name. The first match counts.
struct GpuRow {
  std::string_view prefix, device;
};
constexpr GpuRow kGpus[] = {
    {"H100-96", "h100-96g"},
    {"H100", "h100-sxm"},
    {"H800", "h800-sxm"},
    {"H200", "h200-sxm"},
    {"H20", "h20"},
    {"GH200", "gh200"},
    {"B200", "b200-sxm"},
    {"GB200", "gb200"},
    {"B300", "b300-sxm"},
    {"GB300", "gb300"},
    {"A100-40", "a100-40g"},
    {"A100", "a100-80g"},
    {"A800", "a100-80g"},
    {"L40S", "l40s"},
    {"A10G", "a10g"},
    {"RTX 4090", "rtx-4090"},
    {"Gaudi2", "gaudi2"},
    {"Gaudi3", "gaudi3"},
    {"RTX 3090", "rtx-3090"},
    {"RTX 4080", "rtx-4080"},
    {"RTX A5000", "rtx-a5000"},
    {"RTX 6000 Ada", "rtx-6000-ada"},
    {"RTX PRO 6000", "rtx-pro-6000"},
    {"Tesla T4", "t4"},
    {"Ampere", "a100-80g"},
    {"V100", "v100-32g"},
    {"MI300X", "mi300x"},
    {"MI325X", "mi325x"},
    {"MI355X", "mi355x"},
    {"TPUv4", "tpu-v4"},
    {"TPUv5e", "tpu-v5e"},
    {"TPUv5p", "tpu-v5p"},
};

/// A prefix of the framework names that sources use, and the framework's properties that have no
/// column: overlap, gradient format, and the memory figure that it reports.
struct FrameworkRow {
  std::string_view prefix, software;
  plan::Overlap overlap{};
  plan::Dtype grads = plan::Dtype::fp32;
  MemoryFigure memory = MemoryFigure::allocated;
};
constexpr plan::Overlap kNoOverlap{.grad_reduce = false, .param_gather = false};
constexpr plan::Overlap kData{.grad_reduce = true, .param_gather = true};
constexpr plan::Overlap kAll{.grad_reduce = true, .param_gather = true, .tp = true, .pp = true};
constexpr plan::Overlap kAllWithExperts{
    .grad_reduce = true, .param_gather = true, .tp = true, .pp = true, .ep = true};
constexpr FrameworkRow kFrameworkRows[] = {
    {"NeMo (MLPerf)", "mlperf", kAll, plan::Dtype::bf16},
    {"NeMo", "nemo", kAll, plan::Dtype::bf16},
    {"Megatron-Bridge", "nemo", kAll, plan::Dtype::bf16},
    {"Megatron-Core", "megatron-core", kAll},
    {"Megatron-DeepSpeed", "megatron-deepspeed", kNoOverlap, plan::Dtype::fp16,
     MemoryFigure::device},
    {"Megatron-LM Jul/Aug 2026", "megatron-core", kAll},
    // The zero-bubble fork overlaps sends with computation.
    {"Megatron-LM fork",
     "megatron-2021",
     {.grad_reduce = false, .param_gather = false, .pp = true},
     plan::Dtype::fp16},
    {"Megatron-LM", "megatron-2021", kNoOverlap, plan::Dtype::fp16},
    {"DeepSpeed ZeRO", "deepspeed-2021", kNoOverlap, plan::Dtype::fp16},
    {"DeepSpeed", "megatron-deepspeed", kNoOverlap, plan::Dtype::fp16},
    {"GPT-NeoX", "megatron-deepspeed", kNoOverlap, plan::Dtype::fp16},
    {"metaseq", "megatron-2021", kNoOverlap, plan::Dtype::fp16},
    {"torchtitan", "torchtitan-2024", kData, plan::Dtype::fp32, MemoryFigure::reserved},
    {"llm-foundry FSDP (PURE", "llm-foundry", kData, plan::Dtype::bf16, MemoryFigure::reserved},
    {"llm-foundry", "llm-foundry", kData, plan::Dtype::fp32, MemoryFigure::reserved},
    {"transformers 2024", "transformers-2024", kData, plan::Dtype::fp32},
    {"transformers", "transformers", kData, plan::Dtype::fp32},
    {"litgpt", "litgpt-2024", kData, plan::Dtype::fp32},
    {"HF DeepSpeed", "deepspeed", kData, plan::Dtype::bf16},
    {"FSDP", "fsdp", kData, plan::Dtype::fp32, MemoryFigure::reserved},
    {"fms-fsdp", "fsdp", kData, plan::Dtype::fp32, MemoryFigure::reserved},
    {"MaxText",
     "maxtext",
     {.grad_reduce = true, .param_gather = true, .tp = true},
     plan::Dtype::bf16,
     MemoryFigure::device},
    {"Meta", "own", {.grad_reduce = true, .param_gather = true, .pp = true}},
    {"HAI-LLM", "hai-llm", kAllWithExperts},
    {"InternEvo", "own", kData},
    {"ColossalAI", "own", kData},
    {"Primus", "megatron-core", kAll},
    {"Pai-Megatron", "megatron-core", kAll},
};
/// Unknown software is assumed to be current, without overlap of tp and pp.
constexpr FrameworkRow kOther{"", "megatron-core", kData};

struct PrecisionRow {
  std::string_view part;  // of the cell
  plan::Matmul matmul;
};
constexpr PrecisionRow kPrecisions[] = {
    {"fp4", plan::Matmul::fp4}, {"mxfp8", plan::Matmul::mxfp8}, {"fp8", plan::Matmul::fp8}};

struct ScheduleName {
  std::string_view prefix;
  pipeline::Schedule schedule;
};
constexpr ScheduleName kScheduleNames[] = {
    {"zb-1p", pipeline::Schedule::zb_h1},
    {"zb-h1", pipeline::Schedule::zb_h1},
    {"zb-2p", pipeline::Schedule::zb_2p},
    {"zb-v", pipeline::Schedule::zb_v},
    {"dualpipe", pipeline::Schedule::dualpipe},
    {"1f1b-interleaved", pipeline::Schedule::interleaved},
    {"interleaved", pipeline::Schedule::interleaved},
    {"gpipe", pipeline::Schedule::gpipe},
};
template <class Rows>
auto find_prefix(const Rows& rows, std::string_view text) {
  return std::find_if(std::begin(rows), std::end(rows),
                      [&](const auto& row) { return text.starts_with(row.prefix); });
}

/// Returns the number after `word`, as in "MLA q_lora1536 kv_lora512 nope128 rope64 v128";
/// `otherwise` if there is none from `min` on.
i64 find_number_after(std::string_view text, std::string_view word, i64 otherwise, i64 min = 1) {
  constexpr i64 kMax = 65536;
  const std::size_t at = text.find(word);
  if (at == std::string_view::npos) return otherwise;
  i64 value = otherwise;
  std::from_chars(text.data() + at + word.size(), text.data() + text.size(), value);
  return value >= min && value <= kMax ? value : otherwise;
}

/// Returns the value of `key=value` in the notes of a row; empty if it is not there.
std::string_view find_note(std::string_view notes, std::string_view key) {
  for (std::size_t at = notes.find(key); at != std::string_view::npos;
       at = notes.find(key, at + 1)) {
    const std::size_t value = at + key.size();
    const bool starts = at == 0 || notes[at - 1] == ' ' || notes[at - 1] == ';';
    if (!starts || value >= notes.size() || notes[value] != '=') continue;
    return notes.substr(value + 1, notes.find(';', value) - value - 1);
  }
  return {};
}

model::Attention read_attention(const RunRow& row, i64 hidden) {
  model::Attention a;
  a.heads = row.whole_or("heads", 1);
  const std::string_view kind = row.text("attn");
  if (kind.starts_with("MLA")) {
    a.kind = model::Attention::Kind::latent;
    a.q_rank = find_number_after(kind, "q_lora", 1536, 0);  // 0: queries are not compressed
    a.kv_rank = find_number_after(kind, "kv_lora", 512);
    a.nope_dim = find_number_after(kind, "nope", 128);
    a.rope_dim = find_number_after(kind, "rope", 64);
    a.value_dim = find_number_after(kind, " v", 128);
    return a;
  }
  a.kv_heads = row.whole("kv_heads").value_or(a.heads);
  a.head_dim = row.whole("head_dim").value_or(std::max<i64>(1, hidden / a.heads));
  return a;
}

model::Model read_model(const RunRow& row) {
  model::Model model;
  model.hidden = *row.whole("hidden");
  model.vocab = row.whole("vocab").value_or(51200);
  const i64 layers = *row.whole("layers");
  model::Layer dense;
  dense.attention = read_attention(row, model.hidden);
  // Rows of one model are identified by its name, which vTrain's single-node table lacks.
  model.name = row.single() ? fmt::format("GPT {} x {}, {} heads", layers, model.hidden,
                                          dense.attention.heads)
                            : std::string(row.text("model"));
  dense.ffn = {.width = row.whole("ffn").value_or(4 * model.hidden),
               .matrices = row.whole("mlp_mats").value_or(2)};
  model::Layer sparse = dense;
  sparse.ffn.experts = row.whole_or("n_experts", 0);
  if (sparse.ffn.experts == 0) {
    model.runs = {{layers, dense}};
  } else {
    sparse.ffn.width = 0;
    sparse.ffn.active = std::clamp<i64>(row.whole_or("topk", 1), 1, sparse.ffn.experts);
    sparse.ffn.expert_width = std::max<i64>(1, row.whole_or("moe_ffn", dense.ffn.width));
    sparse.ffn.shared_width = row.whole_or("shared_ffn", 0);
    const std::string_view notes = row.text("notes");
    dense.attention.qk_norm = sparse.attention.qk_norm = find_note(notes, "qk_norm") == "1";
    sparse.ffn.bias = find_note(notes, "expert_bias") == "1";
    const std::string_view limit = find_note(notes, "group_limit");
    sparse.ffn.groups = find_number_after(limit, "", 0);
    sparse.ffn.active_groups = find_number_after(limit, "/", 0);
    const i64 first = std::min(row.whole_or("n_dense_layers", 0), layers - 1);
    if (first > 0) model.runs.push_back({first, dense});
    model.runs.push_back({layers - first, sparse});
  }
  if (row.text("flops_definition").find("MTP") != std::string_view::npos ||
      row.text("notes").find("MTP depth 1") != std::string_view::npos)
    model.mtp_layers = 1;
  return model;
}

cluster::Cluster read_cluster(const RunRow& row, const cluster::Device& device, i64 world) {
  // Jobs on more than one NVL72 use 64 of its 72 GPUs, because degrees are powers of two.
  i64 domain = row.whole("nvlink_domain").value_or(8);
  if (domain == 72) domain = 64;
  const bool ampere = device.generation == "ampere" || device.generation == "volta";
  const double link = row.number("intra_link_GBps").value_or(300);
  const double nic = row.number("inter_link_GBps_per_gpu").value_or(ampere ? 25 : 50);
  return {.name = std::string(row.text("gpu")),
          .device = device,
          .levels = {{.name = "nvlink",
                      .arity = domain,
                      .bandwidth = std::max(link, 1.0) * 1.0_GBps,
                      .latency = 1.2_us},
                     {.name = row.text("notes").find("EFA") == std::string_view::npos ? "network"
                                                                                      : "efa",
                      .arity = ceil_div(world, domain),
                      .bandwidth = std::max(nic, 0.1) * 1.0_GBps,
                      .latency = 5.0_us}},
          .host_devices = row.whole("gpus_per_node").value_or(8)};
}

plan::Plan read_plan(const RunRow& row, Run& run) {
  plan::Plan plan;
  plan.tp = row.whole("tp").value_or(1);
  plan.pp = row.whole("pp").value_or(1);
  plan.cp = row.whole("cp").value_or(1);
  plan.dp = row.whole("dp").value_or(1);
  if (run.config.model.sparse()) {
    plan.ep = row.whole("ep").value_or(1);
    plan.etp = row.whole("etp").value_or(1);
  }
  plan.sequence_parallel = row.text("sp") == "yes";
  const std::optional<i64> zero = row.whole("zero_stage", 0);
  plan.zero = int(zero.value_or(0));
  run.open_zero = !zero;
  const std::optional<i64> micro = row.whole("micro_batch");
  plan.micro_batch = micro.value_or(1);
  run.open_micro_batch = !micro;
  const std::string_view recompute = row.text("recompute");
  run.open_recompute = recompute.empty();
  for (std::size_t k = 0; k < plan::recompute_names().size(); ++k)
    if (recompute == plan::recompute_names()[k]) plan.recompute = plan::Recompute(k);

  const auto schedule = find_prefix(kScheduleNames, row.text("schedule"));
  if (schedule != std::end(kScheduleNames)) plan.schedule = schedule->schedule;
  const std::optional<i64> chunks = row.whole("vpp");
  plan.virtual_stages = chunks.value_or(1);
  if (plan.schedule == pipeline::Schedule::zb_v) plan.virtual_stages = 2;
  if (plan.schedule == pipeline::Schedule::dualpipe || plan.pp == 1) plan.virtual_stages = 1;
  run.open_chunks = !chunks && plan.schedule == pipeline::Schedule::interleaved && plan.pp > 1;
  // The number of chunks decides whether a schedule is interleaved, whatever the row calls it.
  if (plan.schedule == pipeline::Schedule::interleaved && chunks && plan.virtual_stages == 1)
    plan.schedule = pipeline::Schedule::one_f_one_b;
  if (plan.schedule == pipeline::Schedule::one_f_one_b && plan.virtual_stages > 1)
    plan.schedule = pipeline::Schedule::interleaved;
  return plan;
}

/// How experts run on one generation of software, where the source of a row does not say.
struct ExpertSoftware {
  plan::Dispatcher dispatcher = plan::Dispatcher::alltoall;
  plan::Launch launch = plan::Launch::eager;
  plan::ExpertKernel kernel = plan::ExpertKernel::grouped;
  bool overlap = false;
  bool fused_permute = true;
};

/// Recipes of Megatron-Bridge from a release on, by GPU, model and format; the last match counts.
/// From the recipes of its repository: scripts/performance at the tags v0.1.0rc4 (25.09) to v0.5.0.
/// Those of 25.09 drop tokens, so that graphs can hold whole layers; later ones do not.
struct RecipeRow {
  int release;                             // year, month and patch: 260401
  std::string_view gpu, model, precision;  // parts of the cells; empty: any
  ExpertSoftware software;
};
constexpr ExpertSoftware kEager{};
constexpr ExpertSoftware kOverlapped{.overlap = true};
constexpr ExpertSoftware kHybrid{.dispatcher = plan::Dispatcher::hybridep};
constexpr ExpertSoftware kDeepEp{.dispatcher = plan::Dispatcher::deepep, .overlap = true};
constexpr ExpertSoftware kDeepEpPartial{.dispatcher = plan::Dispatcher::deepep,
                                        .launch = plan::Launch::partial_graphs,
                                        .overlap = true};
constexpr ExpertSoftware kPartial{.dispatcher = plan::Dispatcher::hybridep,
                                  .launch = plan::Launch::partial_graphs};
constexpr ExpertSoftware kPartialAllToAll{.launch = plan::Launch::partial_graphs};
constexpr ExpertSoftware kWhole{.dispatcher = plan::Dispatcher::hybridep,
                                .launch = plan::Launch::graphs,
                                .kernel = plan::ExpertKernel::fused,
                                .overlap = true};
constexpr RecipeRow kRecipes[] = {
    {0, "", "", "", {.fused_permute = false}},
    {250900, "H100", "deepseek", "", kDeepEp},
    {250900, "GB200", "qwen3", "", {.launch = plan::Launch::graphs}},
    {250900, "B200", "qwen3-30b", "", {.launch = plan::Launch::graphs}},
    {251100, "", "", "", kEager},
    {251100, "GB", "", "", kPartial},
    {251100, "GB", "gpt-oss", "", kPartialAllToAll},
    {251100, "GB200", "gpt-oss", "", kEager},
    {251100, "B200", "qwen3-235b", "", kOverlapped},
    {251100, "B200", "qwen3-30b", "", kPartialAllToAll},
    {251100, "H100", "deepseek", "", kDeepEp},
    {251100, "H100", "qwen3", "", kOverlapped},
    {251100,
     "H100",
     "qwen3-30b",
     "bf16",
     {.launch = plan::Launch::partial_graphs, .overlap = true}},
    {260200, "B", "deepseek", "", kHybrid},
    {260200, "H100", "deepseek", "", kHybrid},
    {260200, "GB300", "deepseek", "8", kHybrid},
    {260200, "GB300", "kimi", "", kHybrid},
    {260200, "B200", "qwen3-235b", "", kEager},
    {260200, "B300", "qwen3-235b", "", kOverlapped},
    {260200, "B300", "qwen3-30b", "", kPartial},
    {260200, "B300", "gpt-oss", "", kPartialAllToAll},
    {260200, "H100", "qwen3-30b", "", kDeepEp},
    {260200, "H100", "qwen3-30b", "bf16", kDeepEpPartial},
    {260400, "B300", "qwen3-235b", "", kHybrid},
    {260400, "B200", "qwen3-30b", "", kPartial},
    {260400, "H100", "qwen3-30b", "", kHybrid},
    {260400, "H100", "qwen3-30b", "bf16", kPartial},
    {260400, "GB200", "gpt-oss", "", {.dispatcher = plan::Dispatcher::hybridep, .overlap = true}},
    {260400, "B300", "gpt-oss", "", kPartial},
    {260400, "B200", "gpt-oss", "", kHybrid},
    {260401, "GB200", "gpt-oss", "", kOverlapped},
    {260401, "B200", "gpt-oss", "", kEager},
    {260401, "B300", "deepseek", "", kPartial},
    {260401, "B200", "deepseek", "mxfp8", kDeepEpPartial},
    {260600, "GB", "", "mxfp8", kWhole},
    {260600, "GB200", "kimi", "", kPartial},
    {260600, "GB300", "kimi", "", kHybrid},
    {260600, "B300", "qwen3-30b", "mxfp8", kWhole},
};

/// Returns the release that a row names, as year, month and patch: 260401 for "26.04.01"; 0 if
/// none.
int find_release(const RunRow& row) {
  for (const std::string_view column : {"framework", "source", "notes"}) {
    const std::string_view text = row.text(column);
    for (std::size_t at = 0; at + 5 <= text.size(); ++at) {
      const auto digit = [&](std::size_t k) {
        return at + k < text.size() && text[at + k] >= '0' && text[at + k] <= '9';
      };
      const auto pair = [&](std::size_t k) {
        return (text[at + k] - '0') * 10 + (text[at + k + 1] - '0');
      };
      const bool starts =
          at == 0 || text[at - 1] == ' ' || text[at - 1] == '(' || text[at - 1] == '=';
      if (!starts || text[at] != '2' || !digit(1) || text[at + 2] != '.' || !digit(3) || !digit(4))
        continue;
      const bool patched = digit(6) && digit(7) && text[at + 5] == '.';
      return pair(0) * 10000 + pair(3) * 100 + (patched ? pair(6) : 0);
    }
  }
  return 0;
}

/// Returns the dispatcher that a note names; `otherwise` if it names none.
plan::Dispatcher read_dispatcher(std::string_view text, plan::Dispatcher otherwise) {
  if (text.starts_with("hybridep")) return plan::Dispatcher::hybridep;
  if (text.starts_with("deepep"))
    return text.find("EFA") == std::string_view::npos ? plan::Dispatcher::deepep
                                                      : plan::Dispatcher::uccl;
  return text.starts_with("all") ? plan::Dispatcher::alltoall : otherwise;
}

plan::Launch read_graphs(std::string_view text) {
  if (text.starts_with("full")) return plan::Launch::graphs;
  return text.starts_with("none") ? plan::Launch::eager : plan::Launch::partial_graphs;
}

/// Sets the modules that selective recomputation runs again: those that the notes name, or the
/// usual ones of MoE recipes.
void read_modules(std::string_view notes, Run& run) {
  std::string_view named = find_note(notes, "recompute_modules");
  if (const std::size_t at = notes.find("recompute ");
      named.empty() && at != std::string_view::npos)
    named = notes.substr(at, notes.find(';', at) - at);
  plan::RecomputeModules& modules = run.config.plan.modules;
  plan::RecomputeModules found{.core_attn = false};
  for (const plan::RecomputeModuleRow& row : plan::recompute_modules()) {
    const std::size_t at = named.find(row.name);
    const std::size_t end = at + row.name.size();
    found.*row.field = at != std::string_view::npos &&
                       (end == named.size() || named[end] != '_');  // moe is a part of moe_act
  }
  const bool known = found != plan::RecomputeModules{.core_attn = false};
  modules = known
                ? found
                : plan::RecomputeModules{
                      .core_attn = false, .layernorm = true, .mla_up_proj = true, .moe_act = true};
}

/// Sets the stages of a row that states them as Megatron-LM does: "layout=Et|(tt|)*30L".
void read_layout(std::string_view notes, plan::TrainingConfig& config) {
  const Result<plan::Stages> stages = plan::parse_layout(find_note(notes, "layout"));
  if (!stages) return;
  i64 mtp = 0;
  for (const plan::Stage& stage : *stages) mtp += stage.mtp;
  if (i64(stages->size()) == config.plan.pp * config.plan.virtual_stages &&
      count_layers(*stages) == config.model.layers() && mtp == config.model.mtp_layers)
    config.plan.stages = *stages;
}

/// Sets how experts run: as the notes of a row state it, else as usual for its software.
void read_expert_software(const RunRow& row, Run& run) {
  ExpertSoftware found;
  const std::string_view framework = row.text("framework");
  const std::string_view notes = row.text("notes");
  if (framework.starts_with("Megatron-Bridge") || framework.starts_with("NeMo")) {
    const int release = find_release(row);
    const auto has = [](std::string_view text, std::string_view part) {
      return text.find(part) != std::string_view::npos;
    };
    for (const RecipeRow& recipe : kRecipes)
      if (release >= recipe.release && run.gpu.starts_with(recipe.gpu) &&
          has(run.model, recipe.model) && has(run.precision, recipe.precision))
        found = recipe.software;
  }
  if (framework.starts_with("HAI-LLM"))
    found = {.dispatcher = plan::Dispatcher::deepep, .overlap = true};
  found.dispatcher = read_dispatcher(find_note(notes, "dispatcher"), found.dispatcher);
  if (const auto value = find_note(notes, "a2a_overlap"); !value.empty())
    found.overlap = value.starts_with("1");
  // The recipes of Megatron-Bridge that overlap delay weight gradients, too.
  bool delayed = found.overlap && framework.starts_with("Megatron-Bridge");
  if (const auto value = find_note(notes, "delay_wgrad"); !value.empty())
    delayed = value.starts_with("1");
  if (const auto value = find_note(notes, "cuda_graph"); !value.empty())
    found.launch = read_graphs(value);
  if (const auto value = find_note(notes, "grouped_mlp"); !value.empty())
    found.kernel = plan::ExpertKernel::fused;
  if (const auto value = find_note(notes, "permute_fusion"); !value.empty())
    found.fused_permute = !value.starts_with("0");

  plan::TrainingConfig& config = run.config;
  config.plan.dispatcher = found.dispatcher;
  config.plan.overlap.ep = found.overlap;
  config.plan.overlap.wgrad = found.overlap && delayed;
  config.software.launch = found.launch;
  config.software.experts = found.kernel;
  config.software.fused_permute = found.fused_permute;
  const auto noted = [&](std::string_view words) {
    return notes.find(words) != std::string_view::npos;
  };
  if (noted("token drop") || noted("token-drop") || noted("drop and pad"))
    config.job.expert_capacity = 1;
  else if (!config.software.fsdp && !find_note(notes, "force_balance").starts_with("0"))
    config.job.expert_imbalance = 1;  // torchtitan's router is not forced
  read_modules(notes, run);
}

/// Sets the software from the framework's name and the notes of a row.
void read_software(const RunRow& row, Run& run) {
  const auto found = find_prefix(kFrameworkRows, row.text("framework"));
  const FrameworkRow& framework = found == std::end(kFrameworkRows) ? kOther : *found;
  plan::TrainingConfig& config = run.config;
  for (const plan::Software& software : plan::frameworks())
    if (software.name == framework.software) config.software = software;
  // Software older than the GPU has been updated with fused attention for it.
  const std::string& generation = config.cluster.device.generation;
  if (config.software.attention == plan::AttentionKernel::unfused && generation != "ampere" &&
      generation != "volta")
    config.software.attention = plan::AttentionKernel::flash2;
  config.plan.overlap = framework.overlap;
  config.job.grad_dtype = framework.grads;
  run.memory_figure = framework.memory;

  const std::string_view notes = row.text("notes");
  const auto noted = [&](std::string_view words) {
    return notes.find(words) != std::string_view::npos;
  };
  if (noted("nvidia-smi") || noted("memory ratio")) run.memory_figure = MemoryFigure::device;
  if (noted("max reserved")) run.memory_figure = MemoryFigure::reserved;
  if (noted("no DP overlap")) config.plan.overlap = kNoOverlap;
  if (noted("async TP") || noted("asyncTP") || run.id.find("asyncTP") != std::string::npos)
    config.plan.overlap.tp = true;
  // DeepSpeed's bf16 mode accumulates gradients in fp32.
  if (framework.software == "megatron-deepspeed" && run.precision == "bf16")
    config.job.grad_dtype = plan::Dtype::fp32;
  // torchtitan has compiled its loss since spring 2025 (pytorch/torchtitan#1033).
  if (framework.software == "torchtitan-2024" &&
      row.text("source").find("_2024") != std::string_view::npos)
    config.software.loss = plan::Loss::eager;
  if (find_note(notes, "tuned") == "0") config.software.tuned = false;
  if (find_note(notes, "launch") == "blocking") config.software.launch = plan::Launch::blocking;
  if (config.model.sparse()) read_expert_software(row, run);
}
}  // namespace

std::optional<std::string_view> find_device_name(std::string_view gpu) {
  const auto found = find_prefix(kGpus, gpu);
  if (found == std::end(kGpus)) return std::nullopt;
  return found->device;
}

Run make_run(const RunRow& row) {
  Run run;
  run.id = row.text("id");
  run.family = row.text("family");
  // vTrain's two tables belong to one publication and are held out together.
  run.publication = row.single() ? "vtrain" : run.family == "bridge2" ? "bridge" : run.family;
  run.gpu = row.text("gpu");
  run.precision = row.text("precision");
  run.quality = row.text("quality");
  run.measured = row.step();
  run.measured_memory = row.memory();

  plan::TrainingConfig& config = run.config;
  config.model = read_model(row);
  run.model = config.model.name;
  run.sparse = config.model.sparse();
  const Result<cluster::Device> device = catalog::find_device(*find_device_name(run.gpu));
  config.world = *row.whole("gpus");
  config.cluster = read_cluster(row, *device, config.world);
  config.plan = read_plan(row, run);
  config.job.global_batch = *row.whole("global_batch_seqs");
  config.job.sequence = *row.whole("seq");
  read_software(row, run);
  read_fine_tuning(row, run);
  read_layout(row.text("notes"), config);
  if (find_note(row.text("notes"), "moments") == "bf16")
    config.job.moment_dtype = plan::Dtype::bf16;
  for (const PrecisionRow& precision : kPrecisions)
    if (config.job.matmul == plan::Matmul::same &&
        run.precision.find(precision.part) != std::string::npos)
      config.job.matmul = precision.matmul;
  for (const std::string_view column :
       {"tp", "pp", "vpp", "dp", "cp", "ep", "micro_batch", "schedule", "zero_stage", "recompute"})
    run.layout += fmt::format("{}|", row.text(column));
  return run;
}

}  // namespace rankwright::validate
