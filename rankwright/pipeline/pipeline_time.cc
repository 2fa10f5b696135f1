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

/// Size of the stack buffer; enough for about 200 stages without heap allocation.
constexpr std::size_t kBufferBytes = 64 * 1024;

/// The number of rounds of microbatches to which a longer step is cut.
constexpr i64 kRounds = 4;

/// The sampled microbatches of a step, in increasing order.
class Sampled {
 public:
  /// Samples up to `max` microbatches: the last one, and evenly spaced ones from the first on, each
  /// at the start of a round.
  static Sampled spread(i64 microbatches, i64 round, i64 max) {
    Sampled out(microbatches);
    for (i64 j = 0; j + 1 < max; ++j) out.add((microbatches - 1) / (max - 1) * j / round * round);
    out.add(microbatches - 1);
    return out;
  }
  /// Cuts the step to kRounds rounds and samples one microbatch per round and the last one (PT7).
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

/// The inputs of all closed forms.
struct Task {
  const PipelineShape& shape;
  std::span<const CellDurations> times;
  double hop;
  std::pmr::memory_resource* memory;
};

/// PT2: all forwards, then all backwards. The critical path crosses each chunk at its first or its
/// last microbatch and switches from the first to the last at one stage.
double gpipe_time(const Task& task) {
  const std::size_t pp = std::size_t(task.shape.pp), stages = task.times.size();
  const double hop = pp == 1 ? 0 : task.hop, others = double(task.shape.microbatches - 1);
  std::pmr::vector<double> free(pp, 0.0, task.memory);  // by rank: end of its last cell
  double first = 0, last = 0;  // ends of the first and the last microbatch at the previous stage
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

/// Returns the seconds per microbatch of the busiest rank, with stages assigned round-robin.
double busiest_time(const Task& task) {
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
double chunked_time(const Task& task) {
  plan::PipelineShape cut = task.shape;
  const i64 all = cut.microbatches;
  const i64 round = cut.chunks == 1 ? cut.pp : std::min(cut.group_size(), all);
  const Sampled sampled = cut.schedule == plan::Schedule::zb_h1
                              ? Sampled::spread(all, round, 3)
                              : Sampled::rounds(all, round, cut.chunks >= 4);
  cut.microbatches = sampled.microbatches();
  const cost::ChunkEnd simulated =
      cost::chunk_play(cut, task.times, task.hop, sampled.at(), task.memory);
  return simulated.end +
         double(all - cut.microbatches) * std::max(busiest_time(task), simulated.rate);
}

/// PT4.
double zb_2p_time(const Task& task) {
  const Sampled sampled = Sampled::spread(task.shape.microbatches, task.shape.pp, 3);
  const cost::Zb2pOrder line(task.shape, task.times, task.hop, sampled.at());
  return cost::SampledPipelineSim(line, sampled.at().size(), task.memory).end();
}

/// Simulates a schedule with two stages per rank in a V shape; `turn` is the time of the send at
/// the bottom of the V.
template <class Order>
double v_shape_time(const Task& task, const cost::VShape& vee, const Order& order,
                    const Sampled& sampled, double turn) {
  const cost::VShapeOrder<Order> line{vee, order, sampled.at(), task.hop, turn};
  return cost::SampledPipelineSim(line, sampled.at().size(), task.memory).end();
}

/// PT5.
double zb_v_time(const Task& task) {
  const i64 pp = task.shape.pp, m = task.shape.microbatches;
  const cost::VShape vee{std::size_t(pp), double(m), task.times};
  return v_shape_time(task, vee, cost::ZbVOrder(vee), Sampled::spread(m, pp, 3), 0);
}

/// PT6. The two halves of dualpipe mirror each other. Each is a dualpipe-v with a send at the
/// turning point.
double dualpipe_time(const Task& task) {
  const bool halves = task.shape.schedule == Schedule::dualpipe;
  const i64 share = halves ? 2 : 1;
  const i64 ranks = task.shape.pp / share, m = task.shape.microbatches / share;
  const cost::VShape vee{std::size_t(ranks), double(m), task.times};
  return v_shape_time(task, vee, cost::DualPipeOrder(vee, task.memory),
                      Sampled::spread(m, ranks, halves ? 4 : 3), halves ? task.hop : 0);
}

double closed_form_time(const Task& task) {
  switch (task.shape.schedule) {
    case Schedule::gpipe:
    case Schedule::looped_bfs:
      return gpipe_time(task);
    case plan::Schedule::one_f_one_b:
    case plan::Schedule::interleaved:
    case plan::Schedule::zb_h1:
    case plan::Schedule::interleaved_zb:
      return chunked_time(task);
    case plan::Schedule::zb_2p:
      return zb_2p_time(task);
    case plan::Schedule::zb_v:
      return zb_v_time(task);
    case plan::Schedule::dualpipe:
    case plan::Schedule::dualpipe_v:
      return dualpipe_time(task);
  }
  return 0;
}

}  // namespace

// PT8. The first stage of rank r that a microbatch reaches is stage r, or with DualPipe the nearer
// of its two stages.
Seconds min_pipeline_time(const plan::PipelineShape& shape, std::span<const StageTimes> stages,
                          Seconds hop) {
  const ScheduleRow& facts = row(shape.schedule);
  const bool mirror = facts.stage_order == StageOrder::mirror && shape.pp > 1;
  const std::size_t pp = std::size_t(shape.pp);
  Seconds up{}, down{},
      min{};  // up, down: forward and back through the stages before a rank's first
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
    // A final weight gradient delays no other rank.
    if (!facts.splits_backward) down += stages[r].input + stages[r].weight + hop;
  }
  return min;
}

Seconds pipeline_time(const PipelineShape& shape, std::span<const StageTimes> stages, Seconds hop) {
  RW_CHECK(!shape_fault(shape) && i64(stages.size()) == shape.stages());
  // Without a pipeline, a rank runs one microbatch after the other.
  if (stages.size() == 1) return double(shape.microbatches) * stages[0].total();
  std::array<std::byte, kBufferBytes> buffer;  // uninitialized on purpose
  std::pmr::monotonic_buffer_resource memory(buffer.data(), buffer.size());
  std::pmr::vector<cost::CellDurations> times(&memory);
  times.reserve(stages.size());
  for (const StageTimes& t : stages)
    times.push_back({t.forward.value, t.input.value, t.weight.value});
  return std::max(Seconds{closed_form_time({shape, times, hop.value, &memory})},
                  min_pipeline_time(shape, stages, hop));
}

}  // namespace rankwright::pipeline
