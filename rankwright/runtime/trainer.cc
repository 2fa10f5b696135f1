#include "rankwright/runtime/trainer.h"

#include <torch/torch.h>

#include "rankwright/base/check.h"
#include "rankwright/plan/messages.h"
#include "rankwright/program/expand.h"
#include "rankwright/runtime/allocation.h"
#include "rankwright/runtime/role.h"

namespace rankwright::runtime {

struct Trainer::Parts {
  Setup setup;
  const World& world;
  Counters counters{};
  Program program;
  Rank rank;
  Shard shard{};
  std::unique_ptr<Store> store{};
  std::unique_ptr<Role> role{};
  Bytes peak{};

  Parts(const Setup& of, const World& in)
      : setup(of), world(in), program(expand(setup)), rank{.setup = setup} {}

  Result<void> join(const Backend& backend);
};

Result<void> Trainer::Parts::join(const Backend& backend) {
  const Mesh mesh = setup.plan.meshes().dense;
  rank.formats = formats(setup.job);
  rank.tp_rank = mesh.coordinate(world.rank(), Axis::tp);
  rank.dp_rank = mesh.coordinate(world.rank(), Axis::dp);
  rank.pp_rank = mesh.coordinate(world.rank(), Axis::pp);
  rank.sequence_parallel = sequence_parallel(setup.plan);
  Groups& groups = rank.groups;
  const std::pair<GroupKind, Group*> all[] = {
      {GroupKind::tp, &groups.tp},         {GroupKind::dp_cp, &groups.data},
      {GroupKind::pp, &groups.pp},         {GroupKind::edges, &groups.edges},
      {GroupKind::mirror, &groups.mirror}, {GroupKind::model, &groups.model},
      {GroupKind::world, &groups.world},
  };
  for (const auto& [kind, group] : all) {
    Result<Group> joined = world.group(setup, kind, backend, &counters);
    if (!joined) return tl::unexpected(joined.error());
    *group = *joined;
  }
  return {};
}

Trainer::Trainer() = default;
Trainer::~Trainer() = default;

Result<std::unique_ptr<Trainer>> Trainer::create(const Setup& setup, const TrainOptions& options,
                                                 const World& world, const Backend& backend) {
  RW_CHECK(setup.plan.ranks() == world.size());
  count_allocations();
  torch::set_num_threads(1);  // a rank is one thread: who wants more starts more ranks
  std::unique_ptr<Trainer> made(new Trainer);
  made->parts_ = std::make_unique<Parts>(setup, world);
  Parts& parts = *made->parts_;
  if (Result<void> joined = parts.join(backend); !joined) return tl::unexpected(joined.error());
  parts.shard = build(parts.rank);
  const AdamOptions adam{options.learning_rate, options.beta1, options.beta2, options.epsilon,
                         options.weight_decay};
  parts.store = std::make_unique<Store>(parts.rank, parts.shard, adam, options.seed);
  parts.rank.move_on = [store = parts.store.get()] { store->move_on(); };
  parts.role =
      std::make_unique<Role>(parts.rank, parts.program, parts.shard, *parts.store, options.clip);
  return made;
}

StepResult Trainer::step(const Corpus& corpus, i64 step) {
  Parts& parts = *parts_;
  parts.counters.clear();
  forget_peak();
  parts.role->run(corpus, step);
  parts.peak = peak_allocated();
  // The loss stands on the last stage, once for each tp rank of it.
  std::vector<double> sum{parts.rank.tp_rank == 0 ? parts.role->loss() : 0};
  parts.world.sum(sum);
  return {.loss = sum[0], .gradient_norm = parts.role->norm()};
}

const Program& Trainer::program() const { return parts_->program; }
i64 Trainer::pp_rank() const { return parts_->rank.pp_rank; }
const Counters& Trainer::counters() const { return parts_->counters; }
std::span<const Timed> Trainer::times() const { return parts_->role->times(); }
Bytes Trainer::peak() const { return parts_->peak; }

}  // namespace rankwright::runtime
