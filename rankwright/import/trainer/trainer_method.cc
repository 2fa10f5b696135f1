// Methods of post-training: what they train on, the models beside the trained one, and sequences
// that are stated in parts.
#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/import/plan/plan_format.h"
#include "rankwright/import/trainer/trainer_parts.h"

namespace rankwright::importer {
namespace {

/// The methods that LLaMA-Factory (`stage`) and axolotl (`rl`) name, and TRL's losses on pairs.
struct TrainerMethodRow {
  std::string_view name;
  plan::Method method;
  bool reference;
};
constexpr TrainerMethodRow kTrainerMethods[] = {
    {"sft", plan::Method::lm, false},    {"pt", plan::Method::lm, false},
    {"dpo", plan::Method::dpo, true},    {"ipo", plan::Method::dpo, true},
    {"simpo", plan::Method::dpo, false}, {"orpo", plan::Method::dpo, false},
    {"grpo", plan::Method::grpo, false},
};

const TrainerMethodRow* find_trainer_method(std::string_view name) {
  const auto found = std::find_if(std::begin(kTrainerMethods), std::end(kTrainerMethods),
                                  [&](const TrainerMethodRow& row) { return row.name == name; });
  return found == std::end(kTrainerMethods) ? nullptr : found;
}

/// Returns the limit of prompts, under TRL's name or that of programs of their own.
std::optional<i64> read_prompt_limit(ForeignReading& r) {
  const std::optional<i64> limit = read_whole_at(r, "max_prompt_length", 1, kMaxSequence / 2);
  return limit ? limit : read_whole_at(r, "max_prompt_tokens", 1, kMaxSequence / 2);
}

/// Keys that only trainers on pairs have, and those that only trainers on completions have.
constexpr const char* kPairKeys[] = {"rpo_alpha", "precompute_ref_log_probs", "force_use_ref_model",
                                     "label_pad_token_id"};
constexpr const char* kCompletionKeys[] = {"num_generations", "reward_funcs", "use_vllm",
                                           "scale_rewards", "num_iterations"};

/// The losses on pairs of TRL's DPOConfig and CPOConfig (`loss_type`).
constexpr std::string_view kPairLosses[] = {
    "sigmoid", "hinge",    "ipo",      "exo_pair", "nca_pair",  "robust",   "bco_pair",
    "aot",     "aot_pair", "discopop", "apo_zero", "sppo_hard", "apo_down", "simpo"};
constexpr std::string_view kLossWithoutReference = "simpo";

/// Returns whether the settings are those of TRL's trainers on pairs. Their configs may limit the
/// completion, too.
bool trains_on_pairs(const ForeignReading& r) {
  const auto stated = [&](const char* key) { return find_path(r.root, key) != nullptr; };
  const std::string_view loss = read_word(r, "loss_type");
  return has_any_key(r, kPairKeys) || (stated("max_length") && stated("max_prompt_length")) ||
         std::find(std::begin(kPairLosses), std::end(kPairLosses), loss) != std::end(kPairLosses);
}

/// Returns whether the trained model learns from the logits of a teacher (TRL's GKD and GOLD).
/// These trainers are those of supervised fine-tuning, with sequences of `max_length`; ms-swift's
/// prompts have it, unless nothing is generated.
bool distills(const ForeignReading& r) {
  return read_word(r, "rlhf_type") == "gkd" || read_word(r, "rl") == "gkd";
}

/// Reads the method of TRL's files, which the script names and the file shows: completions are
/// those of GRPO, and the weight of another penalty is that of DPO.
void read_trl_method(ForeignReading& r) {
  Draft& draft = r.draft;
  if (draft.method) return;
  if (distills(r)) {
    draft.ref_model = false;
    return;
  }
  const YamlNode* const node = find_path(r.root, "beta");
  const bool penalty = node != nullptr && r.fields.number(*node, 0, 1e6).value_or(0) > 0;
  // A method that is not known here has a weight of its own by this name: GKD's mixes two losses.
  const bool other = find_path(r.root, "rlhf_type") != nullptr ||
                     find_path(r.root, "rl") != nullptr || find_path(r.root, "stage") != nullptr;
  const bool generates = has_any_key(r, kCompletionKeys);
  const bool pairs = !generates && !other && trains_on_pairs(r);
  if (generates || (!pairs && find_path(r.root, "max_completion_length") != nullptr)) {
    draft.method = plan::Method::grpo;
    if (other) draft.ref_model = false;
    return;
  }
  if (!pairs && (!penalty || other)) return;
  draft.method = plan::Method::dpo;
  draft.ref_model = read_word(r, "loss_type") != kLossWithoutReference;
}

/// The reference of GRPO's penalty, if its weight is not 0. ms-swift's default is 0.04; that of TRL
/// was 0.04 at first, when generation had a device of its own, and is 0 today.
void finish_penalty(ForeignReading& r, const PlanFile& plan) {
  Draft& draft = r.draft;
  if (draft.method != plan::Method::grpo || draft.ref_model == false) return;
  if (const YamlNode* const weight = find_path(r.root, "beta")) {
    draft.ref_model = r.fields.number(*weight, 0, 1e6).value_or(0) > 0;
    return;
  }
  draft.ref_model = is_swift(r) || find_path(r.root, "vllm_device") != nullptr;
  const bool trl =
      find_path(r.root, "stage") == nullptr && find_path(r.root, "base_model") == nullptr;
  if (!*draft.ref_model && trl)
    r.fields.report(
        r.root, make_assumption("no reference model: no weight of its penalty is "
                                "stated",
                                "set ref_model: true if the trainer has one", {.file = plan.name}));
}

/// Names what reinforcement learning runs beside the update that is estimated.
void report_generation(ForeignReading& r) {
  constexpr const char* kPlaces[] = {"use_vllm", "num_generations", "max_completion_length",
                                     "rlhf_type", "rl"};
  const bool generates = r.draft.method == plan::Method::grpo || is_on_at(r.root, "use_vllm");
  for (const char* const key : kPlaces)
    if (const YamlNode* const node = find_path(r.root, key); node != nullptr && generates)
      return report_left_out(r, *node,
                             "generation, which may share the GPUs, and passes for "
                             "log-probabilities before the update are not estimated");
}

/// LLaMA-Factory makes all logits in every stage but pt and sft, and turns off the fused output
/// head of Liger there (model_utils/liger_kernel.py: "does not support chunked cross entropy").
void finish_stage(ForeignReading& r) {
  const YamlNode* const stage = find_path(r.root, "stage");
  if (stage == nullptr || stage->scalar == "pt" || stage->scalar == "sft") return;
  if (r.draft.loss == plan::Loss::fused_linear)
    report_left_out(r, *stage,
                    fmt::format("{}: LLaMA-Factory turns off Liger's fused loss in this stage",
                                make_excerpt(stage->scalar)));
  r.draft.loss = plan::Loss::log_probs;
}

/// A device's batch of preference optimization counts pairs. LLaMA-Factory's losses on pairs have
/// no reference model if `pref_loss` says so.
void finish_pairs(ForeignReading& r) {
  Draft& draft = r.draft;
  if (draft.method != plan::Method::dpo) return;
  count_pairs_twice(draft);
  const TrainerMethodRow* const loss = find_trainer_method(read_word(r, "pref_loss"));
  if (loss != nullptr) draft.ref_model = loss->reference;
}

/// Returns whether the settings are those of TRL's trainers, which have defaults of their own.
bool is_trl(const ForeignReading& r) {
  constexpr const char* kKeys[] = {"use_peft",
                                   "dataset_text_field",
                                   "packing",
                                   "assistant_only_loss",
                                   "completion_only_loss",
                                   kTrlMark.data()};
  constexpr const char* kOthers[] = {"finetuning_type", "base_model", "sequence_len"};
  if (has_any_key(r, kOthers) || is_swift(r)) return false;
  return r.draft.method.has_value() || has_any_key(r, kKeys);
}

/// TRL's sequences: pairs have a limit of their own beside that of the tokenizer, and defaults
/// apply to what is not stated (DPOConfig and SFTConfig: 1,024 tokens; GRPOConfig: prompts of 512
/// and completions of 256).
void finish_length(ForeignReading& r, PlanFile& plan) {
  constexpr i64 kUsualPrompt = 512, kUsualAnswer = 256, kUsualLength = 1024;
  Draft& draft = r.draft;
  const YamlNode* const limit = find_path(r.root, "max_length");
  if (draft.method == plan::Method::dpo && limit != nullptr && limit->scalar != "-1")
    draft.sequence = r.fields.whole(*limit, 1, kMaxSequence);
  const std::optional<i64> answer = read_whole_at(r, "max_completion_length", 1, kMaxSequence / 2);
  const bool distilled = distills(r);
  if (distilled && limit != nullptr) draft.sequence = r.fields.whole(*limit, 1, kMaxSequence);
  const bool generates = is_swift(r) && read_word(r, "lmbda") != "0";
  const bool adds = draft.method == plan::Method::grpo || (distilled && generates);
  if (adds && limit != nullptr && answer) add_answer_length(r, *answer, "max_completion_length");
  if (draft.sequence || !is_trl(r)) return;
  const std::optional<i64> prompt = read_prompt_limit(r);
  const bool grpo = draft.method == plan::Method::grpo;
  draft.sequence = grpo ? prompt.value_or(kUsualPrompt) + kUsualAnswer : kUsualLength;
  constexpr const char* kHint = "--seq N";
  const std::string assumed =
      fmt::format("sequences of {} tokens, TRL's default", count(*draft.sequence));
  plan.open.push_back({"job.sequence", assumed, kHint});
  r.fields.report(r.root, make_assumption(assumed, kHint));
}

/// TRL recomputes by default since 0.22, and did not before.
void assume_no_recompute(ForeignReading& r, PlanFile& plan) {
  if (!is_trl(r) || r.draft.recompute) return;
  if (find_path(r.root, kNewMark) != nullptr) {
    constexpr const char* kAssumed = "full recomputation, TRL's default since 0.22";
    r.draft.recompute = plan::Recompute::full;
    plan.open.push_back({"parallelism.recompute", kAssumed, "set gradient_checkpointing"});
    r.fields.report(r.root, make_assumption(kAssumed, "set gradient_checkpointing"));
    return;
  }
  constexpr const char* kHint = "set gradient_checkpointing";
  constexpr const char* kAssumed = "no recomputation, TRL's default before 0.22";
  plan.open.push_back({"parallelism.recompute", kAssumed, kHint});
  r.fields.report(r.root, make_assumption(kAssumed, kHint));
}

/// The keys that name the reference of a penalty, or another frozen model.
constexpr const char* kReferenceKeys[] = {"ref_name_or_path", "ref_model_name_or_path",
                                          "ref_model_path", "ref_model"};

/// Reports a frozen model that the method does not count.
void finish_reference(ForeignReading& r) {
  if (r.draft.ref_model == true) return;
  for (const char* const key : kReferenceKeys)
    if (const YamlNode* const node = find_path(r.root, key)) read_second_model(r, *node);
}

/// The trainers of GRPO compute the logits of completions, without those of the prompts
/// (`logits_to_keep` in TRL and ms-swift). Programs of their own for models with images do not.
void finish_completion(ForeignReading& r) {
  Draft& d = r.draft;
  const std::optional<i64> answer = read_whole_at(r, "max_completion_length", 1, kMaxSequence);
  if (d.method != plan::Method::grpo || !answer || !d.sequence || *answer >= *d.sequence) return;
  const bool own = !r.dashes.empty() && !is_swift(r);
  const bool sees =
      std::any_of(r.root.entries.begin(), r.root.entries.end(), [](const YamlEntry& entry) {
        const std::string name = lower(entry.value.scalar);
        return is_model_key(entry.key.scalar) && name.find("vl") != std::string::npos;
      });
  if (own && (sees || (d.model && d.model->encoder_parameters > 0))) return;
  d.loss_tokens = answer;
  if (own)
    r.fields.report(r.root, make_assumption("logits of completions alone, as TRL computes them",
                                            "set loss_tokens in a plan file"));
}

}  // namespace

void read_stage(ForeignReading& r, const YamlNode& node) {
  const bool factory = find_path(r.root, "finetuning_type") != nullptr;
  if (factory || find_trainer_method(node.scalar) != nullptr) read_trainer_method(r, node);
}

void read_pairs_switch(ForeignReading& r, const YamlNode& node) {
  if (is_off(node)) return;
  r.draft.method = plan::Method::dpo;
  r.draft.ref_model = true;
}

void read_trainer_method(ForeignReading& r, const YamlNode& node) {
  if (const TrainerMethodRow* const found = find_trainer_method(node.scalar)) {
    r.draft.method = found->method;
    if (found->method != plan::Method::grpo) r.draft.ref_model = found->reference;
    return;
  }
  report_left_out(r, node,
                  fmt::format("{}: only the trained model is counted, without a reference, reward "
                              "model or teacher, and its own logits",
                              make_excerpt(node.scalar)));
}

void count_pairs_twice(Draft& draft) {
  draft.micro_batch = std::min(2 * draft.micro_batch.value_or(1), kMaxMicroBatch);
  if (draft.global_batch) draft.global_batch = std::min(2 * *draft.global_batch, plan::kMaxBatch);
}

void read_second_model(ForeignReading& r, const YamlNode& node) {
  if (!is_off(node))
    report_left_out(r, node, "only the trained model is counted, without this one");
}

// Reinforcement learning trains on a prompt and its completion.
void read_prompt_and_completion(ForeignReading& r, PlanFile& plan) {
  const std::optional<i64> prompt = read_prompt_limit(r);
  const std::optional<i64> answer = read_whole_at(r, "max_completion_length", 1, kMaxSequence / 2);
  if (!answer || r.draft.sequence) return;
  constexpr i64 kUsualPrompt = 512;  // of TRL, before it removed the limit of prompts
  const std::optional<i64> both = read_whole_at(r, "vllm_max_model_length", 1, kMaxSequence);
  if (both && !prompt && *both >= *answer) {
    r.draft.sequence = both;
    return;
  }
  r.draft.sequence = *answer + prompt.value_or(kUsualPrompt);
  if (prompt) return;
  constexpr const char* kHint = "--seq N";
  const std::string assumed = fmt::format("prompts of {} tokens", kUsualPrompt);
  plan.open.push_back({"job.sequence", assumed, kHint});
  r.fields.report(r.root, make_assumption(assumed, kHint));
}

// The sequence of qlora.py, and of programs with the names of summarization, is a source and its
// target; axolotl's has a default.
void read_other_length(ForeignReading& r, PlanFile& plan) {
  constexpr i64 kAxolotlLength = 512, kFactoryLength = 2048;
  if (r.draft.sequence) return;
  constexpr const char* kParts[][2] = {{"source_max_len", "target_max_len"},
                                       {"max_source_length", "max_target_length"}};
  for (const auto& [first, second] : kParts) {
    const std::optional<i64> source = read_whole_at(r, first, 1, kMaxSequence / 2);
    const std::optional<i64> target = read_whole_at(r, second, 1, kMaxSequence / 2);
    if (source && target) r.draft.sequence = *source + *target;
  }
  const bool axolotl = r.dashes.empty() && find_path(r.root, "base_model") != nullptr;
  if (axolotl) r.draft.sequence = kAxolotlLength;
  const bool factory = find_path(r.root, "finetuning_type") != nullptr;
  if (r.draft.sequence || !factory || find_path(r.root, "cutoff_len") != nullptr) return;
  // LLaMA-Factory's default, which was 1,024 until 2024.
  r.draft.sequence = kFactoryLength;
  constexpr const char* kHint = "--seq N";
  const std::string assumed = "sequences of 2,048 tokens, the default of cutoff_len";
  plan.open.push_back({"job.sequence", assumed, kHint});
  r.fields.report(r.root, make_assumption(assumed, kHint));
}

void finish_method(ForeignReading& r, PlanFile& plan) {
  read_trl_method(r);
  finish_penalty(r, plan);
  report_generation(r);
  finish_stage(r);
  finish_pairs(r);
  finish_reference(r);
  finish_length(r, plan);
  finish_completion(r);
  assume_no_recompute(r, plan);
}

}  // namespace rankwright::importer
