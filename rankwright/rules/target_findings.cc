#include "rankwright/rules/target_findings.h"

#include <fmt/format.h>

namespace rankwright::rules {

Finding describe_fixed_order(const plan::TrainingConfig& s, Fault fault,
                             std::span<const Fault> faults) {
  return {.detail = fmt::format("{} is not {}", show(s.plan.order), show(mesh::kDefaultOrder)),
          .key = "parallelism.order",
          .fix = first_fix(s, fault, faults, {Change(s).order(mesh::kDefaultOrder)}),
          .hint = fmt::format("order: {}", show(mesh::kDefaultOrder))};
}

Finding describe_undivided_kv_heads(const plan::TrainingConfig& s, Fault fault,
                                    std::span<const Fault> faults) {
  return {
      .detail = fmt::format("TP {} does not divide the {} key-value heads of {}", s.plan.tp,
                            find_undivided_kv_heads(s.model, s.plan.tp).value_or(0), s.model.name),
      .key = "parallelism.tp_size",
      .fix = fix_by_degrees(s, fault, faults),
      .hint = "a tp_size that divides the key-value heads"};
}

Finding describe_undivided_ulysses_kv(const plan::TrainingConfig& s, plan::CpComm instead,
                                      Fault fault, std::span<const Fault> faults) {
  const i64 ranks = s.plan.tp * s.plan.cp;
  return {.detail = fmt::format("TP {} x CP {} = {} does not divide the {} key-value heads of {}",
                                s.plan.tp, s.plan.cp, ranks,
                                find_undivided_kv_heads(s.model, ranks).value_or(0), s.model.name),
          .key = "parallelism.cp_comm",
          .fix = first_fix(s, fault, faults, {Change(s).cp_comm(instead)}),
          .hint = fmt::format("cp_comm: {}", name(instead))};
}

Finding describe_full_sharding_only(const plan::TrainingConfig& s, Fault fault,
                                    std::span<const Fault> faults) {
  return {.detail = fmt::format("shard_size {} of {} data-parallel ranks", s.plan.shard_size,
                                s.plan.data_ranks()),
          .key = "parallelism.shard_size",
          .fix = first_fix(s, fault, faults, {Change(s).shard_size(s.plan.data_ranks())}),
          .hint = "no shard_size"};
}

Finding describe_fixed_stages(const plan::TrainingConfig& s, Fault fault,
                              std::span<const Fault> faults) {
  return {.detail = fmt::format("stages of {} layers", show_layers(s.plan.stages)),
          .key = "parallelism.stages",
          .fix = first_fix(s, fault, faults, {Change(s).even_stages()})};
}

Finding describe_whole_layer_recompute(const plan::TrainingConfig& s, Fault fault,
                                       std::span<const Fault> faults) {
  return {.detail = "it recomputes whole layers or none",
          .key = "parallelism.recompute",
          .fix = first_fix(s, fault, faults, {Change(s).recompute(plan::Recompute::full)})};
}

}  // namespace rankwright::rules
