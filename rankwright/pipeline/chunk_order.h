// The order in which an interleaved pipeline runs its chunks, equal on all pp ranks: a group of
// microbatches passes chunk 0, then chunk 1 and so on, sampled by the next group. Backwards run
// the chunks from last to first. A remainder smaller than pp is merged into the group before it;
// alone it would wait for its own first microbatch to come around while ranks wait for its
// gradients.
#pragma once

#include <algorithm>

#include "rankwright/pipeline/schedule.h"

namespace rankwright::pipeline {

/// The order of the forwards and backwards of one pp rank by (chunk, microbatch).
class ChunkOrder {
 public:
  explicit ChunkOrder(const PipelineShape& shape)
      : chunks_(shape.chunks),
        microbatches_(shape.microbatches),
        group_(std::min(shape.group_size(), shape.microbatches)) {
    const i64 left = microbatches_ % group_;
    last_ = left == 0 ? group_ : left;
    if (last_ < std::min(shape.pp, group_)) last_ += group_;
  }

  struct At {
    i64 chunk;
    i64 microbatch;
  };
  i64 size() const { return chunks_ * microbatches_; }
  /// Microbatches in the largest group.
  i64 group() const { return std::max(group_, last_); }
  /// Microbatches in every group but the last, and in the last.
  i64 usual_group() const { return group_; }
  i64 last_group() const { return last_; }
  At forward(i64 k) const {
    // First microbatch of the group that the k-th forward belongs to.
    const i64 first = std::min(k / (group_ * chunks_) * group_, microbatches_ - last_);
    const i64 members = first == microbatches_ - last_ ? last_ : group_;
    const i64 inside = k - first * chunks_;
    return {inside / members, first + inside % members};
  }
  At backward(i64 k) const {
    const At at = forward(k);
    return {chunks_ - 1 - at.chunk, at.microbatch};
  }

  /// Iterates over the forwards in order, many at a time.
  class Walk {
   public:
    explicit Walk(const ChunkOrder& order)
        : order_(order),
          regular_((order.microbatches_ - order.last_) / order.group_),
          left_(members()) {}

    i64 chunk() const { return chunk_; }
    /// Consecutive forwards from here on in the current chunk.
    i64 left() const { return left_; }
    /// Moves on by `forwards`. Requires: forwards <= left().
    void advance(i64 forwards) {
      left_ -= forwards;
      if (left_ > 0) return;
      if (++chunk_ == order_.chunks_) {
        chunk_ = 0;
        --regular_;
      }
      left_ = members();
    }
    /// Groups still to come, without the current one and the last one.
    i64 groups_ahead() const { return std::max<i64>(0, regular_ - 1); }
    void skip(i64 groups) { regular_ -= groups; }

   private:
    i64 members() const { return regular_ > 0 ? order_.group_ : order_.last_; }

    const ChunkOrder& order_;
    i64 regular_;  // groups left before the last one, including the current one
    i64 chunk_ = 0;
    i64 left_;
  };

  /// Forwards in one group that is not the last, over all chunks.
  i64 round() const { return group_ * chunks_; }

 private:
  i64 chunks_;
  i64 microbatches_;
  i64 group_;
  i64 last_;  // microbatches in the last group
};

}  // namespace rankwright::pipeline
