#include "rankwright/pipeline/runs.h"

#include <algorithm>
#include <vector>

namespace rankwright::pipeline {
namespace {

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
  first_[0] = {};
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    const Pattern& pattern = *runs_[i].pattern;
    const double times = double(runs_[i].times);
    before_[i] = sum;
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += times * pattern.counts()[k];
    for (std::size_t s = 0; s < kCellStreams; ++s)
      first_[i + 1][s] = first_[i][s] + times * double(pattern.occurrences(s));
  }
}

CountedCell RunCounter::find(CellStream stream, double m,
                             const std::array<CellDurations, 2>& times) const {
  const std::size_t s = stream.index();
  std::size_t i = 0;
  while (first_[i + 1][s] <= m) ++i;
  const Pattern& pattern = *runs_[i].pattern;
  const i64 inside = i64(m - first_[i][s]), each = i64(pattern.occurrences(s));
  const i64 repeats = each == 1 ? inside : inside / each;
  const std::size_t at = pattern.place(s, std::size_t(inside - repeats * each));

  CellCounts n = before_[i];
  CountedCell out{};
  for (std::size_t k = 0; k < n.size(); ++k) {
    n[k] += double(repeats) * pattern.counts()[k] + pattern.counts_before(at)[k];
    n[k] = std::min(n[k], microbatches_);
    out.position += n[k];
  }
  const std::span<const PatternCell> cells = pattern.cells();
  out.length = duration(cells[at], times);
  if (cells[at].joined) out.length += duration(cells[at + 1], times);
  if (at > 0 && cells[at - 1].joined) {
    out.length += duration(cells[at - 1], times);
    n[cells[at - 1].index()] -= 1;
  }
  out.before = work(n, times);
  return out;
}

}  // namespace rankwright::pipeline
