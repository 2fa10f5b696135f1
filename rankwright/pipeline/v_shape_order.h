// The Lines (sampled_pipeline_sim.h) of the V-shaped schedules, which pass all ranks down and back
// up: zb-v (ZbVOrder), dualpipe and dualpipe-v (DualPipeOrder). The order of a rank is a few runs
// of repeated cells, so cells are counted, not listed (PT5, PT6). Rank r has stage r, its near
// stage, and stage 2 * ranks - 1 - r, its far stage.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "rankwright/pipeline/sampled_pipeline_sim.h"
#include "rankwright/pipeline/schedule.h"

namespace rankwright::pipeline {

/// Ranks, there and back.
struct VShape {
  std::size_t ranks = 1;
  double microbatches = 0;
  std::span<const CellDurations> times{};

  std::size_t far_stage(std::size_t rank) const { return 2 * ranks - 1 - rank; }
  const CellDurations& near(std::size_t rank) const { return times[rank]; }
  const CellDurations& far(std::size_t rank) const { return times[far_stage(rank)]; }
};

/// A Line, whose cells an Order counts: cell(rank, forward, is_far, microbatch). Streams: near
/// forwards, far forwards, near backwards, far backwards.
template <class Order>
struct VShapeOrder {
  static constexpr std::size_t kStreams = 4;

  VShape vee;
  const Order& order;
  std::span<const double> followed;
  double between;  // what a send takes
  double turn;     // the same where the way turns back; 0 where that is on one rank

  std::size_t ranks() const { return vee.ranks; }
  std::size_t stages() const { return 2 * vee.ranks; }
  double hop(std::size_t boundary) const { return boundary + 1 == vee.ranks ? turn : between; }
  static bool is_forward(std::size_t stream) { return stream < 2; }
  static bool is_far(std::size_t stream) { return stream % 2 == 1; }
  std::size_t stage(std::size_t rank, std::size_t stream) const {
    return is_far(stream) ? vee.far_stage(rank) : rank;
  }
  double total(std::size_t rank) const {
    return vee.microbatches * (vee.near(rank).all() + vee.far(rank).all());
  }
  SampledCell cell(std::size_t rank, std::size_t stream, std::size_t slot) const {
    return order.cell(rank, is_forward(stream), is_far(stream), followed[slot]);
  }
};

/// Cells before a cell: of the near stage and of the far one.
struct VShapeCount {
  std::array<double, 2> forwards{}, inputs{}, weights{};
};

/// zb-v.
class ZbVOrder {
 public:
  explicit ZbVOrder(const VShape& vee) : vee_(vee) {}

  SampledCell cell(std::size_t rank, bool forward, bool is_far, double m) const {
    const VShapeCount n =
        forward ? before_forward(double(rank), is_far, m) : before_input(double(rank), is_far, m);
    const CellDurations& own = is_far ? vee_.far(rank) : vee_.near(rank);
    SampledCell out{0, 0, forward ? own.forward : own.input};
    for (std::size_t c = 0; c < 2; ++c) {
      // A short step is a long one whose last microbatches are left out.
      const double f = std::min(n.forwards[c], vee_.microbatches);
      const double i = std::min(n.inputs[c], vee_.microbatches);
      const double w = std::min(n.weights[c], vee_.microbatches);
      const CellDurations& t = c == 0 ? vee_.near(rank) : vee_.far(rank);
      out.position += f + i + w;
      out.before += f * t.forward + i * t.input + w * t.weight;
    }
    return out;
  }

 private:
  double pp() const { return double(vee_.ranks); }
  /// Microbatches of the order: a short one is cut from this.
  double whole() const { return std::max(2 * pp() - 1, vee_.microbatches); }

