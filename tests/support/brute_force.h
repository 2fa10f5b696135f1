// A brute-force reference for the tests of search/: the space of plans as plain loops. Every
// candidate is a whole plan, checked and evaluated from scratch by the functions for any plan;
// nothing is shared or pruned. Only the balanced stage split comes from the search itself, because
// the search defines it.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "rankwright/cost/memory/memory.h"
#include "rankwright/cost/step.h"
#include "rankwright/cost/traffic_cost.h"
#include "rankwright/search/candidate.h"
#include "rankwright/search/problem.h"
#include "rankwright/search/stage_split_cache.h"

namespace rankwright {

/// Formats a candidate for test messages.
inline std::string format_findings(const search::Candidate& one) {
  const plan::Plan& p = one.plan;
  return fmt::format(
      "{} s, {} bytes: tp {} cp {} pp {} x {} dp {} ep {} etp {} of {}, zero {} over {}, {}, {}, "
      "{} {} {}, sp {}, cp {}, {}",
      one.time.value, one.memory.value, p.tp, p.cp, p.pp, p.virtual_stages, p.dp, p.ep, p.etp,
      p.micro_batch, p.zero, p.shard_size, show(p.order), name(p.schedule), name(p.recompute),
      p.recompute_layers, show(p.modules, "+"), p.sequence_parallel, name(p.cp_comm),
      p.stages.empty() ? "even" : show_layout(p.stages));
}

/// All candidates of a problem and how they were classified, for any capacity.
struct Brute {
  i64 candidates = 0;
  i64 duplicates = 0;  // its groups, shards or stages are those of another candidate
  i64 violations = 0;
  i64 rules = 0;
  std::vector<search::Candidate> runs{};  // valid candidates, whether or not they fit
};

class BruteForce {
 public:
  BruteForce(const search::Problem& problem, const cluster::Calibration& calibration)
      : problem_(problem), limits_(problem.limits), calibration_(calibration) {
    for (const rules::Rule* rule : rules::rules())
      if (rule->target != rules::Target::any && holds_for(*rule, limits_.target) &&
          rule->page.severity != Severity::note)
        rules_.push_back(rule);
  }

  /// Returns the number of candidates that all() would visit. Stops counting above `max`.
  i64 count(i64 max) {
    counting_ = true;
    max_ = max;
    visit_degrees();
    counting_ = false;
    return std::exchange(found_, {}).candidates;
  }

  Brute all() {
    visit_degrees();
    return std::exchange(found_, {});
  }

 private:
  i64 world() const { return problem_.config.world; }

  void visit_degrees() {
    const i64 w = world();
    for (i64 tp = 1; tp <= w; ++tp)
      for (i64 cp = 1; cp <= w; ++cp)
        for (i64 pp = 1; pp <= w; ++pp)
          for (i64 dp = 1; dp <= w; ++dp) {
            if (tp * cp * pp * dp != w || !limits_.tp.has(tp) || !limits_.cp.has(cp) ||
                !limits_.pp.has(pp) || !limits_.dp.has(dp))
              continue;
            experts({.tp = tp, .cp = cp, .dp = dp, .pp = pp, .etp = tp});
          }
  }

  void experts(plan::Plan plan) {
    i64 experts = 0;
    for (const model::LayerRun& run : problem_.config.model.runs)
      experts = std::max(experts, run.layer.ffn.experts);
    if (experts == 0) return sizes(plan);
    for (plan.ep = 1; plan.ep <= experts; ++plan.ep)
      for (plan.etp = 1; plan.etp <= plan.tp; ++plan.etp)
        if (experts % plan.ep == 0 && plan.tp % plan.etp == 0 && limits_.ep.has(plan.ep) &&
            limits_.etp.has(plan.etp))
          sizes(plan);
  }

