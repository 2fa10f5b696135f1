// Tables of measured runs for tests, and their rows.
#pragma once

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "rankwright/validate/score.h"

namespace rankwright {

/// Returns a made-up row of a table of runs that can be scored; a test states only what it changes.
inline std::map<std::string, std::string> run_cells() {
  return {{"id", "a"},
          {"family", "own"},
          {"model", "GPT 7.5B"},
          {"layers", "36"},
          {"hidden", "4096"},
          {"heads", "32"},
          {"vocab", "51200"},
          {"seq", "2048"},
          {"gpu", "A100-80"},
          {"gpus", "128"},
          {"gpus_per_node", "8"},
          {"nvlink_domain", "8"},
          {"intra_link_GBps", "300"},
          {"inter_link_GBps_per_gpu", "25"},
          {"tp", "4"},
          {"pp", "4"},
          {"dp", "8"},
          {"vpp", "1"},
          {"zero_stage", "1"},
          {"micro_batch", "2"},
          {"global_batch_seqs", "512"},
          {"precision", "fp16"},
          {"recompute", "full"},
          {"schedule", "1f1b"},
          {"framework", "Megatron-LM"},
          {"quality", "A"},
          {"measured_step_s", "4"},
          {"measured_mem_gb", ""}};
}

/// Returns run_cells() with other cells; new columns are added.
inline std::map<std::string, std::string> with_cells(
    const std::map<std::string, std::string>& other) {
  std::map<std::string, std::string> cells = run_cells();
  for (const auto& [column, cell] : other) cells[column] = cell;
  return cells;
}

inline Csv run_table(const std::vector<std::map<std::string, std::string>>& rows) {
  Csv table;
  for (const auto& row : rows)
    for (const auto& [column, cell] : row)
      if (std::find(table.header.begin(), table.header.end(), column) == table.header.end())
        table.header.push_back(column);
  for (const auto& row : rows) {
    Csv::Row line{.line = int(table.rows.size()) + 2, .cells = {}};
    for (const std::string& column : table.header) {
      const auto found = row.find(column);
      line.cells.push_back(found == row.end() ? "" : found->second);
    }
    table.rows.push_back(std::move(line));
  }
  return table;
}

/// Reads tests/data/validation/NAME.
inline validate::Runs published(const std::string& name) {
  std::ifstream stream(std::string(RANKWRIGHT_SOURCE_DIR "/tests/data/validation/") + name,
                       std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(stream), {});
  return *validate::read_runs(*parse_csv(text, name), name);
}

inline void no_progress(std::size_t, std::size_t, std::string_view) {}

}  // namespace rankwright