  /// Runs: near F x (2(pp - r) - 1); far F, near F x r; far F, I, W x (pp - r); then near F I W,
  /// far F I W, without near F at the end; then the drain.
  VShapeCount before_forward(double r, bool is_far, double m) const {
    const double down = 2 * (pp() - r) - 1;
    if (!is_far) {
      if (m < down) return {{m, 0}, {}, {}};
      if (m < down + r) return {{m, m - down + 1}, {}, {}};
      const double j = m - (down + r);  // of the steady run
      return {{m, pp() + j}, {j, pp() - r + j}, {j, pp() - r + j}};
    }
    if (m < r) return {{down + m, m}, {}, {}};
    if (m < pp()) return {{down + r, m}, {0, m - r}, {0, m - r}};
    const double j = m - pp();
    return {{std::min(whole(), down + r + j + 1), m}, {j + 1, pp() - r + j}, {j + 1, pp() - r + j}};
  }

  VShapeCount before_input(double r, bool is_far, double m) const {
    const double down = 2 * (pp() - r) - 1;
    const double steady = whole() - pp();  // runs: until all far forwards are done
    const auto nears = [&](double j) { return std::min(whole(), down + r + j); };
    if (is_far) {
      const double j = m - (pp() - r);  // of the steady run
      if (j < 0) return {{down + r, r + m + 1}, {0, m}, {0, m}};
      if (j < steady) return {{nears(j + 1), pp() + j + 1}, {j + 1, m}, {j + 1, m}};
      // drain: I0 I1 x r
      return {{whole(), whole()}, {steady + (j - steady) + 1, m}, {steady, pp() - r + steady}};
    }
    if (m < steady) return {{nears(m + 1), pp() + m}, {m, pp() - r + m}, {m, pp() - r + m}};
    const double j = m - steady;
    const double fars = pp() - r + steady;
    if (j < r) return {{whole(), whole()}, {m, fars + j}, {steady, fars}};
    return {{whole(), whole()}, {m, fars + r}, {steady + j - r, fars}};
  }

  VShape vee_;
};

/// dualpipe and dualpipe-v, as program/schedule/dualpipe_common.h writes them.
class DualPipeOrder {
 public:
  DualPipeOrder(const VShape& vee, std::pmr::memory_resource* room) : runs_(room) {
    runs_.reserve(vee.ranks);
    for (std::size_t r = 0; r < vee.ranks; ++r) runs_.push_back(runs_of(vee, r));
  }

  SampledCell cell(std::size_t rank, bool forward, bool is_far, double m) const {
    const Runs& runs = runs_[rank];
    if (forward) return is_far ? far_forward(runs, m) : near_forward(runs, m);
    return is_far ? far_backward(runs, m) : near_backward(runs, m);
  }

 private:
  /// A rank's runs: how many cells stand before each, and what those take.
  struct Runs {
    struct Start {
      double cells = 0, work = 0;
    };
    const CellDurations *near = nullptr, *far = nullptr;
    double below = 0, tail = 0;  // ranks between this one and the turn; this one and those above
    double pairs = 0;            // times the steady run
    Start both{}, turned{}, steady{}, thin{}, drain{}, late{};
    bool apart = false;  // at the turn the first two run apart
  };

  /// Runs: near F x 2 below; near F, far F x tail; far I, W, F x below; near F with far B, far F
  /// with near B x pairs; far B, far F with near B x below; then far and near backward in turn.
  static Runs runs_of(const VShape& vee, std::size_t rank) {
    const CellDurations &near = vee.near(rank), &far = vee.far(rank);
    const double ranks = double(vee.ranks), tail = double(rank + 1), below = ranks - tail;
    const double pairs = vee.microbatches - 2 * ranks + tail;
    Runs s{.near = &near, .far = &far, .below = below, .tail = tail, .pairs = pairs};
    const auto after = [](const Runs::Start& start, double times, double cells, double work) {
      return Runs::Start{start.cells + times * cells, start.work + times * work};
    };
    s.both = after({}, 2 * below, 1, near.forward);
    s.turned = after(s.both, tail, 2, near.forward + far.forward);
    s.steady = after(s.turned, below, 3, far.all());
    s.thin = after(s.steady, pairs, 4, near.all() + far.all());
    s.drain = after(s.thin, below, 3, near.backward() + far.all());
    // Of the 2 tail backwards here the second half puts its weight gradients off.
    s.late = after(s.drain, tail, 2, near.backward() + far.backward());
    s.late.work -= off_far(s, tail) * far.weight + (tail - off_far(s, tail)) * near.weight;
    s.apart = below == 0;
    return s;
  }

