#include "rankwright/planner/explain/sweep_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "rankwright/base/format.h"
#include "rankwright/base/quantity.h"

namespace rankwright::planner {
namespace sweep_keys_impl {
namespace {

using importer::Draft;
using plan::TrainingConfig;

/// Returns world / (tp x cp x pp), or 1 if that is not a whole number: a rule reports it.
i64 find_remaining_dp(const Draft& draft) {
  const std::optional<i64> ranks =
      product({draft.tp.value_or(1), draft.cp.value_or(1), draft.pp.value_or(1)});
  return ranks && divides(*ranks, *draft.world) ? *draft.world / *ranks : 1;
}

void apply_tp(Draft& draft, i64 value) {
  draft.tp = value;
  draft.dp = find_remaining_dp(draft);
}

void apply_cp(Draft& draft, i64 value) {
  draft.cp = value;
  draft.dp = find_remaining_dp(draft);
}

void drop_split(Draft& draft) {
  draft.stages.reset();
  draft.stage_layers.reset();
}

/// A stated split fits one number of stages only, and without a pipeline there is no schedule.
void apply_pp(Draft& draft, i64 value) {
  draft.pp = value;
  draft.dp = find_remaining_dp(draft);
  drop_split(draft);
  if (value > 1) return;
  draft.schedule.reset();
  draft.virtual_stages.reset();
  draft.microbatch_group.reset();
}

void apply_dp(Draft& draft, i64 value) {
  draft.dp = value;
  draft.world = product({value, draft.tp.value_or(1), draft.cp.value_or(1), draft.pp.value_or(1)})
                    .value_or(kMaxCount);
}

/// Keeps a stated schedule that has this number of chunks, otherwise leaves it to the default.
void apply_chunks(Draft& draft, i64 value) {
  draft.virtual_stages = value;
  drop_split(draft);
  if (!draft.schedule) return;
  const pipeline::ScheduleRow& row = pipeline::row(*draft.schedule);
  if (value < row.min_chunks || value > row.max_chunks) draft.schedule.reset();
}

/// The batch that gives this many microbatches. The largest batch of a file bounds it.
void apply_microbatches(Draft& draft, i64 value) {
  draft.global_batch = product({value, *draft.micro_batch, *draft.dp}).value_or(kMaxCount);
}

void apply_recompute(Draft& draft, i64 value) {
  draft.recompute = plan::Recompute(value);
  draft.recompute_layers.reset();  // a number of layers belongs to the stated kind
}

i64 read_microbatches(const TrainingConfig& s) { return s.microbatches(); }
i64 read_micro_batch(const TrainingConfig& s) { return s.plan.micro_batch; }
i64 read_tp(const TrainingConfig& s) { return s.plan.tp; }
i64 read_pp(const TrainingConfig& s) { return s.plan.pp; }
i64 read_dp(const TrainingConfig& s) { return s.plan.dp; }
i64 read_cp(const TrainingConfig& s) { return s.plan.cp; }
i64 read_ep(const TrainingConfig& s) { return s.plan.ep; }
i64 read_chunks(const TrainingConfig& s) { return s.plan.virtual_stages; }
i64 read_zero(const TrainingConfig& s) { return s.plan.zero; }
i64 read_recompute(const TrainingConfig& s) { return i64(s.plan.recompute); }
i64 read_sequence(const TrainingConfig& s) { return s.job.sequence; }

constexpr std::string_view kRest = " DP takes the rest of the GPUs.";

// To make another setting sweepable, add a row.
constexpr SweepKey kKeys[] = {
    {.name = "microbatches",
     .also = "",
     .head = "micro-batches",
     .before = "",
     .one = " micro-batch",
     .many = " micro-batches",
     .range = "1..64",
     .max = plan::kMaxBatch,
     .bar = SweepBar::bubble,
     .timeline = true,
     .group = mesh::GroupKind::pp,
     .read = read_microbatches,
     .apply = apply_microbatches,
     .instead = "chunks",
     .changes = " The global batch grows with the micro-batches."},
    {.name = "tp",
     .also = "tp_size",
     .head = "TP",
     .before = "TP ",
     .one = "",
     .many = "",
     .range = "1..16",
     .max = importer::kMaxDegree,
     .bar = SweepBar::step,
     .group = mesh::GroupKind::tp,
     .read = read_tp,
     .apply = apply_tp,
     .moves_dp = true,
     .changes = kRest},
    {.name = "pp",
     .also = "pp_size",
     .head = "PP",
     .before = "PP ",
     .one = "",
     .many = "",
     .range = "1..16",
     .max = importer::kMaxDegree,
     .bar = SweepBar::memory,
     .timeline = true,
     .group = mesh::GroupKind::pp,
     .read = read_pp,
     .apply = apply_pp,
     .moves_dp = true,
     .changes = kRest},
    {.name = "dp",
     .also = "dp_size",
     .head = "DP",
     .before = "DP ",
     .one = "",
     .many = "",
     .range = "1..16",
     .max = importer::kMaxDegree,
     .bar = SweepBar::step,
     .group = mesh::GroupKind::dp,
     .read = read_dp,
     .apply = apply_dp,
     .changes = " The number of GPUs grows with DP."},
    {.name = "cp",
     .also = "cp_size",
     .head = "CP",
     .before = "CP ",
     .one = "",
     .many = "",
     .range = "1..16",
     .max = importer::kMaxContext,
     .bar = SweepBar::step,
     .group = mesh::GroupKind::cp,
     .read = read_cp,
     .apply = apply_cp,
     .moves_dp = true,
     .changes = kRest},
    {.name = "ep",
     .also = "ep_size",
     .head = "EP",
     .before = "EP ",
     .one = "",
     .many = "",
     .range = "1..64",
     .max = importer::kMaxDegree,
     .bar = SweepBar::step,
     .group = mesh::GroupKind::ep,
     .read = read_ep,
     .apply = [](Draft& draft, i64 value) { draft.ep = value; },
     .changes = " EP divides the ranks of TP, CP and DP."},
    {.name = "chunks",
     .also = "virtual_stages",
     .head = "virtual stages",
     .before = "",
     .one = " virtual stage",
     .many = " virtual stages",
     .range = "1..8",
     .max = importer::kMaxChunks,
     .bar = SweepBar::bubble,
     .timeline = true,
     .group = mesh::GroupKind::pp,
     .read = read_chunks,
     .apply = apply_chunks,
     .changes = " The schedule becomes interleaved 1F1B where needed."},
    {.name = "zero",
     .also = "zero_stage",
     .head = "ZeRO",
     .before = "ZeRO-",
     .one = "",
     .many = "",
     .range = "0..3",
     .min = 0,
     .max = 3,
     .bar = SweepBar::memory,
     .group = mesh::GroupKind::dp_cp,
     .read = read_zero,
     .apply = [](Draft& draft, i64 value) { draft.zero = int(value); }},
    {.name = "micro_batch",
     .also = "micro_batch_size",
     .head = "micro-batch",
     .before = "micro-batch ",
     .one = "",
     .many = "",
     .range = "1..8",
     .max = importer::kMaxMicroBatch,
     .bar = SweepBar::memory,
     .read = read_micro_batch,
     .apply = [](Draft& draft, i64 value) { draft.micro_batch = value; },
     .changes = " Larger micro-batches are fewer."},
    {.name = "recompute",
     .also = "",
     .head = "recompute",
     .before = "",
     .one = " recomputation",
     .many = " recomputation",
     .range = "none,selective,full",
     .min = 0,
     .max = i64(plan::Recompute::full),
     .bar = SweepBar::memory,
     .read = read_recompute,
     .apply = apply_recompute,
     .names = plan::recompute_names},
    {.name = "sequence",
     .also = "seq",
     .head = "sequence",
     .before = "sequences of ",
     .one = "",
     .many = "",
     .range = "2k..32k",
     .max = importer::kMaxSequence,
     .bar = SweepBar::memory,
     .read = read_sequence,
     .apply = [](Draft& draft, i64 value) { draft.sequence = value; },
     .instead = "cp",
     .changes = " The tokens per step grow with the sequence."},
};

/// Returns a name in lower case without - and _, so that micro-batch is micro_batch.
std::string normalize(std::string_view name) {
  std::string text = lower(name);
  std::erase_if(text, [](char c) { return c == '-' || c == '_'; });
  return text;
}

Refusal refuse_key(std::string_view typed) {
  std::vector<std::string> known;
  for (const SweepKey& key : kKeys) known.emplace_back(key.name);
  const std::string hint = fmt::format("--sweep accepts {}", fmt::join(known, ", "));
  return unknown_name({"sweep key", make_excerpt(typed), std::move(known), hint});
}

/// Refuses a range: the problem, and the key's usual range as what to type.
Refusal refuse_range(const SweepKey& key, std::string_view range, const std::string& why) {
  constexpr i64 kShownStep = 10;  // the end of the example of a step
  std::string hint = fmt::format("--sweep {}={}", key.name, key.range);
  if (key.names == nullptr && key.max >= kShownStep)
    hint += fmt::format(", a list such as {0}=1,2,4, or a step as in {0}=2..10:2", key.name);
  return make_usage_refusal(fmt::format("--sweep {}={}: {}", key.name, make_excerpt(range), why),
                            std::move(hint));
}

/// Collects the values of one range and says why one of them is refused.
class RangeReader {
 public:
  explicit RangeReader(const SweepKey& key) : key_(key) {}

