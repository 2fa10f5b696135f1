#include "rankwright/validate/run.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/cost/work.h"
#include "rankwright/model/parameters.h"
#include "rankwright/plan/constraint_violation.h"
#include "rankwright/split/split.h"
#include "rankwright/validate/run_config.h"

namespace rankwright::validate {
namespace {

using Why = plan::ConstraintViolation::Why;

constexpr std::string_view kFigures[] = {"allocated", "reserved", "device"};
constexpr std::size_t kMaxRunRows = 20'000;
constexpr i64 kMaxPublishedStages = 4096;
constexpr i64 kMaxSteps = 1'000'000;  // of the search for a stage split

/// Constraint violations that exclude a published run. Violations that are not listed are widths
/// and sequences not divisible by a degree, which are estimated with fractional shares.
struct WhyRow {
  Why why;
  std::string_view words;
};
constexpr WhyRow kHard[] = {
    {Why::degrees, "TP x CP x DP x PP is not the number of GPUs"},
    {Why::devices, "more ranks than GPUs"},
    {Why::expert_ranks, "ETP x EP x PP does not divide the number of GPUs"},
    {Why::pipelines_differ, "dense and expert layers have different pipelines"},
    {Why::batch, "micro-batch x DP does not divide the global batch"},
    {Why::stages, "more stages than layers"},
    {Why::stage_count, "the layers do not split into this many stages"},
    {Why::stage_layers, "the layers do not split into this many stages"},
    {Why::chunks, "the schedule does not support this number of virtual stages"},
    {Why::pp_multiple, "the schedule needs an even number of PP ranks"},
    {Why::microbatch_multiple, "the schedule needs an even number of micro-batches"},
    {Why::microbatches, "fewer micro-batches than the schedule needs"},
    {Why::group, "micro-batch groups are smaller than the schedule needs"},
};

/// Returns why a config cannot be estimated; empty if it can.
std::string_view find_hard_violation(const plan::TrainingConfig& config) {
  for (const plan::ConstraintViolation& violation : find_violations(config)) {
    if (violation.why == Why::heads && violation.need > violation.have)
      return "more TP ranks than heads";
    if (violation.why == Why::experts && violation.need > violation.have)
      return "more EP ranks than experts";
    for (const WhyRow& row : kHard)
      if (row.why == violation.why) return row.words;
  }
  return {};
}

/// Returns whether one kind of parameters exceeds the limit of a model file, so that parameter
/// counts never exceed 64 bits.
bool is_too_large(const model::Model& model) {
  const double layers = double(model.layers() + model.mtp_layers), hidden = double(model.hidden);
  for (const model::LayerRun& run : model.runs) {
    const model::Attention& a = run.layer.attention;
    const model::FeedForward& f = run.layer.ffn;
    const double head = double(a.head_dim + a.nope_dim + a.rope_dim + a.value_dim);
    const double ranks = hidden + double(a.q_rank + a.kv_rank);
    const double max = std::max({4 * layers * ranks * double(std::max(a.heads, a.kv_heads)) * head,
                                 4 * layers * hidden * double(std::max(f.width, f.shared_width)),
                                 4 * layers * hidden * double(f.experts) * double(f.expert_width),
                                 2 * hidden * double(model.vocab)});
    if (max > double(kMaxCount)) return true;
  }
  return false;
}

/// Reads a row as a Run, or returns why it cannot be scored.
tl::expected<Run, std::string> read_run(const RunRow& row) {
  if (std::string lack = row.lacking(); !lack.empty()) {
    const std::string wrong = row.out_of_bounds();
    return tl::unexpected(wrong.empty() ? lack : wrong);
  }
  if (std::string wrong = row.out_of_bounds(); !wrong.empty()) return tl::unexpected(wrong);
  if (!find_device_name(row.text("gpu")))
    return tl::unexpected(
        fmt::format("GPU '{}' is not in the catalog", make_excerpt(row.text("gpu"))));
  Run run = make_run(row);
  if (run.measured.value <= 0 && run.measured_memory.value <= 0 && run.measured_slowdown <= 0)
    return tl::unexpected(std::string("no step time, tokens per second or memory"));
  if (is_too_large(run.config.model))
    return tl::unexpected(std::string("more than 2^50 parameters"));
  const std::optional<i64> stages = product({run.config.plan.pp, run.config.plan.virtual_stages});
  if (!stages || *stages > kMaxPublishedStages)
    return tl::unexpected(fmt::format("more than {} stages", count(kMaxPublishedStages)));
  if (run.config.plan.stages.empty()) split_stages(run.config);
  if (list_choices(run).empty())
    return tl::unexpected(std::string(find_hard_violation(run.config)));
  return run;
}

bool divides_layers(const plan::TrainingConfig& config, i64 stages) {
  const i64 layers = config.model.layers();
  return layers % stages == 0 || (layers + 2) % stages == 0;
}

/// Returns whether a run with experts may have a micro-batch that its source does not state. Nine
/// of ten of those that state theirs have at most 16,384 tokens.
bool is_usual_micro_batch(const Run& run, i64 micro) {
  constexpr i64 kMaxTokens = 16384;
  const i64 sequence = run.config.job.sequence / run.config.plan.cp;
  return !run.sparse || micro == 1 || micro <= kMaxTokens / std::max<i64>(1, sequence);
}

}  // namespace

std::string_view name(MemoryFigure figure) { return kFigures[std::size_t(figure)]; }

void split_stages(plan::TrainingConfig& config) {
  const i64 layers = config.model.layers();
  const i64 count = config.plan.pp * config.plan.virtual_stages;
  config.plan.stages.clear();
  if (count == 1 || (layers % count == 0 && config.model.mtp_layers == 0)) return;
  if (layers % count != 0 && (layers + 2) % count == 0 && config.model.mtp_layers == 0) {
    std::vector<i64> each(std::size_t(count), (layers + 2) / count);
    --each.front();
    --each.back();
    config.plan.stages = plan::make_listed_stages(each, 0);
    return;
  }
  split::SplitTask task = cost::make_split_task(config);
  task.steps = kMaxSteps;
  const split::Split best = find_best_split(task);
  if (best.fault == split::Split::Fault::none) config.plan.stages = best.stages;
}

Result<Runs> read_runs(const Csv& table, std::string_view file) {
  const auto has = [&](std::string_view column) {
    return std::find(table.header.begin(), table.header.end(), column) != table.header.end();
  };
  const bool single = has("global_batch") && !has("framework");
  for (const std::string_view column : {"id", "layers", "hidden", "heads", "seq", "gpus"})
    if (!has(column))
      return fail({.code = "RW0917",
                   .message = "missing columns of measured runs",
                   .detail = fmt::format("missing column '{}'", column),
                   .hint = "see tests/data/validation/runs.csv for the columns",
                   .where = {.file = std::string(file)}});
  if (table.rows.size() > kMaxRunRows)
    return fail({.code = "RW0906",
                 .message = "too many rows",
                 .detail = fmt::format("{} rows, and the limit is {}",
                                       count(i64(table.rows.size())), count(i64(kMaxRunRows))),
                 .where = {.file = std::string(file)}});
  Runs runs;
  for (const Csv::Row& line : table.rows) {
    const RunRow row(table, line, single);
    const std::string_view quality = row.text("quality");
    if (quality != "A" && quality != "B" && !quality.empty()) continue;
    if (tl::expected<Run, std::string> run = read_run(row))
      runs.scored.push_back(std::move(*run));
    else
      runs.excluded.push_back(
          {std::string(row.text("id")), std::string(row.text("family")), run.error()});
  }
  return runs;
}

std::vector<Run> list_choices(const Run& run) {
  const plan::Plan& plan = run.config.plan;
  const auto options = [](bool open, i64 stated, std::vector<i64> all) {
    return open ? all : std::vector<i64>{stated};
  };
  std::vector<i64> chunks;
  for (i64 v = 2; v <= 24; ++v)
    if (plan.pp * v <= kMaxPublishedStages && divides_layers(run.config, plan.pp * v))
      chunks.push_back(v);
  if (chunks.empty()) chunks.push_back(1);
  std::vector<Run> all;
  for (const i64 micro : options(run.open_micro_batch, plan.micro_batch, {1, 2, 4, 8, 16, 32}))
    for (const i64 v : options(run.open_chunks, plan.virtual_stages, chunks))
      for (const i64 recompute : options(run.open_recompute, i64(plan.recompute), {0, 1, 2}))
        for (const i64 zero : options(run.open_zero, plan.zero, {0, 1})) {
          if (run.config.job.global_batch % (micro * plan.dp) != 0) continue;
          if (run.open_micro_batch && !is_usual_micro_batch(run, micro)) continue;
          const i64 microbatches = run.config.job.global_batch / (micro * plan.dp);
          if (run.open_chunks && v > 1 && microbatches % plan.pp != 0) continue;
          Run one = run;
          one.config.plan.micro_batch = micro;
          one.config.plan.virtual_stages = v;
          one.config.plan.recompute = plan::Recompute(recompute);
          one.config.plan.zero = int(zero);
          if (v != plan.virtual_stages) split_stages(one.config);
          if (find_hard_violation(one.config).empty()) all.push_back(std::move(one));
        }
  if (!all.empty() || !run.open_chunks) return all;
  // No number of chunks is possible, so use plain 1F1B.
  Run plain = run;
  plain.open_chunks = false;
  plain.config.plan.schedule = pipeline::Schedule::one_f_one_b;
  plain.config.plan.virtual_stages = 1;
  split_stages(plain.config);
  return list_choices(plain);
}

}  // namespace rankwright::validate
