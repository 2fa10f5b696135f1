// A Change is what somebody may type into a plan file, together with the TrainingConfig that comes
// of it: so that a fix is tried before it is proposed. Faults are what a target's rules call wrong,
// without the words.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "rankwright/rules/repair.h"
#include "rankwright/rules/rule.h"

namespace rankwright::rules {

/// The check of a rule: its fault, and the words for it.
template <Fault fault, Finding (*tell)(const plan::TrainingConfig&)>
std::optional<Finding> when(const Subject& subject) {
  if (!fault(subject.config)) return std::nullopt;
  return tell(subject.config);
}

/// Edits, and the config as it would be read with them. Each call adds one edit.
class Change {
 public:
  explicit Change(const plan::TrainingConfig& config) : config_(config) {}

  Change& world(i64 ranks);
  Change& order(const mesh::Order& order);
  Change& degrees(i64 tp, i64 pp, i64 dp);  // only those that differ are edits
  Change& cp(i64 degree);
  Change& experts(i64 ep, i64 etp);
  Change& zero(int stage);
  Change& shard_size(i64 ranks);
  Change& bucket_size(i64 elements);
  Change& sequence_parallel(bool on);
  Change& cp_comm(plan::CpComm comm);
  Change& chunks(i64 chunks, pipeline::Schedule schedule);  // a schedule comes with its chunks
  Change& microbatch_group(i64 size);
  Change& even_stages();
  Change& recompute(plan::Recompute recompute);
  Change& recompute_layers(i64 layers);  // of a pp rank, in full
  Change& micro_batch(i64 sequences);
  Change& loss(plan::Loss loss);
  Change& overlap_grad_reduce(bool on);
  Change& overlap_param_gather(bool on);
  Change& overlap_tp(bool on);
  Change& overlap_pp(bool on);
  Change& block_placement();
  Change& microbatches(i64 count);  // by the global batch
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

/// `after` has no new violation, not `fault`, and none of `faults` that `before` does not have.
bool mends(const plan::TrainingConfig& before, const plan::TrainingConfig& after, Fault fault,
           std::span<const Fault> faults);

/// The edits of the first change that mends; empty where none does.
std::vector<Edit> first_mend(const plan::TrainingConfig& config, Fault fault,
                             std::span<const Fault> faults, const std::vector<Change>& changes);

/// Other degrees that mend and satisfy `wanted`: see other_degrees().
std::vector<Edit> mending_degrees(const plan::TrainingConfig& config, Fault fault,
                                  std::span<const Fault> faults, const Wanted& wanted = {});

/// ep and etp that mend, nearest to the stated ep: among the divisors of the experts, with experts
/// whole or cut as the dense layers are.
std::vector<Edit> mending_experts(const plan::TrainingConfig& config, Fault fault,
                                  std::span<const Fault> faults);

/// Whether the plan numbers its ranks as `order` does: axes of degree 1 may stand anywhere.
bool same_order(const plan::TrainingConfig& config, const mesh::Order& order);

/// The first number of key-value heads in the model that `ranks` does not divide; nothing where it
/// divides all. Latent attention keeps none.
std::optional<i64> undivided_kv_heads(const model::Model& model, i64 ranks);

/// Stages that are stated and are not the even split.
bool uneven_stages(const plan::TrainingConfig& config);

}  // namespace rankwright::rules
