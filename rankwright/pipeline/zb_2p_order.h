// The line of a rank under zb-2p, which program/ makes by running all ranks in unit time. A Line of
// followed_play.h: where each cell comes follows from that time (formula PT4).
#pragma once

#include <algorithm>
#include <span>

#include "rankwright/pipeline/sampled_pipeline_sim.h"
#include "rankwright/pipeline/schedule.h"

namespace rankwright::pipeline {

class Zb2pOrder {
 public:
  static constexpr std::size_t kStreams = 2;  // forwards, input gradients

  Zb2pOrder(const PipelineShape& shape, std::span<const CellDurations> times, double hop,
            std::span<const double> followed)
      : pp_(std::size_t(shape.pp)),
        room_(2 * double(shape.pp)),
        microbatches_(double(shape.microbatches)),
        hop_(hop),
        times_(times),
        followed_(followed) {}

  std::size_t ranks() const { return pp_; }
  std::size_t stages() const { return pp_; }
  double hop(std::size_t) const { return hop_; }
  double total(std::size_t rank) const { return microbatches_ * times_[rank].all(); }

  SampledCell cell(std::size_t rank, std::size_t stream, std::size_t slot) const {
    const double m = followed_[slot];
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

  /// Forwards and weight gradients share what input gradients leave: forwards while there is room,
  /// then a weight gradient and a forward in turn. Before the first input gradient:
  double alone(std::size_t rank) const { return room_ - 1 - 2 * double(rank); }

  Count before_forward(std::size_t rank, double m) const {
    const double weights = std::max(0.0, m - room_ + 1);
    const double others = m + weights;
    const double since = others - alone(rank);  // an input gradient for each of these
    double inputs = std::max(0.0, since + 1);
    if (inputs > room_) inputs = room_ + double(i64((since - room_ + 1) / 2));  // for each second
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
  std::span<const double> followed_;
};

}  // namespace rankwright::pipeline
