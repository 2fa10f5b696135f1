// The input of a schedule's closed-form time, and the choice of the microbatches that it follows.
#pragma once

#include <algorithm>
#include <array>
#include <memory_resource>
#include <span>

#include "rankwright/pipeline/schedule.h"

namespace rankwright::pipeline {

/// Times of one microbatch on one stage, in seconds.
struct CellDurations {
  double forward = 0, input = 0, weight = 0;

  double backward() const { return input + weight; }
  double all() const { return forward + input + weight; }

  friend CellDurations operator+(const CellDurations& a, const CellDurations& b) {
    return {a.forward + b.forward, a.input + b.input, a.weight + b.weight};
  }
};

/// A pipeline with its times. Requires: the shape has no fault and more than one stage.
struct PipelineTask {
  const PipelineShape& shape;
  std::span<const CellDurations> times;  // by stage
  double hop;                            // seconds of one send
  std::pmr::memory_resource* room;       // for temporary arrays
};

/// The microbatches that a sampled simulation follows, in rising order. The first and the last one
/// are always among them.
class SampledMicrobatches {
 public:
  /// Returns at most `max` microbatches, spread evenly; all but the last begin a round.
  static SampledMicrobatches spread(i64 microbatches, i64 round, i64 max) {
    SampledMicrobatches out(microbatches);
    for (i64 j = 0; j + 1 < max; ++j) out.add((microbatches - 1) / (max - 1) * j / round * round);
    out.add(microbatches - 1);
    return out;
  }
  /// Returns one microbatch per round and the last one, of a step cut to kRounds rounds (PT7).
  static SampledMicrobatches rounds(i64 microbatches, i64 round, bool fewer) {
    const i64 more = std::max<i64>(0, microbatches / round - kRounds);
    SampledMicrobatches out(microbatches - more * round);
    for (i64 j = 0; j < kRounds && j * round < out.microbatches_; ++j)
      if (!(fewer && j == kRounds - 1)) out.add(j * round);
    out.add(out.microbatches_ - 1);
    return out;
  }

  /// Microbatches of the step after the cut.
  i64 microbatches() const { return microbatches_; }
  std::span<const double> at() const { return {at_.data(), count_}; }

 private:
  static constexpr i64 kRounds = 4;

  explicit SampledMicrobatches(i64 microbatches) : microbatches_(microbatches) {}
  void add(i64 microbatch) {
    if (count_ == 0 || double(microbatch) > at_[count_ - 1]) at_[count_++] = double(microbatch);
  }

  i64 microbatches_;
  std::array<double, kRounds + 1> at_{};
  std::size_t count_ = 0;
};

}  // namespace rankwright::pipeline