  /// Adds the values of "8", "1..64" or "2..10:2". Returns the problem; empty if there is none.
  std::string add(std::string_view item) {
    const std::size_t dots = item.find("..");
    if (dots == std::string_view::npos) {
      const std::optional<i64> value = read(item);
      if (value) values_.insert(*value);
      return problem_;
    }
    const std::size_t colon = item.find(':', dots);
    const std::optional<i64> first = read(item.substr(0, dots));
    const std::optional<i64> last =
        first ? read(item.substr(dots + 2, std::min(colon, item.size()) - dots - 2)) : first;
    if (!last) return problem_;
    if (*last < *first)
      return fmt::format("{} ends before it begins", make_excerpt(item.substr(0, colon)));
    return colon == std::string_view::npos ? add_powers(*first, *last)
                                           : add_steps(*first, *last, item.substr(colon + 1));
  }

  std::size_t size() const { return values_.size(); }
  std::vector<i64> values() const { return {values_.begin(), values_.end()}; }

 private:
  std::string add_powers(i64 first, i64 last) {
    values_.insert({first, last});
    for (i64 power = 1; power < last; power *= 2)
      if (power > first) values_.insert(power);
    return {};
  }

  std::string add_steps(i64 first, i64 last, std::string_view text) {
    const Result<i64> step = parse_count(text);
    if (!step) return fmt::format("the step: {}", step.error().detail);
    const i64 steps = (last - first) / *step;
    if (steps >= i64(kMaxSweepValues)) return count_text(steps + 1);
    for (i64 k = 0; k <= steps; ++k) values_.insert(first + k * *step);
    return {};
  }

