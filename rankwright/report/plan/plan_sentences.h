// The sentences of `plan`: a short name of a plan, why it was chosen, and what each alternative
// costs or why it is refused. plan_text.h lays them out; search_sentences.h describes the search.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankwright/planner/plan/plan_answer.h"

namespace rankwright::report {

/// Returns the settings that distinguish plans of one job: "TP 2 · CP 4 · PP 4 x 2 · DP 2 · ZeRO-1
/// · zb-h1".
std::string brief(const plan::TrainingConfig& config);

/// Returns the short name, with the verdict on memory unless the plan fits with margin: "TP 8
/// (tight)".
std::string brief_with_verdict(const search::EvaluatedPlan& plan);

/// Returns the name of a catalog system without its number of units, for commands that ask for
/// another number; empty for other clusters.
std::string find_system_name(const cluster::Cluster& cluster);

/// Returns the settings that the degree tags leave out: schedule and number of microbatches,
/// uneven stages, a non-default axis order, hybrid sharding, the context-parallel algorithm.
std::vector<std::string> list_details(const plan::TrainingConfig& config);
/// Returns the same details in one line.
std::string details(const plan::TrainingConfig& config);

/// Describes what a rank runs: "interleaved-1f1b, 256 micro-batches of 1, no recomputation".
std::string describe_schedule(const plan::TrainingConfig& config);

/// Formats the relative difference of `time` to `than`: "+4.9 %", "-2.5 %", "=".
std::string format_difference(Seconds time, Seconds than);

/// One alternative to the plan: the same plan with one setting changed.
struct WhyRow {
  std::string_view key;    // "tp", for machines
  std::string change;      // "TP 2"
  std::string step;        // "65 s"; "-" if it cannot run
  std::string difference;  // "-2.5 %", or "does not fit"
  std::string plan;        // the best plan with this setting, if the others were searched again
  std::string because;     // the items that grew and shrank, or why it is refused
  std::size_t neighbour;   // index into PlanAnswer::neighbors
};
/// Returns the alternatives to the best plan, in the order in which people usually ask.
std::vector<WhyRow> make_why_rows(const planner::PlanAnswer& view);
/// Returns the alternatives to `plan`. Requires: the neighbors in `view` are those of `plan`.
std::vector<WhyRow> make_why_rows(const planner::PlanAnswer& view,
                                  const search::EvaluatedPlan& plan);

/// Names the item of the step that changes most: "TP collectives +3.1 s"; empty if none does.
std::string describe_largest_change(const cost::StepTime& from, const cost::StepTime& to);

/// Explains why the best plan is preferred to a faster one; empty if it is the fastest.
std::string describe_preference(const planner::PlanAnswer& view,
                                std::string_view chosen = "This one");

/// Explains in one or two sentences why the best plan was chosen; `chosen` is how they refer to
/// it.
std::string describe_choices(const planner::PlanAnswer& view, std::string_view chosen = "This one");

/// Describes how much memory is left, compared with the error of the memory estimate.
std::string describe_memory(const search::EvaluatedPlan& best);

/// Describes a trade-off: "leave 12.5 % of the memory free", "1/2 of the GPUs: 32".
std::string describe_trade(const search::Problem& problem, const search::TradePoint& point);

/// Lists the assumptions: "grad_dtype bf16 (16 bytes a parameter in all; ...), optimizer adam".
std::string describe_assumptions(const plan::TrainingConfig& config);

/// Lists the assumed values of the job and the flags that change them: "grad_dtype fp32, optimizer
/// adam; change with --grad-dtype, --optimizer".
std::string describe_changeable_assumptions(const plan::TrainingConfig& config);

/// Returns the rates that are assumed for the NVMe drives of a plan, and where to state them; empty
/// if the plan uses none, or the cluster states their rates.
std::string describe_assumed_drives(const plan::TrainingConfig& config);

/// Returns the largest item of a memory estimate.
cost::Entry find_largest_item(const cost::MemoryEstimate& memory);

}  // namespace rankwright::report
