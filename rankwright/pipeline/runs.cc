#include "rankwright/pipeline/runs.h"

#include <algorithm>
#include <vector>

namespace rankwright::pipeline {
namespace {

/// The number of forwards of a chunk, or of its backwards and input gradients.
double occurrences(const CellCounts& counts, bool forward, std::size_t chunk) {
  const std::size_t first = 4 * chunk;
  return forward ? counts[first]
                 : counts[first + std::size_t(ActionKind::backward)] +
                       counts[first + std::size_t(ActionKind::input_grad)];
}

bool is_occurrence(const PatternCell& cell, bool forward, std::size_t chunk) {
  if (cell.chunk != chunk) return false;
  return forward ? cell.kind == ActionKind::forward : gives_gradient(cell.kind);
}

double duration(const PatternCell& cell, const std::array<CellDurations, 2>& times) {
  const CellDurations& t = times[cell.chunk];
  switch (cell.kind) {
    case ActionKind::forward:
      return t.forward;
    case ActionKind::backward:
      return t.backward();
    case ActionKind::input_grad:
      return t.input;
    default:
      return t.weight;
  }
}

double work(const CellCounts& n, const std::array<CellDurations, 2>& times) {
  double sum = 0;
  for (std::size_t c = 0; c < 2; ++c) {
    const CellDurations& t = times[c];
    const double* const of = &n[4 * c];
    sum += of[0] * t.forward + of[1] * t.backward() + of[2] * t.input + of[3] * t.weight;
  }
  return sum;
}

}  // namespace

Sequence expand_runs(const RunList& list, i64 microbatches,
                     const std::array<ChunkStream, 2>& chunks) {
  struct Progress {
    i64 forwards = 0, backwards = 0;
    std::vector<i64> deferred{};  // microbatches of input gradients
    std::size_t weights = 0;
  };
  std::array<Progress, 2> progress{};
  Sequence out;
  out.reserve(std::size_t(6 * microbatches));
  const auto next = [&](const PatternCell& cell) {
    Progress& p = progress[cell.chunk];
    if (cell.kind == ActionKind::forward) return p.forwards++;
    if (cell.kind == ActionKind::weight_grad) return p.deferred[p.weights++];
    if (cell.kind == ActionKind::input_grad) p.deferred.push_back(p.backwards);
    return p.backwards++;
  };
  for (const Run& run : list.runs())
    for (i64 k = 0; k < run.times; ++k)
      for (const PatternCell& cell : run.pattern->cells()) {
        const i64 m = next(cell);
        const ChunkStream& chunk = chunks[cell.chunk];
        if (m < microbatches)
          out.push_back(action(cell.kind, chunk.stage, chunk.first + m, cell.joined));
      }
  return out;
}

RunCounter::RunCounter(const RunList& list, i64 microbatches)
    : runs_(list.runs()), microbatches_(double(microbatches)) {
  CellCounts sum{};
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    before_[i] = sum;
    const CellCounts& each = runs_[i].pattern->counts();
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += double(runs_[i].times) * each[k];
  }
}

CountedCell RunCounter::find(bool forward, std::size_t chunk, double m,
                             const std::array<CellDurations, 2>& times) const {
  // The cell is in the last run with its kind that begins at or before it.
  const auto contains = [&](std::size_t run) {
    return occurrences(before_[run], forward, chunk) <= m &&
           occurrences(runs_[run].pattern->counts(), forward, chunk) > 0;
  };
  std::size_t i = runs_.size() - 1;
  while (!contains(i)) --i;
  const double per_pattern = occurrences(runs_[i].pattern->counts(), forward, chunk);
  CellCounts n = before_[i];
  const double inside = m - occurrences(n, forward, chunk);
  const double repeats = per_pattern == 1 ? inside : double(i64(inside / per_pattern));
  double skip = inside - repeats * per_pattern;  // earlier occurrences in the same repetition
  for (std::size_t k = 0; k < n.size(); ++k) n[k] += repeats * runs_[i].pattern->counts()[k];

  const std::span<const PatternCell> cells = runs_[i].pattern->cells();
  std::size_t at = 0;
  for (; !is_occurrence(cells[at], forward, chunk) || skip-- > 0; ++at) n[cells[at].index()] += 1;
  for (double& count : n) count = std::min(count, microbatches_);

  CountedCell out{.length = duration(cells[at], times)};
  for (const double count : n) out.position += count;
  if (cells[at].joined) out.length += duration(cells[at + 1], times);
  if (at > 0 && cells[at - 1].joined) {
    out.length += duration(cells[at - 1], times);
    n[cells[at - 1].index()] -= 1;
  }
  out.before = work(n, times);
  return out;
}

}  // namespace rankwright::pipeline
