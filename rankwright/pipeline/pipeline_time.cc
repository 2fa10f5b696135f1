#include "rankwright/pipeline/pipeline_time.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory_resource>
#include <vector>

#include "rankwright/base/check.h"
#include "rankwright/pipeline/chunked_pipeline_sim.h"
#include "rankwright/pipeline/sampled_pipeline_sim.h"
#include "rankwright/pipeline/v_shape_order.h"
#include "rankwright/pipeline/zb_2p_order.h"

namespace rankwright::pipeline {
namespace {

/// Up to about 200 stages nothing is allocated.
constexpr std::size_t kRoom = 64 * 1024;

/// The rounds of microbatches of the longest step that is followed in full.
constexpr i64 kRounds = 4;

/// The followed microbatches, in rising order.
class Sampled {
 public:
  /// The first, the last, and so many in all, spread evenly; each begins a round.
  static Sampled spread(i64 microbatches, i64 round, i64 max) {
    Sampled out(microbatches);
    for (i64 j = 0; j + 1 < max; ++j) out.add((microbatches - 1) / (max - 1) * j / round * round);
    out.add(microbatches - 1);
    return out;
  }
  /// One every round of a step that is cut to kRounds rounds, and its last (PT7).
  static Sampled rounds(i64 microbatches, i64 round, bool fewer) {
    const i64 more = std::max<i64>(0, microbatches / round - kRounds);
    Sampled out(microbatches - more * round);
    for (i64 j = 0; j < kRounds && j * round < out.microbatches_; ++j)
      if (!(fewer && j == kRounds - 1)) out.add(j * round);
    out.add(out.microbatches_ - 1);
    return out;
  }

  i64 microbatches() const { return microbatches_; }
  std::span<const double> at() const { return {at_.data(), count_}; }

 private:
  explicit Sampled(i64 microbatches) : microbatches_(microbatches) {}
  void add(i64 microbatch) {
    if (count_ == 0 || double(microbatch) > at_[count_ - 1]) at_[count_++] = double(microbatch);
  }

