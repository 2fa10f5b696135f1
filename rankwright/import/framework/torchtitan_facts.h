// What torchtitan and torch's pipelining decide by themselves, for its reader and its writers: the
// flavors of its models, how it splits layers, and which group of microbatches a schedule takes.
// Checked against torchtitan v0.2.2. No files here.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "rankwright/plan/plan.h"

namespace rankwright::importer {

/// One row a flavor whose shapes are those of a model of the catalog.
struct TorchtitanFlavor {
  std::string_view name;    // "llama3"
  std::string_view flavor;  // "8B"
  std::string_view model;   // of the catalog
};
std::span<const TorchtitanFlavor> torchtitan_flavors();

/// The network of a flavor: the catalog's, without MTP modules.
model::Model flavor_model(const TorchtitanFlavor& flavor);

/// The flavor of this network, whatever its longest sequence and its MTP modules; or nothing.
const TorchtitanFlavor* flavor_of(const model::Model& model);

/// torch's class for a schedule; empty where it has none.
std::string_view torch_schedule(pipeline::Schedule schedule);

/// Layers of each stage where the file does not list them: embedding and output count as `first`
/// and `last` layers. Nothing where it refuses.
std::optional<std::vector<i64>> torchtitan_split(i64 layers, i64 stages, i64 first, i64 last);

/// Microbatches that run through a chunk before the next: torch takes M div pp rounds of one size.
/// Nothing where they are not of one size, or fewer than pp.
std::optional<i64> torch_group(i64 pp, i64 microbatches);

/// The most cells of a schedule file that are written, and that are compared with each schedule's
/// when one is read.
inline constexpr i64 kMaxTorchCells = 1 << 20;

/// The schedule has to be given cell by cell: torch has no class that runs it so.
bool needs_cells(const plan::TrainingConfig& config);

/// The schedule whose cells these are, for pp ranks with so many chunks; nothing where it is none.
std::optional<pipeline::PipelineShape> shape_of_cells(std::string_view text, std::string_view file,
                                                      i64 pp, i64 chunks);

}  // namespace rankwright::importer