  /// Enumerates micro-batch sizes; only size 1 if dp does not divide the batch, because all of
  /// those are violations.
  void sizes(plan::Plan plan) {
    const i64 batch = problem_.config.job.global_batch;
    const i64 replica = batch % plan.dp == 0 ? batch / plan.dp : 1;
    const i64 whole = row(problem_.config.job.method).sequences;
    for (plan.micro_batch = 1; plan.micro_batch <= replica; ++plan.micro_batch)
      if (replica % plan.micro_batch == 0 && plan.micro_batch % whole == 0 &&
          limits_.micro_batch.has(plan.micro_batch))
        list_orders(plan);
  }

  using Axes = std::vector<mesh::Axis>;

  /// Returns the axes along which ranks differ, in a dense layer or among experts, in this order.
  Axes split_axes(const plan::Plan& plan, const mesh::Order& order) const {
    const bool sparse = problem_.config.model.sparse();
    Axes split;
    for (const mesh::Axis axis : order) {
      const bool dense =
          (axis == mesh::Axis::tp && plan.tp > 1) || (axis == mesh::Axis::cp && plan.cp > 1) ||
          (axis == mesh::Axis::dp && plan.dp > 1) || (axis == mesh::Axis::pp && plan.pp > 1);
      const bool expert = (axis == mesh::Axis::tp && plan.etp > 1) ||
                          (axis == mesh::Axis::ep && plan.ep > 1) ||
                          (axis == mesh::Axis::dp && world() > plan.etp * plan.ep * plan.pp);
      if (dense || (sparse && expert)) split.push_back(axis);
    }
    return split;
  }

  static std::vector<mesh::GroupShape> groups(const plan::Plan& plan) {
    std::vector<mesh::GroupShape> shapes;
    for (const mesh::GroupKind kind :
         {mesh::GroupKind::tp, mesh::GroupKind::cp, mesh::GroupKind::dp, mesh::GroupKind::dp_cp,
          mesh::GroupKind::pp, mesh::GroupKind::ep, mesh::GroupKind::etp, mesh::GroupKind::edp})
      shapes.push_back(make_group_shape(plan.meshes(), kind, 0));
    return shapes;
  }

  /// Visits all 120 orders. Orders with the same sequence of split axes are one candidate; orders
  /// with the same groups are duplicates that cost the same.
  void list_orders(plan::Plan plan) {
    const bool meshes =
        world() % (plan.etp * plan.ep * plan.pp) == 0;  // otherwise groups are undefined
    std::vector<Axes> seen;
    std::vector<std::vector<mesh::GroupShape>> known;
    plan.order = {mesh::Axis::tp, mesh::Axis::cp, mesh::Axis::ep, mesh::Axis::dp, mesh::Axis::pp};
    do {
      const Axes split = split_axes(plan, plan.order);
      if (limits_.order && split != split_axes(plan, *limits_.order)) continue;
      if (std::find(seen.begin(), seen.end(), split) != seen.end()) continue;
      seen.push_back(split);
      repeated_ = false;
      if (meshes && !counting_) {
        std::vector<mesh::GroupShape> shapes = groups(plan);
        repeated_ = std::find(known.begin(), known.end(), shapes) != known.end();
        known.push_back(std::move(shapes));
      }
      layers(plan);
    } while (std::next_permutation(plan.order.begin(), plan.order.end()));
  }

  void layers(plan::Plan plan) {
    if (counting_ && found_.candidates > max_) return;
    for (const bool sequence_parallel : {false, true}) {
      if (plan.tp == 1 ? sequence_parallel
                       : limits_.sequence_parallel.value_or(sequence_parallel) != sequence_parallel)
        continue;
      plan.sequence_parallel = sequence_parallel;
      for (const plan::CpComm comm :
           {plan::CpComm::p2p, plan::CpComm::all_gather, plan::CpComm::a2a}) {
        if (plan.cp == 1 ? comm != plan::CpComm::p2p : limits_.cp_comm.value_or(comm) != comm)
          continue;
        plan.cp_comm = comm;
        recomputes(plan);
      }
    }
  }

