// Short labels of a plan that every report and chart shows: its headline and its degrees.
#pragma once

#include <string>
#include <vector>

#include "rankwright/model/flops.h"
#include "rankwright/plan/plan.h"
#include "rankwright/rules/target.h"

namespace rankwright::report {

/// Returns " (llama-3.1-70b, assumed)" if no model is given; else nothing.
std::string name_assumed_model(const plan::TrainingConfig& s);

/// Returns the model, the cluster and the batch in one line, the heading of every report.
std::string format_headline(const plan::TrainingConfig& config);

/// Returns the heading of a range of GPU counts: "... on 256 to 768 h100-sxm · ...".
std::string format_range_headline(const plan::TrainingConfig& config, i64 min, i64 max);

/// Returns a heading without the size of the model: "llama-3.1-70b on 64 h100-sxm (8 nodes), 4.19 M
/// tokens/step, for Megatron-LM".
std::string format_short_headline(const plan::TrainingConfig& config, rules::Target target);

/// Returns the degrees and main choices of a plan: "TP 8 (nvlink)", "PP 4 x 2 virtual
/// (infiniband)", "ZeRO-1".
std::vector<std::string> list_degree_tags(const plan::TrainingConfig& config);

/// Returns the degree tags in one line: "TP 8 (nvlink) · PP 4 (infiniband) · ...".
std::string format_degree_tags(const plan::TrainingConfig& config);

/// Returns the degrees with their links and the ZeRO stage, without what a rank does with them:
/// "TP 8 (nvlink) · PP 4 (infiniband) · DP 1 · ZeRO-1".
std::string format_placed_degrees(const plan::TrainingConfig& config);

/// Returns what distinguishes families of plans, without links: "TP 8 · PP 4 x 2 · ZeRO-1".
std::string format_degrees(const plan::TrainingConfig& config);

/// Returns "no recomputation", "selective recomputation", "full recomputation of 3 layers per PP
/// rank".
std::string describe_recomputation(const plan::Plan& plan);

/// Returns the MFU of a step: "41.3 %", with the peak that it is a share of if that is not the one
/// of 16 bits: "31.2 % of the fp8 peak".
std::string format_mfu(const plan::TrainingConfig& config, Seconds step,
                       model::FlopsConvention convention = model::FlopsConvention::megatron_causal);

}  // namespace rankwright::report
