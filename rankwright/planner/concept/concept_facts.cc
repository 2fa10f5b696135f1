#include "rankwright/planner/concept/concept_facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/cost/rates.h"
#include "rankwright/model/flops.h"
#include "rankwright/pipeline/bubble.h"
#include "rankwright/plan/constraint_violation.h"
#include "rankwright/planner/concept/split_shapes.h"

namespace rankwright::planner {
namespace {

/// The plan that a page is about, and the facts found so far.
struct FactsInput {
  const ConceptPage& page;
  const plan::TrainingConfig& config;
  const ExplainView& view;
  std::vector<ConceptFact>& facts;

  void add(std::string label, std::string text, std::optional<double> value = {},
           std::string unit = {}) const {
    facts.push_back({std::move(label), std::move(text), value, std::move(unit)});
  }
  void add_count(std::string label, i64 n) const {
    add(std::move(label), count(n), double(n), "count");
  }

  /// Adds the degree, the placement and the reason that `explain PLAN` prints for an axis. Returns
  /// whether the plan has the axis.
  bool add_axis(std::string_view axis) const {
    for (const AxisRow& row : view.axes) {
      if (row.axis != axis) continue;
      add("degree",
          row.placement == "-" ? row.degree : fmt::format("{}, {}", row.degree, row.placement));
      add("why", row.reason);
      return true;
    }
    add("degree", fmt::format("the plan does not use {}", axis));
    return false;
  }

  /// Adds the exposed and overlapped time of the page's item of the step.
  void add_time() const {
    const cost::StepTime& step = view.estimate.step;
    const cost::CommTime time = step.comm(page.item.value());
    const double share = time.exposed / step.total();
    add("exposed",
        fmt::format("{}, {} of the {} step", show(time.exposed), percent(share),
                    show(step.total())),
        time.exposed.value, "seconds");
    add("overlapped", show(time.overlapped), time.overlapped.value, "seconds");
  }

  void add_memory() const {
    const cost::Estimate& e = view.estimate;
    add("memory",
        fmt::format("{} on PP rank {}, the fullest", show_memory(e.memory.total(), e.capacity),
                    e.memory.pp_rank),
        e.memory.total().value, "bytes");
  }