  /// Visits every choice of recompute: none, attention, the sets of modules of an MoE layer, all
  /// layers, and numbers of layers per stage.
  void recomputes(plan::Plan plan) {
    const auto visit = [&](plan::Recompute kind, const plan::RecomputeModules& modules,
                           i64 layers) {
      if (limits_.recompute.value_or(kind) != kind) return;
      plan.recompute = kind;
      plan.modules = modules;
      plan.recompute_layers = layers;
      pipelines(plan);
    };
    const model::Model& model = problem_.config.model;
    const bool partly =
        limits_.recompute_parts &&
        (limits_.target == rules::Target::any || limits_.target == rules::Target::megatron ||
         limits_.target == rules::Target::megatron_bridge) &&
        !problem_.config.software.recomputes_ops;
    visit(plan::Recompute::none, {}, 0);
    visit(plan::Recompute::selective, {}, 0);
    if (partly && model.sparse()) {
      bool latent = false;
      for (const model::LayerRun& run : model.runs)
        if (run.layer.attention.kind == model::Attention::Kind::latent) latent = true;
      using Modules = plan::RecomputeModules;
      visit(plan::Recompute::selective,
            Modules{.core_attn = false, .layernorm = true, .moe_act = true}, 0);
      if (latent)
        visit(plan::Recompute::selective,
              Modules{.core_attn = false, .layernorm = true, .mla_up_proj = true, .moe_act = true},
              0);
      visit(plan::Recompute::selective,
            Modules{.core_attn = false,
                    .layernorm = true,
                    .mla_up_proj = latent,
                    .mlp = true,
                    .moe = true},
            0);
    }
    visit(plan::Recompute::full, {}, 0);
    for (i64 layers = 1; partly && layers < model.layers(); ++layers)
      visit(plan::Recompute::full, {}, layers);
  }

  /// Returns whether the recomputed layers per stage are all, or one, two or three quarters of a
  /// stage, rounded up, with a schedule of Megatron-LM.
  bool recomputes_quarters(const plan::Plan& plan) const {
    const i64 stages = plan.pp * plan.virtual_stages;
    const i64 most = (problem_.config.model.layers() + stages - 1) / stages;
    if (plan.recompute_layers == 0) return true;
    if (plan.recompute_layers >= most) return false;
    if (plan.schedule != pipeline::Schedule::one_f_one_b &&
        plan.schedule != pipeline::Schedule::interleaved)
      return false;
    for (const i64 quarters : {1, 2, 3})
      if (plan.recompute_layers == (quarters * most + 3) / 4) return true;
    return false;
  }

  /// Visits every number of chunks from the schedule's minimum to the number of layers per rank;
  /// the minimum is visited even if there are too few layers.
  void pipelines(plan::Plan plan) {
    if (plan.pp == 1) {
      if (recomputes_quarters(plan)) shards(plan, false);
      return;
    }
    const i64 layers = problem_.config.model.layers() / plan.pp;
    for (const pipeline::ScheduleRow& row : pipeline::schedules()) {
      if (limits_.schedule.value_or(row.schedule) != row.schedule) continue;
      plan.schedule = row.schedule;
      for (plan.virtual_stages = row.min_chunks;
           plan.virtual_stages <= row.max_chunks &&
           (plan.virtual_stages <= layers || plan.virtual_stages == row.min_chunks);
           ++plan.virtual_stages) {
        if (!limits_.chunks.has(plan.virtual_stages)) continue;
        if (!recomputes_quarters(plan)) continue;
        shards(plan, false);
        if (!limits_.even) shards(plan, true);
      }
    }
  }

  /// Returns the maximum and the minimum number of data ranks of one group in one domain of
  /// `level`.
  std::pair<i64, i64> inside(const plan::Plan& plan, int level) const {
    const mesh::GroupShape shape = make_group_shape(plan.meshes(), mesh::GroupKind::dp_cp, 0);
    std::map<std::pair<i64, i64>, i64> members;  // by group and domain
    for (i64 rank = 0; rank < world(); ++rank)
      ++members[{find_group_base(shape, rank), rank / problem_.config.cluster.domain(level)}];
    i64 max = 0, fewest = world();
    for (const auto& [where, count] : members)
      max = std::max(max, count), fewest = std::min(fewest, count);
    return {max, fewest};
  }

