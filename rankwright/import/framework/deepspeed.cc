// Reads DeepSpeed's JSON config (checked against DeepSpeed 0.19.6). Values of "auto", which Hugging
// Face's Trainer fills in, are left to defaults.
#include "rankwright/import/framework/deepspeed.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/base/quantity.h"
#include "rankwright/import/framework/foreign.h"
#include "rankwright/import/plan/plan_format.h"
#include "rankwright/import/syntax/file.h"
#include "rankwright/import/syntax/json_tree.h"
#include "rankwright/plan/shares.h"

namespace rankwright::importer {
namespace {

bool is_auto(const YamlNode& node) {
  return node.kind == YamlNode::Kind::scalar && node.scalar == "auto";
}

template <void (*read)(ForeignReading&, const YamlNode&)>
void unless_auto(ForeignReading& r, const YamlNode& node) {
  if (!is_auto(node)) read(r, node);
}

template <std::optional<i64> Draft::*member, i64 max>
constexpr void (*kWhole)(ForeignReading&, const YamlNode&) = unless_auto<whole<member, max>>;

/// The autotuner chooses one of a list of stages.
void read_deepspeed_zero(ForeignReading& r, const YamlNode& node) {
  constexpr Word<int> kWords[] = {{"0", 0}, {"1", 1}, {"2", 2}, {"3", 3}};
  const bool list = node.kind == YamlNode::Kind::sequence && !node.items.empty();
  r.draft.zero = parse_word(r, list ? node.items.back() : node, kWords);
  if (list) report_left_out(r, node, "the tuner chooses a stage: estimated with the last one");
}

/// -1 means off.
void read_mics_shard_size(ForeignReading& r, const YamlNode& node) {
  if (node.scalar != "-1") r.draft.shard_size = r.fields.whole(node, 1, kMaxDegree);
}

/// Accepts floating-point notation such as 5e8. A parameter that is larger than a bucket is reduced
/// by itself, so that buckets of a few elements are as many as the parameters.
void read_bucket_size(ForeignReading& r, const YamlNode& node) {
  constexpr i64 kSmallest = 128, kOfParameters = 4'000'000;
  const std::optional<double> n = r.fields.number(node, 1, double(kMaxBucket));
  if (!n) return;
  r.draft.bucket_size = *n < kSmallest ? kOfParameters : i64(*n);
  if (*n < kSmallest)
    report_left_out(r, node,
                    "DeepSpeed reduces each parameter by itself with buckets this small: estimated "
                    "with buckets of 4 M elements");
}

/// An optimizer in host memory runs PyTorch's Adam instead of DeepSpeed's vectorized one.
void read_torch_adam(ForeignReading& r, const YamlNode& node) {
  if (!is_off(node) && find_path(r.root, "zero_optimization.offload_optimizer") != nullptr)
    report_left_out(r, node,
                    "torch_adam: the update on the host is estimated with DeepSpeed's Adam");
}

/// 1 means off.
void read_hpz(ForeignReading& r, const YamlNode& node) {
  if (node.scalar == "1" || node.scalar == "0") return;
  report_left_out(r, node,
                  "zero_optimization.zero_hpz_partition_size: each group of ranks keeps a second "
                  "copy of the parameters");
}

void read_recompute(ForeignReading& r, const YamlNode& node) {
  if (const std::optional<i64> interval = r.fields.whole(node, 0, kMaxCount))
    r.draft.recompute = *interval > 0 ? plan::Recompute::full : plan::Recompute::none;
}

void read_grad_dtype(ForeignReading& r, const YamlNode& node) {
  constexpr Word<plan::Dtype> kWords[] = {
      {"fp32", plan::Dtype::fp32}, {"bf16", plan::Dtype::bf16}, {"fp16", plan::Dtype::fp16}};
  r.draft.grad_dtype = parse_word(r, node, kWords);
}

/// Parameters are updated in bf16, without a wider copy.
void read_bf16_master(ForeignReading& r, const YamlNode& node) {
  if (!is_off(node)) r.draft.master_dtype = plan::Dtype::bf16;
}

void read_bf16_moments(ForeignReading& r, const YamlNode& node) {
  if (!is_off(node)) r.draft.moment_dtype = plan::Dtype::bf16;
}

/// Reads the part of the optimizer states that leaves the device, if any does.
void read_offload_ratio(ForeignReading& r, const YamlNode& node) {
  if (r.draft.offload_optimizer) r.draft.offload_optimizer = r.fields.number(node, 0, 1);
}

/// Reports what the estimate of states on drives does not follow.
void read_swap_overlap(ForeignReading& r, const YamlNode& node) {
  if (!is_off(node) && r.draft.offload_nvme)
    report_left_out(r, node, "estimated with reads, update and writes one after another");
}

void read_sub_group_size(ForeignReading& r, const YamlNode& node) {
  if (!r.draft.offload_nvme) return;
  if (const Result<double> stated = parse_real(node.scalar);
      stated && *stated > double(plan::kNvmeBuffer))
    report_left_out(r, node,
                    fmt::format("host buffers are estimated with sub-groups of {} elements",
                                count(plan::kNvmeBuffer)));
}

/// DeepSpeed accepts any class of torch.optim: unknown ones are reported as ignored, not rejected.
void read_deepspeed_optimizer(ForeignReading& r, const YamlNode& node) {
  constexpr Word<plan::Optimizer> kWords[] = {
      {"adam", plan::Optimizer::adam},      {"adamw", plan::Optimizer::adam},
      {"fusedadam", plan::Optimizer::adam}, {"cpuadam", plan::Optimizer::adam},
      {"sgd", plan::Optimizer::sgd},        {"lion", plan::Optimizer::lion},
      {"muon", plan::Optimizer::muon},      {"adafactor", plan::Optimizer::adafactor}};
  const std::string word = lower(node.scalar.substr(0, kLongestLabel));
  for (const Word<plan::Optimizer>& known : kWords)
    if (word == known.word) {
      r.draft.optimizer = known.value;
      return;
    }
  report_left_out(r, node, "optimizer.type: estimated with Adam's states");
}

constexpr std::string_view kWideStates = "estimated with fp32 optimizer states";
constexpr std::string_view kQuantized = "communication is estimated in the plan's number formats";

constexpr ForeignKey kDeepspeedKeys[] = {
    {"data_parallel_size", "parallelism.dp_size", kWhole<&Draft::dp, kMaxDegree>, true},
    {"tensor_parallel.autotp_size", "parallelism.tp_size", kWhole<&Draft::tp, kMaxDegree>, true},
    {"sequence_parallel_size", "parallelism.cp_size", kWhole<&Draft::cp, kMaxContext>, true},
    {"pipeline.stages", "parallelism.pp_size", kWhole<&Draft::pp, kMaxDegree>, true},
    {"pipeline.activation_checkpoint_interval", "parallelism.recompute",
     unless_auto<read_recompute>},
    {"expert_parallel.autoep_size", "parallelism.ep_size"},
    {"expert_parallel.enabled", "parallelism.ep_size"},
    {"expert_parallel.expert_tensor_parallel_size", "parallelism.etp_size",
     kWhole<&Draft::etp, kMaxDegree>, true},
    {"zero_optimization.stage", "parallelism.zero_stage", unless_auto<read_deepspeed_zero>, true},
    {"zero_optimization.mics_shard_size", "parallelism.shard_size",
     unless_auto<read_mics_shard_size>, true},
    {"zero_optimization.reduce_bucket_size", "parallelism.bucket_size",
     unless_auto<read_bucket_size>, true},
    {"zero_optimization.zero_hpz_partition_size", "", unless_auto<read_hpz>},
    {"zero_optimization.overlap_comm", "parallelism.overlap.grad_reduce",
     unless_auto<flag<&Draft::overlap_grad>>, true},
    {"train_micro_batch_size_per_gpu", "parallelism.micro_batch",
     kWhole<&Draft::micro_batch, kMaxMicroBatch>, true},
    {"train_batch_size", "job.global_batch", kWhole<&Draft::global_batch, plan::kMaxBatch>, true},
    {"gradient_accumulation_steps", "job.global_batch",
     kWhole<&Draft::accumulation, plan::kMaxBatch>},
    {"bf16.enabled", "job.param_dtype"},
    {"bfloat16.enabled", "job.param_dtype"},
    {"fp16.enabled", "job.param_dtype"},
    {"data_types.grad_accum_dtype", "job.grad_dtype", unless_auto<read_grad_dtype>, true},
    {"optimizer.type", "job.optimizer", unless_auto<read_deepspeed_optimizer>},
    {"_comment", ""},
    {"optimizer.params.torch_adam", "", read_torch_adam},
    {"zero_optimization.offload_optimizer.device", "parallelism.offload.optimizer",
     unless_auto<read_offload_optimizer>},
    {"zero_optimization.offload_optimizer.ratio", "parallelism.offload.optimizer",
     read_offload_ratio},
    {"zero_optimization.offload_param.device", "parallelism.offload.parameters",
     unless_auto<read_offload_parameters>},
    {"zero_optimization.offload_optimizer.nvme_path", "parallelism.offload.nvme_path",
     read_nvme_path},
    {"zero_optimization.offload_param.nvme_path", "parallelism.offload.nvme_path", read_nvme_path},
    {"zero_optimization.offload_optimizer.pipeline_read", "", read_swap_overlap},
    {"zero_optimization.offload_optimizer.pipeline_write", "", read_swap_overlap},
    {"zero_optimization.sub_group_size", "", read_sub_group_size},
    {"zero_optimization.cpu_offload", "parallelism.offload.optimizer", read_offload_optimizer},
    {"zero_optimization.cpu_offload_param", "parallelism.offload.parameters",
     read_offload_parameters},
    {"zero_optimization.zenflow", "parallelism.offload.optimizer", read_offload_optimizer},
    {"zero_optimization.zero_quantized_weights", "", nullptr, false, kQuantized},
    {"zero_optimization.zero_quantized_gradients", "", nullptr, false, kQuantized},
    {"zero_optimization.zero_quantized_nontrainable_weights", "", nullptr, false, kQuantized},
    {"communication_data_type", "", nullptr, false, kQuantized},
    {"activation_checkpointing.cpu_checkpointing", "parallelism.offload.activations",
     flag<&Draft::offload_activations>},
    {"activation_checkpointing.partition_activations", "", nullptr, false,
     "estimated with whole activations on every TP rank"},
    {"bf16.bf16_master_weights_and_grads", "job.master_dtype", read_bf16_master},
    {"bf16.bf16_optimizer_states", "job.moment_dtype", read_bf16_moments},
    {"fp16.fp16_master_weights_and_grads", "", nullptr, false, kWideStates},
    {"torch_autocast.enabled", "", nullptr, false,
     "estimated with one number format for all parameters"},
    {"amp.enabled", "", nullptr, false, "estimated with one number format for all parameters"},
    {"elasticity.enabled", "", nullptr, false,
     "the batch is chosen when the number of ranks is known"},
    {"curriculum_learning.enabled", "", nullptr, false, "every step is estimated as the longest"},
    {"progressive_layer_drop.enabled", "", nullptr, false, "every layer is counted in every step"},
    {"sparse_attention", "", nullptr, false, "estimated with full attention"},
};

/// Returns nothing for "auto", which is decided at run time.
std::optional<bool> enabled(ForeignReading& r, std::string_view path) {
  const YamlNode* const node = find_path(r.root, path);
  if (node == nullptr) return false;
  if (is_auto(*node)) return std::nullopt;
  return r.fields.flag(*node);
}

/// Returns whether the config leaves a setting to the program, which then decides the format, too.
bool leaves_to_program(const YamlNode& root) {
  return std::any_of(root.entries.begin(), root.entries.end(),
                     [](const YamlEntry& entry) { return is_auto(entry.value); });
}

/// Defaults to fp32 if neither bf16 nor fp16 is on; gradients have the format of the parameters
/// unless stated.
void read_dtypes(ForeignReading& r) {
  std::optional<bool> bf16 = enabled(r, "bf16.enabled");
  if (bf16 == false) bf16 = enabled(r, "bfloat16.enabled");
  const std::optional<bool> fp16 = enabled(r, "fp16.enabled");
  if (bf16 == true)
    r.draft.param_dtype = plan::Dtype::bf16;
  else if (fp16 == true)
    r.draft.param_dtype = plan::Dtype::fp16;
  else if (bf16 && fp16 &&
           (!leaves_to_program(r.root) || find_path(r.root, "bf16") || find_path(r.root, "fp16")))
    r.draft.param_dtype = plan::Dtype::fp32;
  // The program decides on fp16 ("auto"), but bf16 is off.
  else if (const YamlNode* const off = find_path(r.root, "bf16.enabled");
           off != nullptr && is_off(*off) && find_path(r.root, "fp16.enabled") != nullptr)
    r.draft.param_dtype = plan::Dtype::fp16;
  if (!r.draft.grad_dtype) r.draft.grad_dtype = r.draft.param_dtype;
}

/// If only one of the three batch values is stated, accumulation is 1; with two, the third follows,
/// as in DeepSpeed.
void read_deepspeed_batch(ForeignReading& r) {
  Draft& draft = r.draft;
  const bool open = find_path(r.root, "gradient_accumulation_steps") != nullptr;
  const bool micro = find_path(r.root, "train_micro_batch_size_per_gpu") != nullptr;
  const bool batch = find_path(r.root, "train_batch_size") != nullptr;
  if (!open && !draft.accumulation && micro != batch && (draft.micro_batch || draft.global_batch))
    draft.accumulation = 1;
}

/// The settings that the name of a DeepSpeed config states.
struct NamedConfig {
  std::optional<int> stage{};
  bool offload = false;
};

/// Words before "offload" in the name of a config without it.
constexpr std::string_view kDenials[] = {"no", "no_", "no-", "non_", "non-", "without_", "wo_"};

/// Returns the settings of a name: "ds_z3_config.json", "zero2_offload.json", "zero2_no_offload".
NamedConfig parse_config_name(std::string_view path) {
  const std::string name = lower(path.substr(path.rfind('/') + 1));
  const std::size_t offload = name.find("offload");
  const std::string_view before = std::string_view(name).substr(0, std::min(offload, name.size()));
  const bool denied = std::any_of(std::begin(kDenials), std::end(kDenials),
                                  [&](std::string_view word) { return before.ends_with(word); });
  NamedConfig config{.offload = offload != std::string::npos && !denied};
  for (const std::string_view word : {"zero_stage", "zero", "stage", "z"})
    for (std::size_t at = name.find(word); at != std::string::npos; at = name.find(word, at + 1)) {
      std::size_t digit = at + word.size();
      if (digit < name.size() && (name[digit] == '_' || name[digit] == '-')) ++digit;
      if (config.stage || digit >= name.size() || name[digit] < '0' || name[digit] > '3') continue;
      config.stage = name[digit] - '0';
    }
  return config;
}

}  // namespace

bool follow_deepspeed_config(ForeignReading& r, const YamlNode& named, PlanFile& plan) {
  Draft& draft = r.draft;
  draft.target = rules::Target::deepspeed;
  draft.framework = find_software(rules::Target::deepspeed);
  const Result<std::string> text = read_named_config(r.files, plan.name, named.scalar);
  const Result<YamlNode> root =
      text ? read_commented_json_tree(*text, named.scalar) : Result<YamlNode>(fail(text.error()));
  if (root) {
    FieldReader fields(named.scalar, plan.findings);
    ForeignReading reading{fields, draft, *root, r.files};
    draft.zero = 0;  // DeepSpeed's default
    read_deepspeed_tree(reading, plan);
    return true;
  }
  const NamedConfig config = parse_config_name(named.scalar);
  if (!config.stage) return false;
  draft.zero = config.stage;
  if (config.offload) draft.offload_optimizer = 1;
  if (config.offload && *config.stage == 3) draft.offload_parameters = true;
  // ms-swift has configs of these names: "zero3", "zero2_offload".
  if (named.scalar.find_first_of("./") == std::string::npos) return true;
  const std::string stage =
      fmt::format("ZeRO-{}{}", *config.stage, config.offload ? " with offloading" : "");
  plan.open.push_back(
      {"parallelism.zero_stage", stage, "put the DeepSpeed config beside the file"});
  r.fields.report(named, make_assumption(fmt::format("{}, by its name: {} cannot be read", stage,
                                                     make_path_excerpt(named.scalar)),
                                         "put the DeepSpeed config beside the file"));
  return true;
}

bool claims_deepspeed(std::string_view file, std::string_view text) {
  constexpr std::string_view kMarks[] = {"\"zero_optimization\"", "\"train_batch_size\"",
                                         "\"train_micro_batch_size_per_gpu\""};
  return (file.ends_with(".json") || file == "-") &&
         std::any_of(std::begin(kMarks), std::end(kMarks), [&](std::string_view mark) {
           return text.find(mark) != std::string_view::npos;
         });
}

void read_deepspeed_tree(ForeignReading& reading, PlanFile& plan) {
  reading.known = &KnownKeys::find("deepspeed");
  read_foreign(reading, kDeepspeedKeys, plan);
  // The switch of the first releases: true is stage 1.
  if (const YamlNode* const zero = reading.root.find("zero_optimization");
      zero != nullptr && zero->kind == YamlNode::Kind::scalar) {
    reading.draft.zero = is_off(*zero) ? 0 : 1;
    std::erase(plan.ignored_keys, "zero_optimization");
  }
  read_dtypes(reading);
  read_deepspeed_batch(reading);
  Draft& draft = reading.draft;
  const YamlNode& root = reading.root;
  if (enabled(reading, "expert_parallel.enabled") == true)
    draft.ep = read_whole_at(reading, "expert_parallel.autoep_size", 1, kMaxDegree);
  if (draft.cp > 1) draft.cp_comm = plan::CpComm::a2a;  // Ulysses
  draft.sequence_parallel = false;                      // AutoTP has none
  if (find_path(root, "zero_optimization.overlap_comm") == nullptr)
    draft.overlap_grad = draft.zero == 3;  // DeepSpeed's default
  // Stage 0 reduces gradients when backward is done, whatever overlap_comm says; RW0554 reports
  // pipelines, which do so too.
  const bool no_stage = find_path(root, "zero_optimization.stage") == nullptr;
  if (no_stage || draft.zero == 0) draft.overlap_grad = false;
  draft.order = mesh::kDefaultOrder;  // its grids (pipe, data, model), row-major
  draft.framework = find_software(rules::Target::deepspeed);
}

void read_deepspeed(PlanFile& plan, const FileReader& files) {
  const Result<YamlNode> root = read_commented_json_tree(plan.text, plan.name);
  if (!root) return plan.findings.push_back(root.error());
  FieldReader fields(plan.name, plan.findings);
  ForeignReading reading{fields, plan.draft, *root, files};
  read_deepspeed_tree(reading, plan);
  plan.keys = fields.keys();
}

std::string spell_deepspeed(const Edit& edit) {
  const ForeignKey* const row = find_row_for(kDeepspeedKeys, edit.key);
  return row == nullptr ? "" : fmt::format("{}: {}", row->path, edit.value);
}

Diagnostics check_resolved_deepspeed(const PlanFile& plan, const plan::TrainingConfig& config) {
  const Draft& draft = plan.draft;
  if (!draft.global_batch || !draft.accumulation || !draft.micro_batch) return {};
  const i64 batch = *draft.global_batch, micro = *draft.micro_batch;
  const i64 accumulation = *draft.accumulation, dp = config.plan.dp;
  if (product({micro, accumulation, dp}) == batch) return {};
  const std::string factors =
      fmt::format("micro-batch {} x accumulation {} x {}", count(micro), count(accumulation),
                  plural(dp, "data-parallel rank", "data-parallel ranks"));
  return {{.code = "RW0604",
           .message = "inconsistent numbers in the file",
           .detail = fmt::format("train_batch_size {} is not {}", count(batch), factors),
           .hint = "remove gradient_accumulation_steps, or correct train_batch_size",
           .key = "job.global_batch",
           .where = plan.where("job.global_batch")}};
}

}  // namespace rankwright::importer
