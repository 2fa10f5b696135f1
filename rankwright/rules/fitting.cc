#include "rankwright/rules/fitting.h"

#include <algorithm>
#include <set>
#include <utility>

#include "rankwright/catalog/catalog.h"

namespace rankwright::rules {
namespace {

constexpr std::size_t kBeam = 12;  // changes that do not fit yet and are extended in the next round
constexpr int kMaxChanges = 3;     // maximum number of combined changes
constexpr int kDoublings = 4;      // maximum doublings of tp and of pp

bool has_edit(const Change& change, std::string_view key) {
  return std::any_of(change.edits().begin(), change.edits().end(),
                     [&](const Edit& edit) { return edit.key == key; });
}

/// Enumerates the next single changes to try on top of a change.
class NextChanges {
 public:
  NextChanges(const Change& from, Target target) : from_(from), plan_(from.config().plan) {
    zero(target);
    recompute();
    add_other_changes();
    degrees();
  }

  std::vector<Change> all{};

 private:
  bool is_unedited(std::string_view key) const { return !has_edit(from_, key); }

  template <class Make>
  void add(Make make) {
    Change change = from_;
    make(change);
    all.push_back(std::move(change));
  }

  void zero(Target target) {
    if (plan_.data_ranks() == 1 || !is_unedited("parallelism.zero_stage")) return;
    for (const int stage : supported_zero_stages(target))
      if (stage > plan_.zero) add([&](Change& c) { c.zero(stage); });
    if (plan_.zero > 0 && plan_.shards() < plan_.data_ranks() &&
        is_unedited("parallelism.shard_size"))
      add([&](Change& c) { c.shard_size(plan_.data_ranks()); });
  }

  void recompute() {
    if (!is_unedited("parallelism.recompute")) return;
    if (plan_.recompute == plan::Recompute::none)
      add([](Change& c) { c.recompute(plan::Recompute::selective); });
    if (recomputes_everything(plan_)) return;
    add([](Change& c) { c.recompute(plan::Recompute::full); });
    if (const i64 layers = min_recomputed_layers(); layers > 0)
      add([&](Change& c) { c.recompute_layers(layers); });
  }

  /// Returns the smallest number of fully recomputed layers per stage that fits with margin; 0 if
  /// only recomputing all layers does.
  i64 min_recomputed_layers() const {
    i64 max = 0;
    for (const plan::Stage& stage : from_.config().stages()) max = std::max(max, stage.layers);
    const auto fits = [&](i64 layers) {
      Change change = from_;
      change.recompute_layers(layers);
      const plan::TrainingConfig& after = change.config();
      return judge_memory(cost::fullest(after, select_calibration(after)), after) ==
             cost::MemoryVerdict::fits_with_margin;
    };
    i64 low = 1, high = max;  // `high` itself is not tried: it is full recompute
    while (low < high) {
      const i64 middle = low + (high - low) / 2;
      if (fits(middle))
        high = middle;
      else
        low = middle + 1;
    }
    return low < max && low > plan_.recompute_layers ? low : 0;
  }

  void add_other_changes() {
    const plan::TrainingConfig& s = from_.config();
    if (is_unedited("parallelism.micro_batch"))
      for (i64 size = plan_.micro_batch; size % (2 * row(s.job.method).sequences) == 0;)
        size /= 2, add([&](Change& c) { c.micro_batch(size); });
    if (plan_.tp > 1 && !plan_.sequence_parallel) add([](Change& c) { c.sequence_parallel(true); });
    // Hugging Face's models have Liger's; log-probabilities are never fused without the head.
    const bool with_head = s.software.hf_modeling || s.job.method != plan::Method::lm;
    const plan::Loss lean = with_head ? plan::Loss::fused_linear : plan::Loss::fused;
    if (bytes_per_logit(s.software.loss, s.job) > bytes_per_logit(lean, s.job) && !s.software.bare)
      add([&](Change& c) { c.loss(lean); });
    const bool keeps_more = plan_.schedule == pipeline::Schedule::gpipe ||
                            plan_.schedule == pipeline::Schedule::interleaved;
    if (plan_.pp > 1 && keeps_more && is_unedited("parallelism.schedule"))
      add([](Change& c) { c.chunks(1, pipeline::Schedule::one_f_one_b); });
    if (s.model.sparse() && is_unedited("parallelism.ep_size"))
      add([&](Change& c) { c.experts(2 * plan_.ep, plan_.etp); });
  }

