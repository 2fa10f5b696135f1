// Short labels of a plan that every report and chart shows: its headline and its degrees.
#pragma once

#include <string>
#include <vector>

#include "rankwright/model/flops.h"
#include "rankwright/plan/plan.h"

namespace rankwright::report {

/// Returns the model, the cluster and the batch in one line, the heading of every report.
/// Returns " (llama-3.1-70b, assumed)" if no model is given; else nothing.
std::string name_assumed_model(const plan::TrainingConfig& s);

std::string format_headline(const plan::TrainingConfig& config);

/// Returns the degrees and main choices of a plan: "tp 8 on nvlink", "pp 4 x 2 chunks on
/// infiniband", "ZeRO-1".
std::vector<std::string> list_degree_tags(const plan::TrainingConfig& config);

/// Returns the degree tags in one line: "tp 8 on nvlink · pp 4 on infiniband · ...".
std::string format_degree_tags(const plan::TrainingConfig& config);

/// Returns the MFU of a step: "41.3 %", with the peak that it is a share of if that is not the one
/// of 16 bits: "31.2 % of the fp8 peak".
std::string format_mfu(const plan::TrainingConfig& config, Seconds step,
                       model::FlopsConvention convention = model::FlopsConvention::megatron_causal);

}  // namespace rankwright::report
