#include "rankwright/planner/input/assumptions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "rankwright/base/format.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/estimate.h"
#include "rankwright/plan/constraint_violation.h"
#include "rankwright/rules/memory_verdict.h"

namespace rankwright::planner {
namespace {

constexpr std::size_t kMaxGrounds = 10;

struct GroundRow {
  std::string_view code;
  std::array<std::string_view, kMaxGrounds> keys;  // empty ones are unused
};

constexpr std::string_view kTp = "parallelism.tp_size", kCp = "parallelism.cp_size",
                           kPp = "parallelism.pp_size", kEp = "parallelism.ep_size",
                           kEtp = "parallelism.etp_size", kMicroBatch = "parallelism.micro_batch",
                           kChunks = "parallelism.virtual_stages", kWorld = "world_size",
                           kBatch = "job.global_batch", kSequence = "job.sequence";

// To add an error that depends on model, hardware, batch or degrees, add a row.
constexpr GroundRow kGrounds[] = {
    {"RW0101", {kWorld, "cluster"}},
    {"RW0102", {kWorld, kTp, kCp, kPp}},
    {"RW0103", {kWorld, kEp, kEtp, kPp}},
    {"RW0104", {"model", kTp}},
    {"RW0105", {"model", kTp}},
    {"RW0106", {"model", kTp}},
    {"RW0107", {"model", kEtp}},
    {"RW0108", {"model", kEp}},
    {"RW0109", {"model", kEp}},
    {"RW0110", {kBatch, kWorld, kMicroBatch, kTp, kCp, kPp}},
    {"RW0111", {"model", kPp, kChunks}},
    {"RW0112", {kPp, kChunks, "parallelism.stages"}},
    {"RW0113", {"model", "parallelism.stages"}},
    {"RW0114", {kSequence, kCp}},
    {"RW0115", {kSequence, kTp, kCp}},
    {"RW0116", {"model", kTp, kCp}},
    {"RW0117", {kWorld, kTp, kCp, kPp, "parallelism.shard_size"}},
    {"RW0118", {"model", kWorld, kTp, kCp, kEp, kEtp}},
    {"RW0120", {kChunks, kPp}},
    {"RW0121", {"parallelism.microbatch_group", kPp}},
    {"RW0122", {kPp}},
    {"RW0123", {kBatch, kWorld, kMicroBatch, kTp, kCp, kPp}},
    {"RW0124", {kBatch, kWorld, kMicroBatch, kTp, kCp, kPp}},
    {"RW0125", {"cluster"}},
    {"RW0126", {"model", "parallelism.bucket_size"}},
    {"RW0127", {"model"}},
    {"RW0201",
     {"cluster", kWorld, kMicroBatch, kTp, kCp, kPp, kEp, "parallelism.zero_stage",
      "parallelism.recompute", "parallelism.sequence_parallel"}},
    {"RW0207", {kWorld, kMicroBatch, kTp, kCp, kPp, "parallelism.zero_stage"}},
    {"RW0209", {"model"}},
    {"RW0211", {kWorld, kMicroBatch, kTp, kCp, kPp, "parallelism.zero_stage"}},
    {"RW0210", {"model", kSequence}},
    {"RW0502", {"model", kTp, kCp, kEp, kEtp}},
    {"RW0503", {"model", kPp, kChunks}},
    {"RW0505", {kBatch, kWorld, kMicroBatch, kPp, kChunks}},
    {"RW0506", {kPp, kChunks}},
    {"RW0507", {"model", kTp}},
    {"RW0513", {"model", kTp, kCp}},
    {"RW0516", {"model", kEp}},
    {"RW0517", {kPp, kChunks}},
    {"RW0518", {"model", kSequence}},
    {"RW0519", {"model"}},
    {"RW0520", {"model", kWorld, kEp}},
    {"RW0521", {"model", kTp}},
    {"RW0524", {kBatch, kWorld, kMicroBatch, kPp, kChunks}},
    {"RW0527", {kBatch, kWorld, kMicroBatch, kPp, kChunks}},
    {"RW0532", {kSequence, kTp, kCp}},
    {"RW0533", {"model", kTp, kEp, kEtp}},
    {"RW0534", {"model"}},
    {"RW0535", {"model", kTp, kCp}},
    {"RW0537", {"model", kPp}},
    {"RW0538", {"model", kPp}},
    {"RW0547", {"model", kEtp}},
    {"RW0548", {"model", kEp}},
    {"RW0555", {"model", kPp, kChunks}},
    {"RW0556", {"model"}},
    {"RW0557", {kPp, kEp}},
    {"RW0558", {"model", kEp, kWorld}},
    {"RW0559", {"model", kPp}},
    {"RW0560", {"model", kCp}},
    {"RW0561", {"model", kTp}},
    {"RW0565", {kBatch, kWorld, kMicroBatch, kPp}},
    {"RW0574", {"model"}},
    {"RW0579", {"model", kSequence}},
    {"RW0580", {"model"}},
    {"RW0582", {"model", kEp}},
    {"RW0592", {"model"}},
    {"RW0594", {"model", kTp}},
    {"RW0604", {kWorld, kBatch, kMicroBatch, kTp, kCp, kPp}},
};

/// An assumed value on which a finding rests.
struct AssumedGround {
  std::string text;  // "model llama-3.1-70b"
  std::string hint;  // "--model NAME"
  bool hardware = false;
};

bool is_open(const PlanInput& input, std::string_view key) {
  return std::any_of(input.file.open.begin(), input.file.open.end(),
                     [&](const importer::OpenValue& one) { return one.key == key; });
}

bool does_not_fit(const plan::TrainingConfig& config) {
  const cost::MemoryEstimate fullest = cost::fullest(config, select_calibration(config));
  return judge_memory(fullest, config) == cost::MemoryVerdict::does_not_fit;
}

/// Returns whether the plan fits with a short sequence, the shortest that its degrees divide.
bool fits_with_short_sequence(plan::TrainingConfig config) {
  const std::optional<i64> shortest = product({2, config.plan.cp, config.plan.tp});
  if (!shortest || *shortest > config.job.sequence) return false;
  config.job.sequence = *shortest;
  return find_first_violation(config).why == plan::ConstraintViolation::Why::none &&
         !does_not_fit(config);
}

std::vector<AssumedGround> list_assumed(const PlanInput& input, const Diagnostic& found) {
  const plan::TrainingConfig& config = *input.config;
  std::vector<AssumedGround> grounds;
  const auto add_open = [&](std::string_view key) {
    for (const importer::OpenValue& one : input.file.open)
      if (one.key == key) grounds.push_back({one.value, one.hint});
  };
  for (const std::string_view key : list_grounds(found.code)) {
    if (key == "model" && config.reference_model)
      grounds.push_back({"model " + config.model.name, "--model NAME"});
    if (key == "cluster" && config.left_open(key))
      grounds.push_back({"cluster " + config.cluster.name, "--cluster NAME", true});
    if (key == "job.sequence" && config.left_open(key))
      grounds.push_back({fmt::format("sequence {}", count(config.job.sequence)), "--seq N"});
    if (key == "job.global_batch" && config.left_open(key))
      grounds.push_back(
          {fmt::format("global batch {}", count(config.job.global_batch)), "--global-batch N"});
    add_open(key);
  }
  if (grounds.empty() && found.code.starts_with("RW05")) add_open(found.key);
  if (found.code == "RW0201" && config.left_open("job.sequence") &&
      fits_with_short_sequence(config))
    grounds.push_back({fmt::format("sequence {}", count(config.job.sequence)), "--seq N"});
  // Settings without a plan key mostly save memory: offloading, 16-bit states.
  const bool partial = std::any_of(input.file.findings.begin(), input.file.findings.end(),
                                   [](const Diagnostic& one) { return one.code == "RW0601"; });
  if (found.code == "RW0201" && partial)
    grounds.push_back({"the settings of RW0601 do not change it", "", true});
  return grounds;
}

/// Returns the errors of a placeholder model: constraints, and what the target refuses.
std::size_t count_refusals(const plan::TrainingConfig& config, rules::Target target) {
  const std::size_t violations = find_violations(config).size();
  if (violations > 0 || target == rules::Target::any) return violations;
  const std::vector<const rules::Rule*> refusals = rules::find_refusals(target);
  return std::size_t(std::count_if(refusals.begin(), refusals.end(), [&](const rules::Rule* rule) {
    return rule->page.severity == Severity::error && rule->fault(config);
  }));
}

constexpr std::string_view kDegreeKeys[] = {kTp, kCp, kPp, kEp, kEtp, kChunks, kWorld};
constexpr std::span<const std::string_view> kDegrees(kDegreeKeys), kNone;

}  // namespace

std::span<const std::string_view> list_grounds(std::string_view code) {
  const auto row = std::find_if(std::begin(kGrounds), std::end(kGrounds),
                                [&](const GroundRow& one) { return one.code == code; });
  // The other rules of frameworks are about combinations of degrees and settings.
  if (row == std::end(kGrounds)) return code.starts_with("RW05") ? kDegrees : kNone;
  const auto end = std::find(row->keys.begin(), row->keys.end(), std::string_view{});
  return {row->keys.begin(), end};
}

void choose_placeholder(PlanInput& input) {
  plan::TrainingConfig& config = *input.config;
  if (!config.reference_model) return;
  const rules::Target target = choose_target({}, input.file);
  std::size_t fewest = count_refusals(config, target);
  importer::Draft draft = input.file.draft;
  for (const catalog::KnownModel& known : catalog::list_known_models()) {
    if (fewest == 0) return;
    draft.reference_model = known.model.name;
    plan::TrainingConfig other = resolve(draft);
    const std::size_t refusals = count_refusals(other, target);
    if (refusals >= fewest) continue;
    fewest = refusals;
    input.file.draft.reference_model = draft.reference_model;
    config = std::move(other);
  }
}

void raise_assumed_world(PlanInput& input) {
  const plan::TrainingConfig& config = *input.config;
  importer::Draft& stated = input.file.draft;
  if (!is_open(input, "world_size") || !stated.world) return;
  if (stated.world == input.file.usual_world) return;  // the script's own default
  if (config.reference_model || !find_violations(config).empty() || !does_not_fit(config)) return;
  importer::Draft draft = stated;
  // Twice and three times each power of two: clusters are bought in such sizes.
  for (i64 factor = 2; *stated.world <= cluster::kMaxDevices / factor;
       factor = (factor & (factor - 1)) == 0 && factor > 1 ? factor / 2 * 3 : factor / 3 * 4) {
    draft.world = *stated.world * factor;
    plan::TrainingConfig larger = resolve(draft);
    if (!find_violations(larger).empty() || does_not_fit(larger)) continue;
    for (importer::OpenValue& one : input.file.open)
      if (one.key == "world_size") one.value = plural(*draft.world, "rank", "ranks");
    for (Diagnostic& found : input.file.findings)
      if (found.code == "RW0615" && found.hint.starts_with("--world"))
        found.detail = fmt::format("number of ranks: {}, the smallest that fits in memory on {}",
                                   count(*draft.world), larger.cluster.device.name);
    stated.world = draft.world;
    input.config = std::move(larger);
    return;
  }
}

void weaken_assumed(const PlanInput& input, Diagnostics& findings) {
  if (!input.config) return;
  for (Diagnostic& found : findings) {
    if (found.severity != Severity::error) continue;
    const std::vector<AssumedGround> grounds = list_assumed(input, found);
    if (grounds.empty()) continue;
    const bool hardware_only = std::all_of(grounds.begin(), grounds.end(),
                                           [](const AssumedGround& one) { return one.hardware; });
    found.severity = hardware_only ? Severity::warning : Severity::note;
    std::vector<std::string> texts, hints;
    for (const AssumedGround& one : grounds) {
      texts.push_back(one.text);
      if (!one.hint.empty() && std::find(hints.begin(), hints.end(), one.hint) == hints.end())
        hints.push_back(one.hint);
    }
    found.notes.insert(found.notes.begin(),
                       fmt::format("only if this assumption is right: {}", fmt::join(texts, ", ")));
    if (hardware_only) continue;
    found.fix.clear();
    found.hint = fmt::format("{}", fmt::join(hints, ", "));
  }
}

}  // namespace rankwright::planner
