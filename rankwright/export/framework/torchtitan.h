// The part of the export that is equal for both torchtitan versions: the data axis as replicas and
// shards, the modules of each stage, and the schedule. Not part of the exporter table.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankwright/export/exporter.h"

namespace rankwright::exporter {

inline constexpr std::string_view kScheduleFile = "torchtitan_schedule.csv";

/// The data axis: dp = replicas x shards. FSDP shards over shards x cp ranks.
struct DataRankSplit {
  i64 replicas = 1;
  i64 shards = 1;
};

/// Returns how the plan's data ranks divide into replicas and shards.
DataRankSplit split_data_ranks(const plan::Plan& plan);

/// Returns fsdp_reshard_after_forward: "never" keeps parameters gathered after the forward pass
/// (ZeRO-2), "always" reshards them (ZeRO-3).
std::string_view choose_reshard_policy(const plan::Plan& plan);

/// Returns whether the schedule is written cell by cell: needs_cells(), with at most
/// kMaxTorchCells.
bool writes_cells(const plan::TrainingConfig& config);

/// Returns the torch class that runs the schedule. With cells, the class only decides how stages
/// are placed on ranks.
std::string_view choose_schedule_class(const plan::TrainingConfig& config);

/// Returns whether torch.compile is on. Nothing if the plan was estimated for another framework,
/// whose own kernels need no compiler. Async tensor parallelism is a compiler pass, and the trainer
/// stops without it.
std::optional<bool> find_compile(const plan::TrainingConfig& config);

/// Returns the modules of each stage, one line per stage: [["tok_embeddings", "layers.0"], ...].
/// Empty if the framework's own split is the same.
std::string list_modules(const plan::TrainingConfig& config, std::string_view head_module,
                         std::string_view indent);

/// Returns the schedule's file of cells, or nothing if the schedule needs none.
std::vector<ExportFile> write_schedule_files(const plan::TrainingConfig& config);

/// Returns the settings that neither version can express.
std::vector<UnsupportedSetting> find_unsupported_by_both_torchtitans(
    const plan::TrainingConfig& config);

}  // namespace rankwright::exporter
