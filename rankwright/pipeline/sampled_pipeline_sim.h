// A simulation that waits for the inputs of a few microbatches only, the sampled ones (formula
// PT1): between two of their cells a rank works without a pause. Its paths are a subset of those of
// the full simulation, so it never ends later. The order of a rank is a Line, which counts cells
// without listing them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <memory_resource>
#include <vector>

#include "rankwright/pipeline/pipeline_task.h"

namespace rankwright::pipeline {

/// A cell of a sampled microbatch in the order of its rank.
struct SampledCell {
  double position;  // cells before it on its rank
  double before;    // work of these, in seconds
  double length;    // seconds from its start to its end
};

/// A Line has the cells of each rank in kStreams streams, each in the order of the sampled
/// microbatches: cell(rank, stream, slot), stage(rank, stream), is_forward(stream). total(rank) is
/// the work of a rank, hop(k) the time of a send between stages k and k + 1.
template <class Line>
class SampledPipelineSim {
 public:
  SampledPipelineSim(const Line& line, std::size_t slots, std::pmr::memory_resource* memory)
      : line_(line),
        slots_(slots),
        stages_(line.stages()),
        activations_(stages_ * slots_, kNotYet, memory),
        gradients_(stages_ * slots_, kNotYet, memory),
        ranks_(line.ranks(), memory) {}

  /// Returns the end of the last cell, in seconds.
  double end() {
    for (std::size_t r = 0; r < ranks_.size(); ++r)
      for (std::size_t s = 0; s < Line::kStreams; ++s) ranks_[r].put(s, line_.cell(r, s, 0));
    // Forwards go down the ranks and gradients up, so the sweeps alternate.
    bool moved = true;
    while (moved) {
      moved = false;
      for (std::size_t r = 0; r < ranks_.size(); ++r) moved |= advance(r);
      for (std::size_t r = ranks_.size(); r-- > 0;) moved |= advance(r);
    }
    double end = 0;
    for (std::size_t r = 0; r < ranks_.size(); ++r)
      end = std::max(end, ranks_[r].idle + line_.total(r));
    return end;
  }

 private:
  static constexpr double kNotYet = -1;
  static constexpr double kDone = std::numeric_limits<double>::infinity();

  struct Rank {
    std::array<double, Line::kStreams> position{}, before{},
        length{};  // of the next cell of each stream
    std::array<std::size_t, Line::kStreams> next{};
    double idle = 0;  // idle time so far

    void put(std::size_t stream, const SampledCell& cell) {
      position[stream] = cell.position;
      before[stream] = cell.before;
      length[stream] = cell.length;
    }
  };

  bool advance(std::size_t r) {
    Rank& rank = ranks_[r];
    for (bool moved = false;; moved = true) {
      std::size_t stream = 0;
      for (std::size_t s = 1; s < Line::kStreams; ++s)
        if (rank.position[s] < rank.position[stream]) stream = s;
      if (rank.position[stream] == kDone) return moved;
      const std::size_t slot = rank.next[stream];
      const std::size_t stage = line_.stage(r, stream);
      const bool forward = Line::is_forward(stream);
      const double ready = arrival(stage, slot, forward);
      if (ready == kNotYet) return moved;
      const double start = std::max(ready, rank.idle + rank.before[stream]);
      rank.idle = start - rank.before[stream];
      hand_on(stage, slot, forward, start + rank.length[stream]);
      rank.next[stream] = slot + 1;
      if (slot + 1 < slots_)
        rank.put(stream, line_.cell(r, stream, slot + 1));
      else
        rank.position[stream] = kDone;
    }
  }

  double arrival(std::size_t stage, std::size_t slot, bool forward) const {
    if (forward) return stage == 0 ? 0 : activations_[stage * slots_ + slot];
    return stage + 1 == stages_ ? 0 : gradients_[stage * slots_ + slot];
  }

  void hand_on(std::size_t stage, std::size_t slot, bool forward, double done) {
    if (forward && stage + 1 < stages_)
      activations_[(stage + 1) * slots_ + slot] = done + line_.hop(stage);
    if (!forward && stage > 0)
      gradients_[(stage - 1) * slots_ + slot] = done + line_.hop(stage - 1);
  }

  const Line& line_;
  std::size_t slots_, stages_;
  std::pmr::vector<double> activations_, gradients_;  // arrival times, by receiving stage
  std::pmr::vector<Rank> ranks_;
};

}  // namespace rankwright::pipeline
