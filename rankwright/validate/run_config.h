// Turns a row of a table of runs into a TrainingConfig: the model from its shapes, the cluster from
// the GPU and its links, the plan from the degrees, the software from the framework's name. run.cc
// checks whether the result is valid.
//
// The notes state what has no column, as key=value between semicolons: dispatcher, a2a_overlap,
// delay_wgrad, cuda_graph, grouped_mlp, permute_fusion, force_balance, recompute_modules, layout
// (Megatron-LM's), qk_norm=1, expert_bias=1, group_limit=8/4 (a token's experts are in 4 of 8
// groups), tuned=0, launch=blocking and moments=bf16.
#pragma once

#include <optional>
#include <string>

#include "rankwright/validate/run.h"
#include "rankwright/validate/run_row.h"

namespace rankwright::validate {

/// Returns the catalog's name of a source's GPU: "A100-80" is a100-80g; nullopt if it is unknown.
std::optional<std::string_view> find_device_name(std::string_view gpu);

/// Sets what the columns of fine-tuning tables state; a table without them leaves the run as it is.
void read_fine_tuning(const RunRow& row, Run& run);

/// Reads a row. The stages are left evenly split.
/// Requires: the row lacks nothing, its numbers are within bounds, and its GPU is known.
Run make_run(const RunRow& row);

}  // namespace rankwright::validate