  i64 microbatches_;
  std::array<double, kRounds + 1> at_{};
  std::size_t count_ = 0;
};

struct Task {
  const PipelineShape& shape;
  std::span<const CellDurations> times;
  double hop;
  std::pmr::memory_resource* room;
};

/// PT2: all forwards, then all backwards. A way passes a chunk with its first or its last
/// microbatch, and goes from the one to the other at one stage.
double gpipe_time(const Task& task) {
  const std::size_t pp = std::size_t(task.shape.pp), stages = task.times.size();
  const double hop = pp == 1 ? 0 : task.hop, others = double(task.shape.microbatches - 1);
  std::pmr::vector<double> free(pp, 0.0, task.room);  // by rank: end of its last cell
  double first = 0, last = 0;  // ends of the first and the last microbatch at the stage before
  const auto pass = [&](std::size_t rank, double time, double travel) {
    first = std::max(first + travel, free[rank]) + time;
    last = std::max(last + travel + time, first + others * time);
    free[rank] = last;
  };
  for (std::size_t k = 0, r = 0; k < stages; ++k, r = r + 1 == pp ? 0 : r + 1)
    pass(r, task.times[k].forward, k == 0 ? 0 : hop);
  first = last;
  for (std::size_t k = stages, r = pp; k-- > 0;) {
    r = r == 0 ? pp - 1 : r - 1;
    pass(r, task.times[k].backward(), k + 1 == stages ? 0 : hop);
  }
  return last;
}

/// Seconds a microbatch of the busiest rank; stages go round and round.
double busiest(const Task& task) {
  const std::size_t pp = std::size_t(task.shape.pp);
  double max = 0;
  for (std::size_t r = 0; r < pp; ++r) {
    double work = 0;
    for (std::size_t k = r; k < task.times.size(); k += pp) work += task.times[k].all();
    max = std::max(max, work);
  }
  return max;
}

/// PT3 and PT7.
double chunked(const Task& task) {
  PipelineShape cut = task.shape;
  const i64 all = cut.microbatches;
  const i64 round = cut.chunks == 1 ? cut.pp : std::min(cut.group_size(), all);
  const Sampled followed = cut.schedule == Schedule::zb_h1
                               ? Sampled::spread(all, round, 3)
                               : Sampled::rounds(all, round, cut.chunks >= 4);
  cut.microbatches = followed.microbatches();
  const ChunkEnd simulate = chunk_play(cut, task.times, task.hop, followed.at(), task.room);
  return simulate.end + double(all - cut.microbatches) * std::max(busiest(task), simulate.rate);
}

/// PT4.
double zb_2p_time(const Task& task) {
  const Sampled followed = Sampled::spread(task.shape.microbatches, task.shape.pp, 3);
  const Zb2pOrder line(task.shape, task.times, task.hop, followed.at());
  return SampledPipelineSim(line, followed.at().size(), task.room).end();
}

template <class Order>
double there_and_back(const Task& task, const VShape& vee, const Order& order,
                      const Sampled& followed, double turn) {
  const VShapeOrder<Order> line{vee, order, followed.at(), task.hop, turn};
  return SampledPipelineSim(line, followed.at().size(), task.room).end();
}

/// PT5.
double zb_vee(const Task& task) {
  const i64 pp = task.shape.pp, m = task.shape.microbatches;
  const VShape vee{std::size_t(pp), double(m), task.times};
  return there_and_back(task, vee, ZbVOrder(vee), Sampled::spread(m, pp, 3), 0);
}

/// PT6. The halves of dualpipe mirror each other: each is a dualpipe-v of its own, whose way turns
/// back over a send.
double dualpipe_time(const Task& task) {
  const bool halves = task.shape.schedule == Schedule::dualpipe;
  const i64 share = halves ? 2 : 1;
  const i64 ranks = task.shape.pp / share, m = task.shape.microbatches / share;
  const VShape vee{std::size_t(ranks), double(m), task.times};
  return there_and_back(task, vee, DualPipeOrder(vee, task.room),
                        Sampled::spread(m, ranks, halves ? 4 : 3), halves ? task.hop : 0);
}

double time_of(const Task& task) {
  switch (task.shape.schedule) {
    case Schedule::gpipe:
    case Schedule::looped_bfs:
      return gpipe_time(task);
    case Schedule::one_f_one_b:
    case Schedule::interleaved:
    case Schedule::zb_h1:
    case Schedule::interleaved_zb:
      return chunked(task);
    case Schedule::zb_2p:
      return zb_2p_time(task);
    case Schedule::zb_v:
      return zb_vee(task);
    case Schedule::dualpipe:
    case Schedule::dualpipe_v:
      return dualpipe_time(task);
  }
  return 0;
}

}  // namespace

/// PT8. The first stage of a rank that anything reaches is its r-th, or with DualPipe the nearer of
/// its two.
Seconds min_pipeline_time(const PipelineShape& shape, std::span<const StageTimes> stages,
                          Seconds hop) {
  const ScheduleRow& facts = row(shape.schedule);
  const bool mirror = facts.stage_order == StageOrder::mirror && shape.pp > 1;
  const std::size_t pp = std::size_t(shape.pp);
  Seconds up{}, down{}, min{};  // through the stages before a rank's first, there and back
  for (std::size_t r = 0; r < (mirror ? (pp + 1) / 2 : pp); ++r) {
    Seconds work{};
    for (std::size_t pass = 0; pass * pp < stages.size(); ++pass) {
      const bool back = facts.stage_order == StageOrder::vee && pass % 2 == 1;
      work += stages[pass * pp + (back ? pp - 1 - r : r)].total();
    }
    if (mirror) work = (work + stages[pp - 1 - r].total()) / 2;
    const Seconds end = up + double(shape.microbatches) * work + down;
    min = std::max(min, end);
    up += stages[r].forward + hop;
    // A weight gradient that comes last keeps nobody waiting.
    if (!facts.splits_backward) down += stages[r].input + stages[r].weight + hop;
  }
  return min;
}

Seconds pipeline_time(const PipelineShape& shape, std::span<const StageTimes> stages, Seconds hop) {
  RW_CHECK(!shape_fault(shape) && i64(stages.size()) == shape.stages());
  // Without a pipeline a rank takes one microbatch after the other.
  if (stages.size() == 1) return double(shape.microbatches) * stages[0].total();
  std::array<std::byte, kRoom> buffer;  // not filled: it need not be
  std::pmr::monotonic_buffer_resource room(buffer.data(), buffer.size());
  std::pmr::vector<CellDurations> times(&room);
  times.reserve(stages.size());
  for (const StageTimes& t : stages)
    times.push_back({t.forward.value, t.input.value, t.weight.value});
  return std::max(Seconds{time_of({shape, times, hop.value, &room})},
                  min_pipeline_time(shape, stages, hop));
}

}  // namespace rankwright::pipeline
