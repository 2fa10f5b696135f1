#include "rankwright/pipeline/chunked_pipeline_sim.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "rankwright/pipeline/chunk_order.h"

namespace rankwright::pipeline {
namespace {

/// A number of cells from the beginning of the order: all chunks of the microbatches before
/// `first`, `chunk` whole chunks of the group that begins there, and `inside` cells of the next
/// chunk.
struct Count {
  double first = 0, members = 0, inside = 0;
  std::size_t chunk = 0;
};

/// The groups of microbatches in which chunks are run (ChunkOrder).
struct Groups {
  double usual, last;  // microbatches of a group
  double final;        // first microbatch of the last group
  std::size_t chunks;
  double per_group;  // groups per cell

  double members(double first) const { return first == final ? last : usual; }
  double first_of(double microbatch) const {
    return microbatch >= final ? final : double(i64(microbatch / usual)) * usual;
  }
  Count count(double cells) const {
    const double per = double(chunks);
    // Half a cell is added because the product may be just below a whole number.
    Count n{.first = std::min(double(i64((cells + 0.5) * per_group)) * usual, final)};
    n.members = members(n.first);
    n.inside = cells - n.first * per;
    for (; n.inside > n.members; n.inside -= n.members) ++n.chunk;
    return n;
  }
  void add(Count& n, double cells) const {
    n.inside += cells;
    while (n.inside > n.members) {
      n.inside -= n.members;
      if (++n.chunk < chunks) continue;
      n.chunk = 0;
      n.first += n.members;
      n.members = members(n.first);
    }
  }
};

/// Derives the Count of a rank incrementally from that of the adjacent rank.
class Counter {
 public:
  const Count& to(double cells, const Groups& groups) {
    if (cells_ == 0)
      count_ = groups.count(cells);
    else
      groups.add(count_, cells - cells_);
    cells_ = cells;
    return count_;
  }

 private:
  Count count_{};
  double cells_ = 0;
};

/// A sampled microbatch in one chunk: its forward, and the backward with the same index.
struct SimItem {
  double cells;  // forwards before it
  Count before;
  std::size_t slot;
  std::size_t forward_rank = 0, backward_rank;  // next to run; backwards begin with the last rank
  double activation, gradient;                  // arrival at that rank
};

constexpr double kNotYet = -1;

struct SampledEnd {
  double end = 0;   // of the last cell
  double rate = 0;  // seconds per microbatch between inner sampled microbatches (PT7)
};

/// Simulates the sampled microbatches. Without a split, weight gradients are part of the input
/// gradients, which saves one sum.
template <bool kSplits>
class ChunkedPipelineSim {
 public:
  ChunkedPipelineSim(const PipelineTask& task, const PipelineShape& shape, i64 warmup_per_rank,
                     std::span<const double> sampled)
      : pp_(std::size_t(shape.pp)),
        hop_(shape.pp == 1 ? 0 : task.hop),
        ranks_(pp_, task.room),
        sums_(pp_ * (std::size_t(shape.chunks) + 1), task.room),
        items_(task.room),
        left_(sampled.size(), 0.0, task.room) {
    const ChunkOrder order(shape);
    groups_ = {.usual = double(order.usual_group()),
               .last = double(order.last_group()),
               .final = double(shape.microbatches - order.last_group()),
               .chunks = std::size_t(shape.chunks),
               .per_group = 1 / (double(order.usual_group()) * double(shape.chunks))};
    size_ = double(shape.chunks) * double(shape.microbatches);
    const double step = double(warmup_per_rank);
    const double first =
        step * double(shape.pp - 1) + double(shape.chunks - 1) * double(order.group());
    for (std::size_t r = 0; r < pp_; ++r) {
      ranks_[r].ahead = std::min(first - step * double(r), size_);
      CellDurations* const sum = &sums_[r * (groups_.chunks + 1)];
      for (std::size_t c = 0; c < groups_.chunks; ++c) {
        const CellDurations& t = task.times[c * pp_ + r];
        sum[c + 1] = sum[c] + (kSplits ? t : CellDurations{t.forward, t.backward(), 0});
      }
    }
    list(sampled);
  }