  void shards(plan::Plan plan, bool balanced) {
    const bool spread = plan.data_ranks() > 1 || problem_.config.model.sparse();
    if (!spread && !limits_.zero.has(0)) return judge(plan, balanced);  // as if zero were 0
    for (plan.zero = 0; plan.zero <= (spread ? 3 : 0); ++plan.zero) {
      if (!limits_.zero.has(plan.zero)) continue;
      plan.shard_size = 0;
      judge(plan, balanced);
      if (plan.zero == 0 || !limits_.hybrid) continue;
      std::set<i64> known{1, plan.data_ranks()};
      for (int level = 0; level + 1 < int(problem_.config.cluster.levels.size()); ++level) {
        if (counting_ || world() % (plan.etp * plan.ep * plan.pp) != 0) {
          ++found_.candidates;
          ++found_.violations;
          continue;
        }
        const auto [max, fewest] = inside(plan, level);
        if (known.contains(max)) {
          ++found_.candidates;
          ++found_.duplicates;
        } else if (max != fewest) {
          ++found_.candidates;
          ++found_.violations;
        } else {
          known.insert(plan.shard_size = max);
          judge(plan, balanced);
        }
      }
    }
  }

  void judge(const plan::Plan& plan, bool balanced) {
    ++found_.candidates;
    if (counting_) return;
    plan::TrainingConfig config = problem_.config;
    const plan::Overlap asked = config.plan.overlap;
    const plan::Dispatcher dispatcher = config.plan.dispatcher;
    const plan::Offload offload = config.plan.offload;
    config.assumed.clear();
    config.plan = plan;
    config.plan.dispatcher = plan.ep > 1 ? dispatcher : plan::Dispatcher::alltoall;
    config.plan.overlap = asked;
    config.plan.offload = offload;
    config.plan.overlap.param_gather = asked.param_gather && plan.zero > 0;
    config.plan.overlap.tp = asked.tp && plan.tp > 1 && plan.sequence_parallel;
    config.plan.overlap.ep = asked.ep && plan.ep > 1;
    config.plan.overlap.wgrad = asked.wgrad && config.plan.overlap.ep;
    if (problem_.overlap_chunks) config.plan.overlap.pp = plan.virtual_stages > 1;
    if (find_first_violation(config)) {
      ++found_.violations;
      return;
    }
    if (problem_.dispatch_per_node && cost::find_span(config, mesh::GroupKind::ep).level > 0)
      config.plan.dispatcher = plan::Dispatcher::deepep;
    if (repeated_ || (balanced && !balance_stages(config))) {
      ++found_.duplicates;
      return;
    }
    if (find_first_violation(config)) {
      ++found_.violations;
      return;
    }
    const std::vector<plan::ConstraintViolation> none;
    for (const rules::Rule* rule : rules_)
      if (rule->check({config, none, limits_.target})) {
        ++found_.rules;
        return;
      }
    found_.runs.push_back({config.plan, cost::estimate_step_time(config, calibration_).total(),
                           cost::fullest(config, calibration_).total()});
  }

  /// Sets the stage split balanced by time; returns false if it equals the even split. Balancing
  /// assumes links that cost nothing.
  bool balance_stages(plan::TrainingConfig& config) {
    plan::TrainingConfig anywhere = config;
    anywhere.plan.order = mesh::kDefaultOrder;
    anywhere.plan.cp_comm = plan::CpComm::p2p;
    const plan::Stages stages = *split_cache_.stages(
        config,
        search::weigh_parts(
            config.model, estimate_layer_costs(anywhere, cost::Links::none(anywhere, calibration_),
                                               calibration_)));
    if (stages.empty() || stages == config.stages()) return false;
    config.plan.stages = stages;
    return true;
  }

  const search::Problem& problem_;
  const search::Limits& limits_;
  const cluster::Calibration& calibration_;
  std::vector<const rules::Rule*> rules_{};
  search::StageSplitCache split_cache_{};
  bool counting_ = false;
  i64 max_ = 0;
  bool repeated_ = false;  // the groups of this order were seen before
  Brute found_{};
};

}  // namespace rankwright
