// The sentences of `plan`: a plan in few words, why it was chosen, what each other choice costs or
// what refuses it. Tables of rows; how they are laid out is plan_text.h, what was searched is said
// by search_words.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankwright/planner/plan/plan_answer.h"

namespace rankwright::report {

/// "tp 2 cp 4 pp 4 x 2 dp 2 ZeRO-1 zb-h1": what tells plans of one job apart.
std::string brief(const plan::TrainingConfig& config);

/// What the degree_tags do not say: schedule and microbatches, uneven stages, an order that is not
/// the default, hybrid shards, how context is exchanged.
std::vector<std::string> detail_list(const plan::TrainingConfig& config);
std::string details(const plan::TrainingConfig& config);

/// "+4.9 %", "-2.5 %", "=".
std::string difference_text(Seconds time, Seconds than);

/// One neighbour of the plan.
struct WhyRow {
  std::string_view key;    // "tp", for machines
  std::string change;      // "tp 2"
  std::string step;        // "65 s"; "-" where it does not run
  std::string difference;  // "-2.5 %"; what refuses it: "does not fit"
  std::string plan;        // the best such plan, where everything else was searched anew
  std::string because;     // what grew, what shrank; what refuses it
  std::size_t neighbour;   // in the view
};
/// What people would ask first.
std::vector<WhyRow> why_rows(const planner::PlanAnswer& view);
/// Of another plan, whose neighbours the view has.
std::vector<WhyRow> why_rows(const planner::PlanAnswer& view, const search::Priced& plan);

/// Why this one, in a sentence or two, which call it `chosen`.
std::string describe_choices(const planner::PlanAnswer& view, std::string_view chosen = "This one");

/// How near the memory is to the device's.
std::string describe_memory(const search::Priced& best);

/// "leave 1/8 of the memory free", "half the GPUs".
std::string describe_trade(const search::Problem& problem, const search::TradePoint& point);

/// "grad_dtype bf16 (16 bytes a parameter in all; ...), optimizer adam".
std::string describe_assumptions(const plan::TrainingConfig& config);

/// The entry of a ledger that is largest.
cost::Entry largest_item(const cost::MemoryEstimate& estimate_memory);

}  // namespace rankwright::report
