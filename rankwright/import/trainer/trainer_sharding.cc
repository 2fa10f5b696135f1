// How the Trainer shards: DeepSpeed's config or its flags, FSDP's settings, or those of
// accelerate's launcher.
#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/import/framework/deepspeed.h"
#include "rankwright/import/plan/plan_format.h"
#include "rankwright/import/syntax/json_tree.h"
#include "rankwright/import/trainer/trainer_parts.h"

namespace rankwright::importer {
namespace {

/// Names of DeepSpeed's config beside `deepspeed`.
constexpr const char* kDeepSpeedConfigs[] = {"deepspeed_config", "deepspeed_config_path",
                                             "ds_config", "ds_config_path", "ds_config_file"};

/// Reports that the DeepSpeed config states another 16-bit format than the flags, which the trainer
/// refuses.
void report_other_format(ForeignReading& r, const YamlNode& named) {
  const bool bf16 = is_on_at(r.root, "bf16"), fp16 = is_on_at(r.root, "fp16");
  const bool other = (bf16 && r.draft.param_dtype == plan::Dtype::fp16) ||
                     (fp16 && !bf16 && r.draft.param_dtype == plan::Dtype::bf16);
  if (!other) return;
  r.fields.report(
      named, {.code = "RW0616",
              .severity = Severity::warning,
              .message = "the framework rejects these settings together",
              .detail = fmt::format("the flags state {} and {} states {}", bf16 ? "bf16" : "fp16",
                                    make_path_excerpt(named.scalar), name(*r.draft.param_dtype))});
}

/// Reads the DeepSpeed config that the file names, which has no states to shard if nothing says so.
void follow_deepspeed(ForeignReading& r, const YamlNode& named, PlanFile& plan) {
  if (follow_deepspeed_config(r, named, plan)) return report_other_format(r, named);
  r.draft.zero = 0;
  constexpr const char* kHint = "put the DeepSpeed config beside the file";
  plan.open.push_back({"parallelism.zero_stage", "no ZeRO", kHint});
  r.fields.report(named, make_assumption(fmt::format("no ZeRO: {} cannot be read",
                                                     make_path_excerpt(named.scalar)),
                                         kHint));
}

/// Reads the flags of programs that make DeepSpeed's config themselves, as safe-rlhf's and
/// DeepSpeed-Chat's do: `--zero_stage 3 --offload optimizer`.
void read_zero_flags(ForeignReading& r) {
  constexpr i64 kLastStage = 3;
  r.draft.zero = int(read_whole_at(r, "zero_stage", 0, kLastStage).value_or(0));
  r.draft.target = rules::Target::deepspeed;
  r.draft.framework = find_software(rules::Target::deepspeed);
  const YamlNode* const offload = find_path(r.root, "offload");
  if (offload == nullptr || is_off(*offload) || offload->scalar == "none") return;
  const bool all = offload->scalar == "true" || offload->scalar == "all";
  if (all || offload->scalar == "optimizer") r.draft.offload_optimizer = 1;
  if (r.draft.zero == kLastStage && (all || offload->scalar == "parameter"))
    r.draft.offload_parameters = true;
}

/// Reads FSDP's settings, with or without its prefix.
void read_fsdp_settings(ForeignReading& r) {
  r.draft.zero = 3;
  if (const YamlNode* const words = find_path(r.root, "fsdp")) {
    const auto has = [&](std::string_view word) {
      return words->scalar.find(word) != std::string::npos ||
             std::any_of(words->items.begin(), words->items.end(),
                         [&](const YamlNode& item) { return item.scalar == word; });
    };
    if (has("shard_grad_op") || has("hybrid_shard_zero2")) r.draft.zero = 2;
    if (has("no_shard")) r.draft.zero = 0;
    if (has("offload")) read_offload_all(r, *words);
  }
  for (const char* const path :
       {"fsdp_config.reshard_after_forward", "fsdp_config.fsdp_reshard_after_forward"})
    if (const YamlNode* const node = find_path(r.root, path); node != nullptr && is_off(*node))
      r.draft.zero = 2;
  for (const char* const path : {"fsdp_config.offload_params", "fsdp_config.fsdp_offload_params"})
    if (const YamlNode* const node = find_path(r.root, path); node != nullptr)
      read_offload_all(r, *node);
  for (const char* const path :
       {"fsdp_config.activation_checkpointing", "fsdp_config.fsdp_activation_checkpointing"})
    if (is_on_at(r.root, path)) r.draft.recompute = plan::Recompute::full;
}

/// Takes what a launcher states. The program's own settings override it.
void take_launched(Draft& d, const Draft& launched) {
  const auto take = [&](auto member) {
    if (!(d.*member)) d.*member = launched.*member;
  };
  d.zero = launched.zero.value_or(0);
  if (launched.target == rules::Target::deepspeed) {
    d.target = launched.target;
    d.framework = launched.framework;
  }
  d.replicas = launched.replicas;
  d.overlap_grad = launched.overlap_grad;
  take(&Draft::recompute);
  take(&Draft::param_dtype);
  take(&Draft::offload_optimizer);
  take(&Draft::offload_parameters);
  take(&Draft::cp);
  take(&Draft::tp);
  take(&Draft::accumulation);
  if (!d.shape && launched.shape)
    d.shape = launched.shape;
  else if (!d.shape)
    take(&Draft::world);
}

void read_data_degrees(ForeignReading& r) {
  const std::optional<i64> shards = read_whole_at(r, "dp_shard_size", 1, kMaxDegree);
  const std::optional<i64> replicas = read_whole_at(r, "dp_replicate_size", 1, kMaxDegree);
  const std::optional<i64> dp = product({shards.value_or(1), replicas.value_or(1)});
  if (shards && dp && *dp <= kMaxDegree) r.draft.dp = dp;
  if (replicas > 1 && r.draft.zero > 0) r.draft.replicas = replicas;
}

}  // namespace

void read_sharding(ForeignReading& r, const std::optional<Draft>& launched, PlanFile& plan) {
  const YamlNode& root = r.root;
  const YamlNode* deepspeed = find_path(root, "deepspeed");
  const YamlNode* named = nullptr;
  for (const char* const key : kDeepSpeedConfigs)
    if (named == nullptr) named = find_path(root, key);
  // DeepSpeed's own arguments are a switch and a file.
  if (named != nullptr && (deepspeed == nullptr || deepspeed->scalar == "true")) deepspeed = named;
  const bool only_switch = deepspeed != nullptr && deepspeed->scalar == "true" &&
                           find_path(root, "zero_stage") != nullptr;
  if (deepspeed != nullptr && deepspeed->kind == YamlNode::Kind::scalar && !is_off(*deepspeed) &&
      !only_switch)
    follow_deepspeed(r, *deepspeed, plan);
  else if (find_path(root, "zero_stage") != nullptr)
    read_zero_flags(r);
  else if (is_on_at(root, "fsdp") || is_on_at(root, "fsdp_config") ||
           is_on_at(root, "dp_shard_size"))
    read_fsdp_settings(r);
  else if (launched)
    take_launched(r.draft, *launched);
  else  // accelerate's config, another file, may name them
    plan.open.push_back({"parallelism.zero_stage", "no ZeRO", "set zero_stage in a plan file"});
  read_data_degrees(r);
}

void follow_fsdp_config(YamlNode& root, const std::string& file, const FileReader& files,
                        Diagnostics& findings) {
  for (YamlEntry& entry : root.entries) {
    YamlNode& value = entry.value;
    const bool names_file = value.kind == YamlNode::Kind::scalar && value.scalar.ends_with(".json");
    if (entry.key.scalar != "fsdp_config" || !names_file) continue;
    const Result<std::string> text = read_named_file(files, file, value.scalar);
    Result<YamlNode> tree =
        text ? read_json_tree(*text, value.scalar) : Result<YamlNode>(fail(text.error()));
    if (!tree || tree->kind != YamlNode::Kind::map) {
      findings.push_back(make_assumption(fmt::format("FSDP's defaults for what {} may state: it "
                                                     "cannot be read",
                                                     make_excerpt(value.scalar)),
                                         "put the file beside this one", location(value, file)));
      continue;
    }
    move_to(*tree, value);
    value = std::move(*tree);
  }
}

}  // namespace rankwright::importer
