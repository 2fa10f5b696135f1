#include "rankwright/runtime/trainer.h"

#include "rankwright/base/check.h"
#include "rankwright/runtime/allocation.h"
#include "rankwright/runtime/engine.h"

namespace rankwright::runtime {

struct Trainer::Parts {
  const World& world;
  Counters counters{};
  std::unique_ptr<Engine> engine{};
  Bytes peak{};
};

Result<Groups> join(const plan::TrainingConfig& config, const World& world, const Backend& backend,
                    Counters* counters) {
  Groups groups;
  const std::pair<mesh::GroupKind, Group*> all[] = {
      {mesh::GroupKind::tp, &groups.tp},         {mesh::GroupKind::dp_cp, &groups.data},
      {mesh::GroupKind::pp, &groups.pp},         {mesh::GroupKind::edges, &groups.edges},
      {mesh::GroupKind::mirror, &groups.mirror}, {mesh::GroupKind::model, &groups.model},
      {mesh::GroupKind::world, &groups.world},
  };
  for (const auto& [kind, group] : all) {
    Result<Group> joined = world.group(config, kind, backend, counters);
    if (!joined) return fail(joined.error());
    *group = *joined;
  }
  return groups;
}

Trainer::Trainer() = default;
Trainer::~Trainer() = default;

Result<std::unique_ptr<Trainer>> Trainer::create(const plan::TrainingConfig& config,
                                                 const TrainOptions& options, const World& world,
                                                 const Backend& backend) {
  RW_CHECK(config.plan.ranks() == world.size());
  count_allocations();
  torch::set_num_threads(1);  // one thread per rank: to use more cores, start more ranks
  std::unique_ptr<Trainer> made(new Trainer);
  made->parts_ = std::unique_ptr<Parts>(new Parts{.world = world});
  const Result<Groups> groups = join(config, world, backend, &made->parts_->counters);
  if (!groups) return fail(groups.error());
  made->parts_->engine = std::make_unique<Engine>(config, options, world.rank(), *groups);
  return made;
}

StepResult Trainer::step(const Corpus& corpus, i64 step) {
  Parts& parts = *parts_;
  parts.counters.clear();
  reset_peak();
  parts.engine->step(corpus, step);
  parts.peak = peak_allocated();
  // The last stage has the loss, once per tp rank; count it once.
  const PipelineExecutor& executor = parts.engine->executor();
  std::vector<double> sum{parts.engine->rank().tp_rank == 0 ? executor.loss() : 0};
  parts.world.sum(sum);
  return {.loss = sum[0], .gradient_norm = executor.norm()};
}

const program::Program& Trainer::program() const { return parts_->engine->program(); }
i64 Trainer::pp_rank() const { return parts_->engine->rank().pp_rank; }
const Counters& Trainer::counters() const { return parts_->counters; }
std::span<const ActionTime> Trainer::times() const { return parts_->engine->executor().times(); }
const std::optional<Diagnostic>& Trainer::data_fault() const {
  return parts_->engine->executor().data_fault();
}
Bytes Trainer::peak() const { return parts_->peak; }

}  // namespace rankwright::runtime
