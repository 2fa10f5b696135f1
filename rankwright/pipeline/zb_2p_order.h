// The Line (sampled_pipeline_sim.h) of zb-2p. program/ builds that schedule with a unit-time
// simulation of all ranks; the position of each cell follows from its unit time in closed form
// (formula PT4).
#pragma once

#include <algorithm>
#include <span>

#include "rankwright/pipeline/sampled_pipeline_sim.h"
#include "rankwright/pipeline/schedule.h"

namespace rankwright::pipeline {

/// The order of a rank's cells under zb-2p.
class Zb2pOrder {
 public:
  static constexpr std::size_t kStreams = 2;  // forwards, input gradients

  Zb2pOrder(const pipeline::PipelineShape& shape, std::span<const CellDurations> times, double hop,
            std::span<const double> sampled)
      : pp_(std::size_t(shape.pp)),
        capacity_(2 * double(shape.pp)),
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
  /// share the time that input gradients leave: forwards while memory allows, then weight gradients
  /// and forwards in turn.
  double warm_up(std::size_t rank) const { return capacity_ - 1 - 2 * double(rank); }

  Count before_forward(std::size_t rank, double m) const {
    const double weights = std::max(0.0, m - capacity_ + 1);
    const double others = m + weights;
    const double since = others - warm_up(rank);  // each of these follows an input gradient
    double inputs = std::max(0.0, since + 1);
    if (inputs > capacity_)
      inputs = capacity_ + double(i64((since - capacity_ + 1) / 2));  // every second one
    return {m, std::min(inputs, microbatches_), weights};
  }

  Count before_input(std::size_t rank, double m) const {
    const double others = warm_up(rank) + m + std::max(0.0, m - capacity_ + 1);
    const double turns = std::max(0.0, others - capacity_);
    const double forwards = std::min({microbatches_, others, capacity_ + double(i64(turns / 2))});
    return {forwards, m, std::min(m, others - forwards)};
  }

  std::size_t pp_;
  double capacity_, microbatches_, hop_;
  std::span<const CellDurations> times_;
  std::span<const double> sampled_;
};

}  // namespace rankwright::pipeline