  static SampledCell near_forward(const Runs& s, double m) {
    const double f = s.near->forward;
    double j = m - 2 * s.below;
    if (j < 0) return {m, m * f, f};
    if (j < s.tail) return {s.both.cells + 2 * j, s.both.work + j * (f + s.far->forward), f};
    j -= s.tail;
    return pair(s, j, 0, s.apart && j == 0 ? f : f + s.far->backward());
  }

  /// Cell `place` of the j-th steady run: near F with far B, then far F with near B.
  static SampledCell pair(const Runs& s, double j, int place, double length) {
    const double first = s.near->forward + s.far->backward();
    const double run = s.near->all() + s.far->all();
    double before = s.steady.work + j * run;
    if (place >= 2) before += first;
    if (place == 1 && s.apart && j == 0) before += s.near->forward;
    return {s.steady.cells + 4 * j + place, before, length};
  }

  static SampledCell far_forward(const Runs& s, double m) {
    const double f = s.far->forward;
    if (m < s.tail)
      return {s.both.cells + 2 * m + 1, s.both.work + (m + 1) * s.near->forward + m * f, f};
    double j = m - s.tail;
    if (j < s.below)
      return {s.turned.cells + 3 * j + 2, s.turned.work + j * s.far->all() + s.far->backward(), f};
    j -= s.below;
    const double length = f + s.near->backward();
    if (j < s.pairs) return pair(s, j, 2, length);
    j -= s.pairs;
    return {s.thin.cells + 3 * j + 1,
            s.thin.work + j * (length + s.far->backward()) + s.far->backward(), length};
  }

  static SampledCell far_backward(const Runs& s, double m) {
    if (m < s.below)
      return {s.turned.cells + 3 * m, s.turned.work + m * s.far->all(), s.far->input};
    double j = m - s.below;
    const double b = s.far->backward();
    if (j < s.pairs) return pair(s, j, 1, s.apart && j == 0 ? b : b + s.near->forward);
    j -= s.pairs;
    if (j < s.below)
      return {s.thin.cells + 3 * j, s.thin.work + j * (s.far->all() + s.near->backward()), b};
    return drained(s, 2 * (j - s.below));
  }

  static SampledCell near_backward(const Runs& s, double m) {
    double j = m;
    const double length = s.near->backward() + s.far->forward;
    if (j < s.pairs) return pair(s, j, 3, length);
    j -= s.pairs;
    if (j < s.below)
      return {s.thin.cells + 3 * j + 2,
              s.thin.work + j * (s.far->backward() + length) + s.far->backward(), length};
    return drained(s, 2 * (j - s.below) + 1);
  }

  /// The n-th backward from where the drain begins: far and near in turn while there are far ones,
  /// then the near ones, each behind a weight gradient that was put off.
  static SampledCell drained(const Runs& s, double n) {
    if (n < 2 * s.tail) {
      const double fars = double(i64((n + 1) / 2)), nears = n - fars;
      const double off = std::max(0.0, n - s.tail), far_off = off_far(s, off);
      const CellDurations& t = fars == nears ? *s.far : *s.near;
      const double work = fars * s.far->backward() + nears * s.near->backward() -
                          far_off * s.far->weight - (off - far_off) * s.near->weight;
      return {s.drain.cells + n, s.drain.work + work, n < s.tail ? t.backward() : t.input};
    }
    const double j = (n - 1) / 2 - s.tail;
    const double fars = off_far(s, std::min(j + 1, s.tail));
    const double work = j * s.near->input + fars * s.far->weight + (j + 1 - fars) * s.near->weight;
    return {s.late.cells + 2 * j + 1, s.late.work + work, s.near->input};
  }

  /// Of the first n weight gradients put off, those of the far stage: they come in turn, and the
  /// last of them is near.
  static double off_far(const Runs& s, double n) {
    const bool far_first = double(i64(s.tail / 2)) * 2 == s.tail;
    return far_first ? double(i64((n + 1) / 2)) : double(i64(n / 2));
  }

  std::pmr::vector<Runs> runs_;
};

}  // namespace rankwright::pipeline
