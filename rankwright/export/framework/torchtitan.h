// What both versions of torchtitan are told the same way: the data axis in replicas and shards, the
// modules of each stage, the schedule. Not part of the exporters' table.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankwright/export/exporter.h"

namespace rankwright::exporter {

inline constexpr std::string_view kScheduleFile = "torchtitan_schedule.csv";

/// dp = replicas x shards, FSDP's shard being shards x cp ranks.
struct DataRanks {
  i64 replicas = 1;
  i64 shards = 1;
};
DataRanks torchtitan_data_ranks(const plan::Plan& plan);

/// "never" keeps parameters gathered after forward (ZeRO-2), "always" does not (ZeRO-3).
std::string_view reshard_policy(const plan::Plan& plan);

/// Returns whether the schedule is given cell by cell: needs_cells(), and at most kMaxTorchCells.
bool writes_cells(const plan::TrainingConfig& config);

/// The class that runs the schedule, or that says how stages lie where cells are given.
std::string_view schedule_class(const plan::TrainingConfig& config);

/// The stages' modules: [["tok_embeddings", "layers.0"], ...], a line a stage; empty where the
/// framework's own split is the same.
std::string module_lists(const plan::TrainingConfig& config, std::string_view head_module,
                         std::string_view indent);

/// The file of cells, where the schedule needs one.
std::vector<ExportFile> schedule_files(const plan::TrainingConfig& config);

/// What neither version can say.
std::vector<Lost> lost_by_both_torchtitans(const plan::TrainingConfig& config);

}  // namespace rankwright::exporter
