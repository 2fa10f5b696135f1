// The order of a rank with two chunks as a short list of runs: a pattern of cells, repeated. One
// list gives both the cells of the rank (expand_runs) and, in closed form, the number of cells and
// the work before any of them (RunCounter). The list of a rank has a bounded number of runs,
// however many microbatches there are.
#pragma once

#include <array>
#include <initializer_list>
#include <string_view>

#include "rankwright/pipeline/pipeline_task.h"

namespace rankwright::pipeline {

/// Numbers of cells by kind (F, B, I, W) of chunk 0, then of chunk 1.
using CellCounts = std::array<double, 8>;

/// The cells of a chunk that a microbatch waits for: its forwards, or its backwards and input
/// gradients.
struct CellStream {
  bool forward = true;
  std::size_t chunk = 0;

  constexpr std::size_t index() const { return (forward ? 0 : 2) + chunk; }
};
inline constexpr std::size_t kCellStreams = 4;

struct PatternCell {
  ActionKind kind = ActionKind::forward;
  std::uint8_t chunk = 0;
  bool joined = false;  // runs as one with the next cell

  constexpr std::size_t index() const { return 4 * chunk + std::size_t(kind); }
};

/// A few cells, written as kind and chunk: "F0 I0 W0". '&' joins two cells: "F1&I0".
class Pattern {
 public:
  consteval explicit Pattern(std::string_view text) {
    for (std::size_t at = 0; at < text.size(); at += 3) {
      const char kind = text[at];
      PatternCell& cell = cells_.at(size_);
      cell.kind = kind == 'F'   ? ActionKind::forward
                  : kind == 'B' ? ActionKind::backward
                  : kind == 'I' ? ActionKind::input_grad
                                : ActionKind::weight_grad;
      cell.chunk = std::uint8_t(text[at + 1] - '0');
      cell.joined = at + 2 < text.size() && text[at + 2] == '&';
      if (kind != 'W') {
        const std::size_t stream = CellStream{kind == 'F', cell.chunk}.index();
        places_.at(stream).at(occurrences_.at(stream)++) = size_;
      }
      before_.at(size_ + 1) = before_.at(size_);
      before_.at(++size_).at(cell.index()) += 1;
    }
  }

  constexpr std::span<const PatternCell> cells() const { return {cells_.data(), size_}; }
  /// The cells of the whole pattern, and those before its i-th cell.
  constexpr const CellCounts& counts() const { return before_[size_]; }
  constexpr const CellCounts& counts_before(std::size_t i) const { return before_[i]; }
  /// The number of cells of a stream, and the index of its k-th cell.
  constexpr std::size_t occurrences(std::size_t stream) const { return occurrences_[stream]; }
  constexpr std::size_t place(std::size_t stream, std::size_t k) const {
    return places_[stream][k];
  }

 private:
  static constexpr std::size_t kMaxCells = 6, kMaxOccurrences = 2;

  std::array<PatternCell, kMaxCells> cells_{};
  std::size_t size_ = 0;
  std::array<CellCounts, kMaxCells + 1> before_{};
  std::array<std::size_t, kCellStreams> occurrences_{};
  std::array<std::array<std::size_t, kMaxOccurrences>, kCellStreams> places_{};
};

struct Run {
  const Pattern* pattern = nullptr;
  i64 times = 0;
};

/// The runs of one rank, in order. The k-th forward of a chunk is that of its k-th microbatch, and
/// so is the k-th backward or input gradient. A weight gradient belongs to the oldest input
/// gradient of its chunk that has none. Cells of microbatches beyond the last one are left out.
class RunList {
 public:
  static constexpr std::size_t kMaxRuns = 16;

  RunList(std::initializer_list<Run> runs) {
    for (const Run& run : runs)
      if (run.times > 0) runs_.at(size_++) = run;
  }

  std::span<const Run> runs() const { return {runs_.data(), size_}; }

 private:
  std::array<Run, kMaxRuns> runs_{};
  std::size_t size_ = 0;
};

/// The microbatches of one chunk as its rank sees them.
struct ChunkStream {
  i64 stage = 0;
  i64 first = 0;  // microbatch
};

/// Returns the cells of a rank. Each chunk has `microbatches` microbatches.
Sequence expand_runs(const RunList& list, i64 microbatches,
                     const std::array<ChunkStream, 2>& chunks);

/// A cell of a rank's order, and what comes before it.
struct CountedCell {
  double position = 0;  // cells before it
  double before = 0;    // work of these, in seconds; without a cell that it is joined with
  double length = 0;    // seconds from its start to its end, with a cell that it is joined with
};

/// Counts the cells of a rank without listing them.
class RunCounter {
 public:
  /// Requires: `list` outlives the counter, and if cells are left out, it has no B.
  RunCounter(const RunList& list, i64 microbatches);

  /// Returns the m-th cell of a stream. `times` are those of chunk 0 and chunk 1. Requires: the
  /// cell exists.
  CountedCell find(CellStream stream, double m, const std::array<CellDurations, 2>& times) const;

 private:
  std::span<const Run> runs_;
  double microbatches_;
  std::array<CellCounts, RunList::kMaxRuns> before_;  // cells before each run
  std::array<std::array<double, kCellStreams>, RunList::kMaxRuns + 1> first_;  // of each stream
};

}  // namespace rankwright::pipeline