  /// Adds the memory of the plan after a change, if that plan can exist.
  void add_memory_without(const plan::TrainingConfig& changed, std::string_view how) const {
    if (const std::optional<cost::MemoryEstimate> memory = estimate_changed_memory(changed))
      add("without it",
          fmt::format("{} ({}, all else equal)",
                      show_memory(memory->total(), view.estimate.capacity), how),
          memory->total().value, "bytes");
  }
};

void add_tensor_facts(const FactsInput& in) {
  in.add_axis("TP");
  for (SplitShape& shape : list_split_shapes(in.config))
    in.add(std::move(shape.name), std::move(shape.text), double(shape.local_elements), "count");
  in.add_memory();
  plan::TrainingConfig changed = in.config;
  changed.plan.tp = 1;
  changed.plan.etp = 1;
  changed.plan.sequence_parallel = false;
  if (in.config.plan.tp > 1) in.add_memory_without(changed, "TP 1");
  in.add_time();
}

void add_sequence_facts(const FactsInput& in) {
  if (!in.add_axis("SP")) return;
  const i64 tokens = in.config.job.sequence / in.config.plan.cp;
  in.add("tokens",
         fmt::format("{} -> {} per rank outside blocks", count(tokens),
                     count(tokens / in.config.plan.tp)),
         double(tokens / in.config.plan.tp), "count");
  in.add_memory();
  plan::TrainingConfig changed = in.config;
  changed.plan.sequence_parallel = false;
  in.add_memory_without(changed, "sequence_parallel: false");
  in.add_time();
}

void add_context_facts(const FactsInput& in) {
  const plan::Plan& p = in.config.plan;
  if (!in.add_axis("CP")) return;
  in.add("tokens",
         fmt::format("{} -> {} per rank", count(in.config.job.sequence),
                     count(in.config.job.sequence / p.cp)),
         double(in.config.job.sequence / p.cp), "count");
  in.add("exchange", std::string(name(p.cp_comm)));
  in.add_memory();
  plan::TrainingConfig changed = in.config;
  changed.plan.cp = 1;
  in.add_memory_without(changed, "CP 1");
  in.add_time();
}

void add_expert_facts(const FactsInput& in) {
  const plan::Plan& p = in.config.plan;
  if (!in.add_axis("EP")) return;
  i64 experts = 0, active = 0;
  for (const model::LayerRun& run : in.config.model.runs)
    if (run.layer.ffn.experts > experts)
      experts = run.layer.ffn.experts, active = run.layer.ffn.active;
  in.add("experts", fmt::format("{} -> {} per rank", count(experts), count(experts / p.ep)),
         double(experts / p.ep), "count");
  in.add_count("per token", active);
  in.add_memory();
  plan::TrainingConfig changed = in.config;
  changed.plan.ep = 1;
  in.add_memory_without(changed, "EP 1");
  in.add_time();
}

/// Adds the ideal bubble, which depends on schedule and counts alone, and the one of this step.
void add_bubble_facts(const FactsInput& in) {
  const plan::Plan& p = in.config.plan;
  const cost::StepTime& step = in.view.estimate.step;
  const i64 m = in.config.microbatches();
  const auto ideal = [&](i64 microbatches) {
    return pipeline::bubble_fraction(p.schedule, p.pp, p.virtual_stages, microbatches);
  };
  in.add_count("PP", p.pp);
  if (p.virtual_stages > 1) in.add_count("virtual", p.virtual_stages);
  in.add_count("m", m);
  const std::string arithmetic = p.schedule == pipeline::Schedule::one_f_one_b && p.pp > 1
                                     ? fmt::format("({0} - 1) / ({1} + {0} - 1) = ", p.pp, count(m))
                                     : "";
  in.add("ideal",
         fmt::format("{}{} of the step ({})", arithmetic, percent(ideal(m)), name(p.schedule)),
         ideal(m), "fraction");
  if (p.pp > 1)
    in.add("2 m", fmt::format("{} with {} micro-batches", percent(ideal(2 * m)), count(2 * m)),
           ideal(2 * m), "fraction");
  const Seconds bubble = step[cost::Item::bubble];
  in.add("bubble",
         fmt::format("{}, {} of the {} step", show(bubble), percent(bubble / step.total()),
                     show(step.total())),
         bubble.value, "seconds");
  const Seconds imbalance = step[cost::Item::imbalance];
  in.add("imbalance", fmt::format("{} more, by unequal stages", show(imbalance)), imbalance.value,
         "seconds");
}

void add_pipeline_facts(const FactsInput& in) {
  const plan::Plan& p = in.config.plan;
  in.add_axis("PP");
  i64 fewest = in.config.model.layers(), most = 0;
  for (const plan::RankContents& rank : list_rank_contents(in.config)) {
    fewest = std::min(fewest, rank.layers);
    most = std::max(most, rank.layers);
  }
  in.add("layers",
         fmt::format(
             "{} -> {} per PP rank", count(in.config.model.layers()),
             fewest == most ? count(most) : fmt::format("{} to {}", count(fewest), count(most))),
         double(most), "count");
  in.add_memory();
  plan::TrainingConfig changed = in.config;
  changed.plan.pp = 1;
  changed.plan.virtual_stages = 1;
  changed.plan.microbatch_group = 0;
  changed.plan.schedule = pipeline::Schedule::one_f_one_b;
  changed.plan.stages = {};
  if (p.pp > 1) in.add_memory_without(changed, "PP 1");
  in.add_time();
  if (p.pp > 1) add_bubble_facts(in);
}

void add_data_facts(const FactsInput& in) {
  const plan::Plan& p = in.config.plan;
  const i64 batch = in.config.job.global_batch;
  in.add_axis("DP");
  in.add("sequences", fmt::format("{} -> {} per replica", count(batch), count(batch / p.dp)),
         double(batch / p.dp), "count");
  const Bytes states = in.view.estimate.memory.states();
  in.add("states",
         fmt::format("{} per rank ({})", show_memory(states),
                     p.zero == 0 ? "replicated on all DP ranks" : fmt::format("ZeRO-{}", p.zero)),
         states.value, "bytes");
  in.add_memory();
  in.add_time();
}

/// Adds the memory of the plan at each ZeRO stage.
void add_zero_facts(const FactsInput& in) {
  in.add_axis("FSDP/ZeRO");
  for (int stage = 0; stage <= 3; ++stage) {
    plan::TrainingConfig changed = in.config;
    changed.plan.zero = stage;
    if (stage == 0) changed.plan.shard_size = 0;
    const bool now = stage == in.config.plan.zero;
    const std::optional<cost::MemoryEstimate> memory =
        now ? in.view.estimate.memory : estimate_changed_memory(changed);
    if (!memory) continue;
    in.add(fmt::format("ZeRO-{}", stage),
           fmt::format("{} of states, {} in all{}", show_memory(memory->states()),
                       show_memory(memory->total(), in.view.estimate.capacity),
                       now ? " (this plan)" : ""),
           memory->total().value, "bytes");
  }
  in.add_time();
}

void add_microbatch_facts(const FactsInput& in) {
  const plan::TrainingConfig& s = in.config;
  in.add_count("size", s.plan.micro_batch);
  in.add("m",
         fmt::format("{} / ({} x {}) = {}", count(s.job.global_batch), s.plan.dp,
                     s.plan.micro_batch, count(s.microbatches())),
         double(s.microbatches()), "count");
  const i64 tokens = s.plan.micro_batch * s.job.sequence;
  in.add("tokens", fmt::format("{} per micro-batch", count(tokens)), double(tokens), "count");
  const Bytes held = in.view.estimate.memory[cost::Entry::activations];
  in.add("activations",
         fmt::format("{} on PP rank {}, of all micro-batches in flight", show_memory(held),
                     in.view.estimate.memory.pp_rank),
         held.value, "bytes");
}

void add_mfu_facts(const FactsInput& in) {
  const plan::TrainingConfig& s = in.config;
  const Seconds step = in.view.estimate.time();
  const Flops each =
      training_flops_per_token(s.model, s.job.sequence, model::FlopsConvention::megatron_causal);
  const double tokens = double(s.job.global_batch) * double(s.job.sequence);
  in.add("per token", show(each), each.value, "FLOPs");
  in.add("tokens",
         fmt::format("{} x {} = {} per step", count(s.job.global_batch), count(s.job.sequence),
                     format_short_count(tokens)),
         tokens, "count");
  in.add("work", fmt::format("{} per step", show(tokens * each)), (tokens * each).value, "FLOPs");
  in.add("step", show(step), step.value, "seconds");
  const FlopsPerSecond peak = cost::find_layer_peak(s);
  in.add("peak", fmt::format("{} GPUs x {}", count(s.world), show(peak)),
         double(s.world) * peak.value, "FLOP/s");
  const double mfu = cost::mfu(s, step);
  in.add("MFU",
         fmt::format("{} / ({} x {}) = {}", show(tokens * each), show(step),
                     show(double(s.world) * peak), percent(mfu)),
         mfu, "fraction");
}

/// The function that lists the numbers of one concept. Collectives have only their traffic.
struct FactsRow {
  std::string_view term;
  void (*add)(const FactsInput&);
};

constexpr FactsRow kFactsRows[] = {
    {"tensor parallelism", add_tensor_facts},
    {"sequence parallelism", add_sequence_facts},
    {"context parallelism", add_context_facts},
    {"expert parallelism", add_expert_facts},
    {"pipeline parallelism", add_pipeline_facts},
    {"data parallelism", add_data_facts},
    {"ZeRO stage", add_zero_facts},
    {"FSDP", add_zero_facts},
    {"bubble", add_bubble_facts},
    {"micro-batch", add_microbatch_facts},
    {"MFU", add_mfu_facts},
};

/// Returns whether a row of the communication table belongs to a page.
bool belongs(const ConceptPage& page, const plan::Traffic& traffic) {
  if (page.collective) return row(*page.collective).op == traffic.op;
  return page.item && cost::find_item(traffic.kind) == *page.item;
}

}  // namespace

std::optional<cost::MemoryEstimate> estimate_changed_memory(plan::TrainingConfig changed) {
  changed.world = changed.plan.ranks();
  if (changed.plan.placement.kind == mesh::Placement::Kind::listed) changed.plan.placement = {};
  if (find_first_violation(changed)) return std::nullopt;
  return cost::fullest(changed, select_calibration(changed));
}

ConceptFacts list_facts(const ConceptPage& page, const plan::TrainingConfig& config,
                        const ExplainView& view) {
  ConceptFacts all;
  for (const FactsRow& row : kFactsRows)
    if (row.term == page.term) row.add({page, config, view, all.facts});
  for (const CommunicationRow& c : view.communication)
    if (belongs(page, c.evaluated.traffic)) all.communication.push_back(c);
  return all;
}

}  // namespace rankwright::planner