  SampledEnd run(std::span<const double> sampled) {
    std::size_t forwards = 0, backwards = 0;  // finished
    for (bool moved = true; moved && backwards < items_.size();) {
      moved = false;
      for (std::size_t i = forwards; i < items_.size(); ++i) {
        moved |= forward(i);
        if (items_[i].forward_rank == 0) break;
      }
      while (forwards < items_.size() && items_[forwards].forward_rank == pp_) ++forwards;
      for (std::size_t i = backwards; i < items_.size(); ++i) {
        moved |= backward(i);
        if (items_[i].backward_rank == pp_) break;
      }
      while (backwards < items_.size() && items_[backwards].backward_rank == 0) ++backwards;
    }
    SampledEnd out;
    for (std::size_t r = 0; r < pp_; ++r)
      out.end = std::max(out.end, ranks_[r].idle + size_ / double(groups_.chunks) *
                                                       sums_of(r)[groups_.chunks].all());
    for (std::size_t k = 2; k + 1 < sampled.size(); ++k)
      out.rate = std::max(out.rate, (left_[k] - left_[k - 1]) / (sampled[k] - sampled[k - 1]));
    return out;
  }

 private:
  struct Rank {
    double ahead = 0;                            // warm-up forwards
    double idle = 0;                             // idle time so far
    double next_forward = 0, next_backward = 0;  // index of the next item's cell
  };

  double cells_of(std::size_t index) const {
    return index < items_.size() ? items_[index].cells : std::numeric_limits<double>::infinity();
  }

  /// Returns the start of a cell whose input arrives at `ready`, with `before` seconds of work
  /// before it.
  static double start(Rank& rank, double ready, double before) {
    const double start = std::max(ready, rank.idle + before);
    rank.idle = start - before;
    return start;
  }

  void list(std::span<const double> sampled) {
    items_.reserve(sampled.size() * groups_.chunks);
    for (std::size_t begin = 0, end = 0; begin < sampled.size(); begin = end) {
      const double first = groups_.first_of(sampled[begin]), members = groups_.members(first);
      while (end < sampled.size() && groups_.first_of(sampled[end]) == first) ++end;
      for (std::size_t c = 0; c < groups_.chunks; ++c)
        for (std::size_t slot = begin; slot < end; ++slot) {
          const Count before{first, members, sampled[slot] - first, c};
          const double cells = first * double(groups_.chunks) + double(c) * members + before.inside;
          const double ready = c == 0 ? 0 : kNotYet;
          items_.push_back({cells, before, slot, 0, pp_, ready, ready});
        }
    }
  }

  /// Returns the item of the same microbatch in the next chunk of the order, or null.
  SimItem* next(const SimItem& item) {
    if (item.before.chunk + 1 == groups_.chunks) return nullptr;
    SimItem* other = &items_[std::size_t(&item - items_.data()) + 1];
    while (other->slot != item.slot) ++other;
    return other;
  }

  const CellDurations* sums_of(std::size_t rank) const {
    return &sums_[rank * (groups_.chunks + 1)];
  }

  /// Returns the work of the first n forwards.
  static double forwards(const CellDurations* sum, const Count& n, std::size_t chunks) {
    const double whole = sum[n.chunk].forward;
    return n.first * sum[chunks].forward + n.members * whole +
           n.inside * (sum[n.chunk + 1].forward - whole);
  }
  /// Backwards begin with the last chunk.
  template <double CellDurations::*kPart>
  static double backwards(const CellDurations* sum, const Count& n, std::size_t chunks) {
    const CellDurations* const left = sum + (chunks - n.chunk);
    const double whole = left->*kPart;
    return (n.first + n.members) * (sum[chunks].*kPart) - n.members * whole +
           n.inside * (whole - left[-1].*kPart);
  }

  /// Runs one forward down the ranks until it would have to wait. Returns whether it moved.
  bool forward(std::size_t index) {
    SimItem& item = items_[index];
    if (item.activation == kNotYet) return false;
    const std::size_t limit = index == 0 ? pp_ : items_[index - 1].forward_rank;
    const std::size_t begin = item.forward_rank;
    const std::size_t chunks = groups_.chunks;
    double ready = item.activation;
    std::size_t r = begin;
    Counter inputs, weights;
    const double after = cells_of(index + 1);
    for (; r < limit; ++r) {
      Rank& rank = ranks_[r];
      if (rank.next_backward + rank.ahead < item.cells) break;
      const CellDurations* const sum = sums_of(r);
      double before = forwards(sum, item.before, chunks);
      const double inputs_now = item.cells - rank.ahead;
      if (inputs_now > 0) {
        before += backwards<&CellDurations::input>(sum, inputs.to(inputs_now, groups_), chunks);
        if (kSplits && inputs_now > double(r)) {
          const Count& late = weights.to(inputs_now - double(r), groups_);
          before += backwards<&CellDurations::weight>(sum, late, chunks);
        }
      }
      const std::size_t c = item.before.chunk;
      ready = start(rank, ready, before) + (sum[c + 1].forward - sum[c].forward + hop_);
      rank.next_forward = after;
    }
    item.forward_rank = r;
    item.activation = ready;
    if (r == pp_ && r > begin)
      if (SimItem* const other = next(item)) other->activation = ready;
    return r > begin;
  }

