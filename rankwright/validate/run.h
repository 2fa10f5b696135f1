// A Run is one published training run: its configuration, as far as the publication states it, and
// its measurements. Rows of a CSV file become TrainingConfigs, so that runs are predicted by the
// same functions as plans. Unstated settings are chosen by the cost model (see list_choices()),
// never from the measurement.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rankwright/base/csv.h"
#include "rankwright/plan/plan.h"

namespace rankwright::validate {

/// The memory figure that a source reports: the peak allocated by the framework's allocator, the
/// memory reserved by it, or the driver's figure for the whole process.
enum class MemoryFigure : unsigned char { allocated, reserved, device };
std::string_view name(MemoryFigure);

/// One published run.
struct Run {
  std::string id, family, model, gpu, precision, quality;
  std::string publication{};  // families of one publication are held out together
  rankwright::plan::TrainingConfig config{};
  bool sparse = false;
  Seconds measured{};       // step time; 0 if the source has none
  Bytes measured_memory{};  // 0 if the source has none
  MemoryFigure memory_figure = MemoryFigure::allocated;
  // Step time over that of the same run without offload; 0 if the source has none.
  double measured_slowdown = 0;
  Seconds measured_base{};  // step time without offload; 0 if the source prints only the ratio
  std::string layout{};     // the layout columns as written; rows of a sweep differ in it
  // Settings that the row does not state:
  bool open_micro_batch = false;
  bool open_chunks = false;
  bool open_recompute = false;
  bool open_zero = false;
};

/// A row that cannot be scored, with the reason.
struct Excluded {
  std::string id, family, why;
};

/// The rows of a table of runs.
struct Runs {
  std::vector<Run> scored{};
  std::vector<Excluded> excluded{};
};

/// Reads a table with the columns of runs.csv, or vTrain's single-node table. Rows of quality C are
/// skipped and do not count as excluded. Fails with RW0917 if required columns are missing, and
/// with RW0906 for too many rows.
Result<Runs> read_runs(const Csv& table, std::string_view file);

/// Returns the run with every combination of its unstated settings that can be estimated; the run
/// itself if all are stated. Runs from read_runs() have at least one.
std::vector<Run> list_choices(const Run& run);

/// Sets the stages of the plan: an even split; or, if only that divides evenly, a split that counts
/// embedding and loss as layers; else the split that minimizes the work of the busiest pp rank.
void split_stages(plan::TrainingConfig& config);

}  // namespace rankwright::validate