  std::optional<i64> read(std::string_view text) {
    if (key_.names != nullptr) return read_name(text);
    const Result<i64> value = parse_count(text, 0);
    if (!value)
      problem_ = value.error().detail;
    else if (text.size() > 1 && text.front() == '0')
      problem_ = fmt::format("'{}' begins with 0; a comma separates values", make_excerpt(text));
    else if (*value < key_.min || *value > key_.max)
      problem_ = fmt::format("{} is not from {} to {}", *value, key_.min, count(key_.max));
    if (!problem_.empty()) return std::nullopt;
    return *value;
  }

  std::optional<i64> read_name(std::string_view text) {
    const std::span<const std::string_view> names = key_.names();
    const auto found = std::find(names.begin(), names.end(), text);
    if (found != names.end()) return found - names.begin();
    problem_ = fmt::format("'{}' is not one of {}", make_excerpt(text), fmt::join(names, ", "));
    return std::nullopt;
  }

  static std::string count_text(i64 values) {
    return fmt::format("{} values, at most {} can be swept", count(values), kMaxSweepValues);
  }

  const SweepKey& key_;
  std::set<i64> values_{};
  std::string problem_{};
};

}  // namespace
}  // namespace sweep_keys_impl

std::span<const SweepKey> list_sweep_keys() { return sweep_keys_impl::kKeys; }

const SweepKey* find_sweep_key(std::string_view name) {
  const std::string wanted = sweep_keys_impl::normalize(name);
  for (const SweepKey& key : list_sweep_keys())
    if (wanted == sweep_keys_impl::normalize(key.name) ||
        (!key.also.empty() && wanted == sweep_keys_impl::normalize(key.also)))
      return &key;
  return nullptr;
}

std::string format_bare_value(const SweepKey& key, i64 value) {
  return key.names != nullptr ? std::string(key.names()[std::size_t(value)]) : count(value);
}

std::string format_sweep_value(const SweepKey& key, i64 value) {
  const std::string bare = format_bare_value(key, value);
  return fmt::format("{}{}{}", key.before, bare == "none" ? "no" : bare,
                     value == 1 ? key.one : key.many);
}

Outcome<Sweep> read_sweep(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string_view name = std::string_view(text).substr(0, equals);
  const SweepKey* const key = find_sweep_key(name);
  if (key == nullptr) return tl::unexpected(sweep_keys_impl::refuse_key(name));
  const std::string_view range =
      equals == std::string::npos ? key->range : std::string_view(text).substr(equals + 1);
  sweep_keys_impl::RangeReader reader(*key);
  for (std::size_t at = 0; at <= range.size();) {
    const std::size_t end = std::min(range.find(',', at), range.size());
    std::string problem = reader.add(range.substr(at, end - at));
    if (problem.empty() && reader.size() > kMaxSweepValues)
      problem = fmt::format("more than {} values", kMaxSweepValues);
    if (!problem.empty())
      return tl::unexpected(sweep_keys_impl::refuse_range(*key, range, problem));
    at = end + 1;
  }
  return Sweep{key, reader.values()};
}

plan::TrainingConfig apply_sweep_value(const plan::TrainingConfig& config,
                                       const importer::Draft& draft, const SweepKey& key,
                                       i64 value) {
  if (key.read(config) == value) return config;
  importer::Draft changed = draft;
  changed.world = config.world;
  changed.dp = config.plan.dp;
  changed.micro_batch = config.plan.micro_batch;
  changed.global_batch = config.job.global_batch;
  changed.accumulation.reset();  // the batch is stated
  changed.sequence = config.job.sequence;
  key.apply(changed, value);
  plan::TrainingConfig result = resolve(changed);
  result.calibrated = config.calibrated;
  return result;
}

}  // namespace rankwright::planner
