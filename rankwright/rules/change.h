// A Change is a list of edits to a plan file together with the TrainingConfig that results from
// them, so that a fix is tested before it is proposed. The helpers below search for a change that
// removes a fault of a target; how a finding is worded is left to each rule.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "rankwright/rules/repair.h"
#include "rankwright/rules/rule.h"

namespace rankwright::rules {

/// The `check` function of a rule that consists of a fault and of a function that describes it.
template <Fault fault, Finding (*describe)(const plan::TrainingConfig&)>
std::optional<Finding> when(const Subject& subject) {
  if (!fault(subject.config)) return std::nullopt;
  return describe(subject.config);
}

/// Edits to a plan file and the config that reading the edited file would give. Each call adds at
/// least one edit.
class Change {
 public:
  explicit Change(const plan::TrainingConfig& config) : config_(config) {}

  Change& world(i64 ranks);
  Change& order(const mesh::Order& order);
  Change& degrees(i64 tp, i64 pp, i64 dp);  // adds an edit only for each degree that differs
  Change& cp(i64 degree);
  Change& experts(i64 ep, i64 etp);
  Change& zero(int stage);
  Change& shard_size(i64 ranks);
  Change& bucket_size(i64 elements);
  Change& sequence_parallel(bool on);
  Change& cp_comm(plan::CpComm comm);
  Change& chunks(i64 chunks,
                 pipeline::Schedule schedule);  // sets the schedule together with its chunk count
  Change& microbatch_group(i64 size);
  Change& even_stages();
  Change& recompute(plan::Recompute recompute);
  Change& recompute_layers(i64 layers);  // fully recomputed layers per stage
  Change& micro_batch(i64 sequences);
  Change& loss(plan::Loss loss);
  Change& sync_each_batch();
  Change& overlap_grad_reduce(bool on);
  Change& overlap_param_gather(bool on);
  Change& overlap_tp(bool on);
  Change& overlap_pp(bool on);
  Change& overlap_ep(bool on);
  Change& overlap_wgrad(bool on);
  Change& block_placement();
  Change& microbatches(i64 count);  // sets the global batch that yields this many microbatches
  Change& sequence(i64 tokens);
  Change& param_dtype(plan::Dtype dtype);
  Change& grad_dtype(plan::Dtype dtype);
  Change& matmul(plan::Matmul matmul);
  Change& optimizer(plan::Optimizer optimizer);

  const plan::TrainingConfig& config() const { return config_; }
  const std::vector<Edit>& edits() const { return edits_; }

 private:
  Change& add(std::string_view key, std::string value);

  plan::TrainingConfig config_;
  std::vector<Edit> edits_{};
};

/// Returns whether `after` adds no constraint violation, does not have `fault`, and has none of
/// `faults` that `before` does not have.
bool fixes_fault(const plan::TrainingConfig& before, const plan::TrainingConfig& after, Fault fault,
                 std::span<const Fault> faults);

/// Returns the edits of the first change for which fixes_fault() holds; empty if none does.
std::vector<Edit> first_fix(const plan::TrainingConfig& config, Fault fault,
                            std::span<const Fault> faults, const std::vector<Change>& changes);

/// Returns edits to tp, pp and dp that fix `fault` and satisfy `wanted`; see find_other_degrees().
std::vector<Edit> fix_by_degrees(const plan::TrainingConfig& config, Fault fault,
                                 std::span<const Fault> faults, const ConfigPredicate& wanted = {});

/// Returns edits to ep and etp that fix `fault`, trying ep by its distance from the current ep: the
/// divisors of the expert count, each with the current etp, with etp 1 and with etp = tp.
std::vector<Edit> fix_by_experts(const plan::TrainingConfig& config, Fault fault,
                                 std::span<const Fault> faults);

/// Returns whether the plan numbers its ranks as `order` does. Axes of degree 1 are ignored.
bool same_order(const plan::TrainingConfig& config, const mesh::Order& order);

/// Returns the first key-value head count in the model that `ranks` does not divide, or nothing if
/// it divides all of them. Layers with latent attention are skipped.
std::optional<i64> find_undivided_kv_heads(const model::Model& model, i64 ranks);

/// Returns whether the plan lists stages that differ from the even split, or leaves some of them
/// without layers, which no even split does.
bool uneven_stages(const plan::TrainingConfig& config);

}  // namespace rankwright::rules