  /// Runs one backward up the ranks until it would have to wait. Returns whether it moved.
  bool backward(std::size_t index) {
    SimItem& item = items_[index];
    if (item.gradient == kNotYet) return false;
    const std::size_t limit = index == 0 ? 0 : items_[index - 1].backward_rank;
    const std::size_t begin = item.backward_rank;
    const std::size_t chunks = groups_.chunks;
    double ready = item.gradient;
    std::size_t r = begin;
    Counter ahead, weights;
    const double after = cells_of(index + 1);
    for (; r > limit; --r) {
      Rank& rank = ranks_[r - 1];
      if (rank.next_forward <= item.cells + rank.ahead) break;
      const CellDurations* const sum = sums_of(r - 1);
      const Count& done = ahead.to(std::min(size_, item.cells + rank.ahead + 1), groups_);
      double before =
          forwards(sum, done, chunks) + backwards<&CellDurations::input>(sum, item.before, chunks);
      if (kSplits && item.cells > double(r - 1)) {
        const Count& late = weights.to(item.cells - double(r - 1), groups_);
        before += backwards<&CellDurations::weight>(sum, late, chunks);
      }
      const CellDurations* const own = sum + (chunks - item.before.chunk);
      ready = start(rank, ready, before) + (own->input - own[-1].input + hop_);
      rank.next_backward = after;
    }
    item.backward_rank = r;
    item.gradient = ready;
    if (r == 0 && begin > 0) {
      if (SimItem* const other = next(item)) other->gradient = ready;
      if (item.before.chunk == 0) left_[item.slot] = ready;
    }
    return r < begin;
  }

  std::size_t pp_;
  Groups groups_{};
  double size_ = 0, hop_;
  std::pmr::vector<Rank> ranks_;
  std::pmr::vector<CellDurations> sums_;  // by rank: sums over its first 0, 1, .. chunks
  std::pmr::vector<SimItem> items_;       // in the order of the forwards
  std::pmr::vector<double> left_;         // by slot: end of its first backward on rank 0
};

/// Returns the work of the busiest rank per microbatch, in seconds. Requires: StageOrder::loop.
double busiest_rank_time(const PipelineTask& task) {
  const std::size_t pp = std::size_t(task.shape.pp);
  double max = 0;
  for (std::size_t r = 0; r < pp; ++r) {
    double work = 0;
    for (std::size_t k = r; k < task.times.size(); k += pp) work += task.times[k].all();
    max = std::max(max, work);
  }
  return max;
}

/// Simulates `shape`, whose microbatches may be fewer than those of the task.
SampledEnd simulate_chunks(const PipelineTask& task, const PipelineShape& shape,
                           i64 warmup_per_rank, std::span<const double> sampled) {
  if (row(shape.schedule).splits_backward)
    return ChunkedPipelineSim<true>(task, shape, warmup_per_rank, sampled).run(sampled);
  return ChunkedPipelineSim<false>(task, shape, warmup_per_rank, sampled).run(sampled);
}

}  // namespace

double chunked_time(const PipelineTask& task, i64 warmup_per_rank) {
  PipelineShape cut = task.shape;
  const i64 all = cut.microbatches;
  const i64 round = cut.chunks == 1 ? cut.pp : std::min(cut.group_size(), all);
  const SampledMicrobatches sampled = SampledMicrobatches::rounds(all, round, cut.chunks >= 4);
  cut.microbatches = sampled.microbatches();
  const SampledEnd sim = simulate_chunks(task, cut, warmup_per_rank, sampled.at());
  return sim.end + double(all - cut.microbatches) * std::max(busiest_rank_time(task), sim.rate);
}

double chunked_time_of_whole_step(const PipelineTask& task, i64 warmup_per_rank) {
  const SampledMicrobatches sampled =
      SampledMicrobatches::spread(task.shape.microbatches, task.shape.pp, 3);
  return simulate_chunks(task, task.shape, warmup_per_rank, sampled.at()).end;
}

}  // namespace rankwright::pipeline