  void degrees() {
    const plan::TrainingConfig& s = from_.config();
    if (!is_unedited("parallelism.dp_size")) return;
    const i64 inside = s.cluster.domain(0);
    for (int t = 0; t <= kDoublings; ++t)
      for (int p = 0; p <= kDoublings; ++p) {
        const i64 tp = plan_.tp << t, pp = plan_.pp << p, times = i64{1} << (t + p);
        if (t + p == 0 || plan_.dp % times != 0 || pp > s.model.layers()) continue;
        if (t > 0 && tp > inside) continue;
        add([&](Change& c) { c.degrees(tp, pp, plan_.dp / times); });
      }
    if (plan_.dp % 2 == 0 && is_unedited("parallelism.cp_size"))
      add([&](Change& c) { c.cp(2 * plan_.cp).degrees(plan_.tp, plan_.pp, plan_.dp / 2); });
  }

  const Change& from_;
  const plan::Plan& plan_;
};

/// Returns whether `after` breaks an error rule that `before` does not. Memory rules (RW02..) are
/// skipped, because memory is what the changes are about.
bool adds_errors(const plan::TrainingConfig& before, const plan::TrainingConfig& after,
                 Target target) {
  const std::vector<plan::ConstraintViolation> none;
  for (const Rule* rule : rules()) {
    const bool asked = holds_for(*rule, target);
    if (!asked || rule->page.severity != Severity::error || rule->page.code.starts_with("RW02"))
      continue;
    if (rule->check({after, none, target}) && !rule->check({before, none, target})) return true;
  }
  return false;
}

struct Trial {
  Change change;
  Bytes total{};
};

/// Returns whether `a` is proposed before `b`: the better verdict on memory, then the faster.
bool is_preferred(const FittingChange& a, const FittingChange& b) {
  const cost::MemoryVerdict one = a.estimate.verdict(), other = b.estimate.verdict();
  return one != other ? one < other : a.time_per_sequence() < b.time_per_sequence();
}

}  // namespace

Seconds FittingChange::time_per_sequence() const {
  return estimate.time() / double(change.config().job.global_batch);
}

std::vector<int> supported_zero_stages(Target target) {
  if (target == Target::any) return {1, 2, 3};
  const TargetRow& code = row_of_rules(target);
  std::vector<int> stages;
  for (int stage = code.min_zero; stage <= code.max_zero; ++stage) stages.push_back(stage);
  return stages;
}

std::vector<FittingChange> find_cheapest_fits(const plan::TrainingConfig& config, Target target,
                                              std::size_t max, bool with_margin) {
  const cost::MemoryVerdict worst =
      with_margin ? cost::MemoryVerdict::fits_with_margin : cost::MemoryVerdict::tight;
  std::vector<Trial> beam{{Change(config)}};
  std::set<std::vector<std::pair<std::string, std::string>>> seen;
  for (int changes = 1; changes <= kMaxChanges; ++changes) {
    std::vector<FittingChange> fitting;
    std::vector<Trial> left;
    for (const Trial& trial : beam)
      for (Change& change : NextChanges(trial.change, target).all) {
        std::vector<std::pair<std::string, std::string>> keys;
        for (const Edit& edit : change.edits()) keys.emplace_back(edit.key, edit.value);
        std::sort(keys.begin(), keys.end());
        if (!seen.insert(std::move(keys)).second || find_first_violation(change.config())) continue;
        const cost::MemoryEstimate memory =
            cost::fullest(change.config(), select_calibration(config));
        if (judge_memory(memory, config) <= worst)
          fitting.push_back(
              {change, cost::estimate_plan(change.config(), select_calibration(config))});
        else
          left.push_back({std::move(change), memory.total()});
      }
    std::stable_sort(fitting.begin(), fitting.end(), is_preferred);
    std::vector<FittingChange> kept;
    for (FittingChange& one : fitting) {
      if (kept.size() == max) break;
      if (adds_errors(config, one.change.config(), target)) continue;
      one.estimate = cost::estimate_closely(one.change.config(), select_calibration(config));
      kept.push_back(std::move(one));
    }
    std::stable_sort(kept.begin(), kept.end(), is_preferred);
    if (!kept.empty()) return kept;
    std::stable_sort(left.begin(), left.end(),
                     [](const Trial& a, const Trial& b) { return a.total < b.total; });
    if (left.size() > kBeam) left.erase(left.begin() + kBeam, left.end());
    beam = std::move(left);
  }
  return {};
}

}  // namespace rankwright::rules
