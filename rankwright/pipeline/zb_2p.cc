// ZB-2P (Qi et al. 2024): with memory for 2 pp microbatches, no rank waits after its first cell if
// F = I = W. The order comes from a unit-time simulation of all ranks: each runs an input gradient
// if one is ready, else a forward if memory allows, else a weight gradient.
#include "rankwright/pipeline/held.h"
#include "rankwright/pipeline/rows.h"
#include "rankwright/pipeline/sampled_pipeline_sim.h"

namespace rankwright::pipeline {
namespace {

/// The number of cells of each kind that a rank has run. Each kind runs in microbatch order.
struct Done {
  i64 forward = 0, input = 0, weight = 0;
};

Sequences zb_2p_order(const PipelineShape& shape) {
  const std::size_t pp = std::size_t(shape.pp);
  const i64 room = 2 * shape.pp;
  Sequences ranks(pp);
  for (Sequence& line : ranks) line.reserve(std::size_t(3 * shape.microbatches));
  std::vector<Done> now(pp), before(pp);
  for (i64 left = 3 * shape.pp * shape.microbatches; left > 0;) {
    before = now;  // inputs available now were produced one time unit ago
    for (std::size_t r = 0; r < pp; ++r) {
      Done& rank = now[r];
      const i64 gradients = r + 1 == pp ? rank.forward : before[r + 1].input;
      const i64 inputs = r == 0 ? shape.microbatches : before[r - 1].forward;
      if (rank.input < gradients)
        ranks[r].push_back(cell::I(i64(r), rank.input++));
      else if (rank.forward < inputs && rank.forward - rank.weight < room)
        ranks[r].push_back(cell::F(i64(r), rank.forward++));
      else if (rank.weight < rank.input)
        ranks[r].push_back(cell::W(i64(r), rank.weight++));
      else
        continue;
      --left;
    }
  }
  return ranks;
}

/// The cells of one rank, counted in closed form (PT4): the unit time in which zb_2p_order runs all
/// ranks gives the position of each cell. A Line of SampledPipelineSim.
class Zb2pOrder {
 public:
  static constexpr std::size_t kStreams = 2;  // forwards, input gradients

  Zb2pOrder(const PipelineShape& shape, std::span<const CellDurations> times, double hop,
            std::span<const double> sampled)
      : pp_(std::size_t(shape.pp)),
        room_(2 * double(shape.pp)),
        microbatches_(double(shape.microbatches)),
        hop_(hop),
        times_(times),
        sampled_(sampled) {}

  std::size_t ranks() const { return pp_; }
  std::size_t stages() const { return pp_; }
  double hop(std::size_t) const { return hop_; }
  double total(std::size_t rank) const { return microbatches_ * times_[rank].all(); }

  SampledCell cell(std::size_t rank, std::size_t stream, std::size_t slot) const {
    const double m = sampled_[slot];
    const Count n = stream == 0 ? before_forward(rank, m) : before_input(rank, m);
    const CellDurations& t = times_[rank];
    return {.position = n.forwards + n.inputs + n.weights,
            .before = n.forwards * t.forward + n.inputs * t.input + n.weights * t.weight,
            .length = stream == 0 ? t.forward : t.input};
  }
  static bool is_forward(std::size_t stream) { return stream == 0; }
  std::size_t stage(std::size_t rank, std::size_t) const { return rank; }

 private:
  struct Count {
    double forwards, inputs, weights;
  };

  /// Returns the number of forwards before the first input gradient. Forwards and weight gradients
  /// share the time between input gradients: forwards while there is room, then both in turn.
  double alone(std::size_t rank) const { return room_ - 1 - 2 * double(rank); }

  Count before_forward(std::size_t rank, double m) const {
    const double weights = std::max(0.0, m - room_ + 1);
    const double others = m + weights;
    const double since = others - alone(rank);  // one input gradient for each of these
    double inputs = std::max(0.0, since + 1);
    if (inputs > room_)
      inputs = room_ + double(i64((since - room_ + 1) / 2));  // one for every second
    return {m, std::min(inputs, microbatches_), weights};
  }

  Count before_input(std::size_t rank, double m) const {
    const double others = alone(rank) + m + std::max(0.0, m - room_ + 1);
    const double turns = std::max(0.0, others - room_);
    const double forwards = std::min({microbatches_, others, room_ + double(i64(turns / 2))});
    return {forwards, m, std::min(m, others - forwards)};
  }

  std::size_t pp_;
  double room_, microbatches_, hop_;
  std::span<const CellDurations> times_;
  std::span<const double> sampled_;
};

double zb_2p_time(const PipelineTask& task) {
  const SampledMicrobatches sampled =
      SampledMicrobatches::spread(task.shape.microbatches, task.shape.pp, 3);
  const Zb2pOrder line(task.shape, task.times, task.hop, sampled.at());
  return SampledPipelineSim(line, sampled.at().size(), task.room).end();
}

}  // namespace

constinit const ScheduleRow kZb2p{
    .schedule = Schedule::zb_2p,
    .name = "zb-2p",
    .splits_backward = true,
    .order = zb_2p_order,
    .in_flight = [](const PipelineShape& s, i64) { return 2 * s.pp; },
    .held = held_by_one_chunk,
    .bubble = [](double pp, double) { return (pp - 1) * kF; },  // B4: rank r begins r forwards late
    .time = zb_2p_time,
};

}  // namespace rankwright::pipeline
