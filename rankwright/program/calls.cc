#include "rankwright/program/calls.h"

#include <utility>

#include "rankwright/plan/adapters.h"

namespace rankwright::program {

using K = plan::TrafficKind;
using G = mesh::GroupKind;

Calls::Calls(const plan::TrainingConfig& config) : config_(config) {
  const mesh::MeshPair meshes = config.plan.meshes();
  for (std::size_t i = 0; i < mesh::kGroupKinds; ++i)
    sizes_[i] = make_group_shape(meshes, mesh::GroupKind(i), config.plan.shards()).size();
}

void Calls::compute(Part part) { body_.push_back({.part = part, .layer = layer, .again = again}); }

void Calls::call(K kind, plan::Op op, G group, Bytes bytes, bool beside) {
  if (sizes_[std::size_t(group)] == 1) return;
  body_.push_back({.layer = layer,
                   .again = again,
                   .kind = kind,
                   .op = op,
                   .group = group,
                   .bytes = bytes,
                   .beside = beside});
}

mesh::GroupKind Calls::data_group() const {
  return config_.plan.zero >= 1 && config_.plan.shards() < config_.plan.data_ranks() ? G::shard
                                                                                     : G::dp_cp;
}

void Calls::reduce(const plan::Share& parameters) {
  const plan::Plan& plan = config_.plan;
  const Bytes dense = bytes(parameters.dense, config_.job.grad_bytes());
  const Bytes expert = bytes(parameters.expert, config_.job.grad_bytes());
  const bool beside = plan.overlap.grad_reduce;
  const plan::Op op = find_gradient_op(config_);
  const bool scatter = op == plan::Op::reduce_scatter;
  if (parameters.dense > 0) {
    call(scatter ? K::dp_reduce_scatter : K::dp_all_reduce, op, data_group(), dense, beside);
    if (data_group() == G::shard)
      call(K::replica_all_reduce, plan::Op::all_reduce, G::replicate, dense / plan.shards(),
           beside);
  }
  if (parameters.expert > 0)
    call(scatter ? K::expert_dp_reduce_scatter : K::expert_dp_all_reduce, op, G::edp, expert,
         beside);
}

void Calls::gather(const plan::Share& parameters, bool beside) {
  gather(parameters, count_gathered_bytes(config_), beside);
}

void Calls::gather_adapters(const plan::Share& adapters, bool beside) {
  gather(adapters, double(plan::adapter_bytes(config_.job)), beside);
}

/// Gathers parameters of `each` bytes.
void Calls::gather(const plan::Share& parameters, double each, bool beside) {
  if (parameters.dense > 0)
    call(K::dp_all_gather, plan::Op::all_gather, data_group(), bytes(parameters.dense, each),
         beside);
  if (parameters.expert > 0)
    call(K::expert_dp_all_gather, plan::Op::all_gather, G::edp, bytes(parameters.expert, each),
         beside);
}

Body Calls::take() { return std::exchange(body_, {}); }

}  // namespace rankwright::program
