#include "rankwright/pipeline/dualpipe_common.h"

namespace rankwright::pipeline {
namespace {

/// Writes the cells of one rank and counts the microbatches of its two streams; stream 0 is the
/// near one.
class TwoStreams {
 public:
  TwoStreams(i64 microbatches, Stream near, Stream far) : streams_{near, far} {
    line.reserve(std::size_t(6 * microbatches));
  }

  void forward(int s) { line.push_back(cell::F(stage(s), next(s, forwards_))); }
  void backward(int s) { line.push_back(cell::B(stage(s), next(s, backwards_))); }
  void input(int s) {
    const i64 m = next(s, backwards_);
    line.push_back(cell::I(stage(s), m));
    deferred_.push_back(cell::W(stage(s), m));
  }
  /// Runs the oldest deferred weight gradient.
  void weight() { line.push_back(deferred_[done_++]); }
  void together(int forward_stream, int backward_stream) {
    forward(forward_stream);
    line.back().joined = 1;
    backward(backward_stream);
  }

  Sequence line{};

 private:
  i64 stage(int s) const { return streams_[std::size_t(s)].stage; }
  i64 next(int s, std::array<i64, 2>& counts) {
    return streams_[std::size_t(s)].first + counts[std::size_t(s)]++;
  }

  std::array<Stream, 2> streams_;
  std::array<i64, 2> forwards_{}, backwards_{};
  Sequence deferred_{};
  std::size_t done_ = 0;
};

}  // namespace

Sequence dualpipe_common(i64 ranks, i64 depth, i64 microbatches, Stream near, Stream far) {
  const i64 below = ranks - depth - 1;  // ranks after this one up to the turning point
  TwoStreams two(microbatches, near, far);
  for (i64 k = 0; k < 2 * below; ++k) two.forward(0);
  for (i64 k = 0; k <= depth; ++k) {
    two.forward(0);
    two.forward(1);
  }
  for (i64 k = 0; k < below; ++k) {
    two.input(1);
    two.weight();
    two.forward(1);
  }
  for (i64 k = 0; k < microbatches - 2 * ranks + depth + 1; ++k) {
    if (k == 0 && below == 0) {  // at the turning point, separate cells shorten the bubble
      two.forward(0);
      two.backward(1);
    } else {
      two.together(0, 1);
    }
    two.together(1, 0);
  }
  for (i64 k = 0; k < below; ++k) {
    two.backward(1);
    two.together(1, 0);
  }
  // The second half of these defer their weight gradients.
  const i64 tail = depth + 1;
  bool defer = false;
  for (i64 k = 0; k < tail; ++k) {
    if (k == tail / 2 && depth % 2 == 1) defer = true;
    defer ? two.input(1) : two.backward(1);
    if (k == tail / 2 && depth % 2 == 0) defer = true;
    defer ? two.input(0) : two.backward(0);
  }
  for (i64 k = 0; k < below; ++k) {
    two.weight();
    two.input(0);
  }
  for (i64 k = 0; k < tail; ++k) two.weight();
  return std::move(two.line);
}

}  // namespace rankwright::pipeline
