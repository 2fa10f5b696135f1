// Decisions that torchtitan and torch's pipelining make by themselves, shared by reader and
// writers: the flavors of its models, how it splits layers, and the size of microbatch groups.
// Checked against torchtitan v0.2.2. Reads and writes no files.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "rankwright/plan/plan.h"

namespace rankwright::importer {

/// A flavor with the shapes of a catalog model.
struct TorchtitanFlavor {
  std::string_view name;    // "llama3"
  std::string_view flavor;  // "8B"
  std::string_view model;   // name in the catalog
};
std::span<const TorchtitanFlavor> torchtitan_flavors();
/// Returns the flavors of experiments and of releases before v0.2, which are read and not written.
std::span<const TorchtitanFlavor> old_torchtitan_flavors();

/// Returns the network of a flavor: the catalog model without MTP modules.
model::Model make_flavor_model(const TorchtitanFlavor& flavor);

/// Returns the flavor of this network, ignoring its maximum sequence and MTP modules; nullptr if
/// there is none.
const TorchtitanFlavor* find_flavor(const model::Model& model);

/// Returns torch's class for a schedule; empty if it has none.
std::string_view torch_schedule(pipeline::Schedule schedule);

/// Returns the layers per stage that torchtitan chooses if the file lists none; embedding and
/// output count as `first` and `last` layers. Returns nothing if torchtitan rejects the split.
std::optional<std::vector<i64>> split_like_torchtitan(i64 layers, i64 stages, i64 first, i64 last);

/// Returns the number of microbatches that pass through a chunk before the next: torch forms M div
/// pp rounds of equal size. Returns nothing if the rounds are not equal or there are fewer
/// microbatches than pp.
std::optional<i64> torch_group_size(i64 pp, i64 microbatches);

/// Maximum number of cells in a schedule file that is written, or compared with known schedules
/// when it is read.
inline constexpr i64 kMaxTorchCells = 1 << 20;

/// Returns whether the schedule must be given cell by cell because torch has no class for it.
bool needs_cells(const plan::TrainingConfig& config);

/// Returns the schedule with these cells on `pp` ranks with `chunks` chunks each; nothing if there
/// is none.
std::optional<pipeline::PipelineShape> find_shape(std::string_view text, std::string_view file,
                                                  i64 pp, i64 chunks);

}  // namespace rankwright::importer
