// A Run is one published training run: what was trained on what and how, as far as the publication
// says, and what was measured. Rows of a CSV become Setups here, so that a run is predicted by the
// very functions that price a plan. What a row leaves open stays open: it is chosen by the model
// (see choices()), never by looking at what was measured.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rankwright/base/csv.h"
#include "rankwright/plan/plan.h"

namespace rankwright::validate {

/// Which of three figures a source prints: what the framework's allocator handed out at its peak,
/// what it holds, or what the driver shows for the whole process.
enum class MemoryFigure : unsigned char { allocated, reserved, device };
std::string_view name(MemoryFigure);

struct Run {
  std::string id, family, model, gpu, precision, quality;
  std::string publication{};  // families of one publication are held out together
  rankwright::plan::TrainingConfig config{};
  bool sparse = false;
  Seconds measured{};       // of a step; 0 where the source has none
  Bytes measured_memory{};  // 0 where the source has none
  MemoryFigure memory_figure = MemoryFigure::allocated;
  std::string layout{};  // of the row as written: rows of a sweep differ in it
  // Left open by the row:
  bool open_micro_batch = false;
  bool open_chunks = false;
  bool open_recompute = false;
  bool open_zero = false;
};

/// A row that cannot be scored, and why.
struct Excluded {
  std::string id, family, why;
};

struct Runs {
  std::vector<Run> scored{};
  std::vector<Excluded> excluded{};
};

/// Of a table with the columns of runs.csv, or of vTrain's single-node table. Rows of quality C are
/// left out, without being counted as excluded. A table without the needed columns is RW0917, one
/// with too many rows RW0906.
Result<Runs> read_runs(const Csv& table, std::string_view file);

/// Every way to fill what the row leaves open that can be priced, the row itself where it leaves
/// nothing open. Of a run that was read there is one at least.
std::vector<Run> choices(const Run& run);

/// Puts `stages` right for the chunks of the plan: even; or, where only that divides, embedding and
/// loss counted as layers; else the split with the least busy pp rank.
void split_stages(plan::TrainingConfig& config);

}  // namespace rankwright::validate
