#include "rankwright/cost/durations.h"

#include <algorithm>

#include "rankwright/cost/collective.h"
#include "rankwright/cost/outlook.h"
#include "rankwright/cost/priced.h"
#include "rankwright/cost/states.h"
#include "rankwright/model/flops.h"
#include "rankwright/program/body.h"

namespace rankwright {
namespace {

class Clock {
 public:
  explicit Clock(const Setup& setup) : setup_(setup) {
    const FlopsPerSecond peak_rate = peak(setup.cluster.device, setup.job.param_dtype);
    rate_ = kAssumedEfficiency * peak_rate;
    tokens_ = double(setup.plan.micro_batch) * double(setup.job.sequence) / double(setup.plan.cp);
  }

  /// A cell: what it computes, and what it waits for.
  Seconds body(const Body& body, ActionKind kind) {
    Seconds sum{};
    for (const Step& step : body) {
      if (step.computes())
        sum += compute(step, kind);
      else if (!step.beside)
        sum += collective(step.op, step.bytes, step.group);
    }
    return sum;
  }

  Seconds step(const Step& step, const RankContents& on_rank) {
    if (step.part == Part::optimizer) return optimizer(on_rank);
    if (step.computes()) return {};
    return collective(step.op, step.bytes, step.group);
  }

  Seconds collective(Op op, Bytes size, GroupKind group) {
    std::optional<Span>& span = spans_[std::size_t(group)];
    if (!span) span = span_of(setup_, group);
    return collective_time(op, size, *span, setup_.cluster);
  }

 private:
  /// O4: backward is the input gradient and the weight gradient, each as much as the forward.
  Seconds compute(const Step& step, ActionKind kind) const {
    if (rate_.value <= 0) return {};
    const bool whole = kind == ActionKind::backward && !step.again;
    return (whole ? 2.0 : 1.0) * tokens_ * forward(step) / double(setup_.plan.tp) / rate_;
  }

  /// Of one token, on all tp ranks.
  Flops forward(const Step& step) const {
    const Model& model = setup_.model;
    if (step.part == Part::head) return head_forward_flops(model);
    if (step.part == Part::projection)
      return Flops{2 * 2 * double(model.hidden) * double(model.hidden)};
    if (step.layer < 0) return {};
    const Layer& layer =
        step.layer < model.layers() ? model.layer(step.layer) : model.runs.back().layer;
    const LayerFlops parts = layer_flops(model, layer, setup_.job.sequence);
    switch (step.part) {
      case Part::attention: {
        const bool core = step.again && setup_.plan.recompute == Recompute::selective;
        return core ? parts.core : parts.projections + parts.core;
      }
      case Part::mlp:
        return parts.mlp;
      case Part::experts:
        return parts.experts;
      default:
        return {};
    }
  }

  /// Reads and writes the states once, at the memory's speed.
  Seconds optimizer(const RankContents& on_rank) const {
    const States held = states(setup_, on_rank);
    const BytesPerSecond speed = setup_.cluster.device.memory_bandwidth;
    if (speed.value <= 0) return {};
    return 2 * (held.optimizer + held.gradients) / speed;
  }

  const Setup& setup_;
  FlopsPerSecond rate_{};
  double tokens_ = 0;
  SpanTable spans_{};
};

}  // namespace

Durations durations(const Setup& setup, const Program& program) {
  Clock clock(setup);
  Durations times;
  for (const std::array<Body, 4>& stage : program.bodies) {
    std::array<Seconds, 4> taken{};
    for (std::size_t k = 0; k < 4; ++k) taken[k] = clock.body(stage[k], ActionKind(k));
    times.cells.push_back(taken);
  }
  for (i64 b = 0; b + 1 < program.stages; ++b) {
    const Seconds sent = clock.collective(Op::send_recv, transfer_bytes(setup, b), GroupKind::pp);
    times.activation.push_back(sent);
    times.gradient.push_back(sent);
  }
  const std::vector<RankContents> contents = rank_contents(setup);
  for (std::size_t r = 0; r < contents.size(); ++r) {
    times.steps.emplace_back();
    for (const Step& step : program.steps[r])
      times.steps.back().push_back(clock.step(step, contents[r]));
  }
  return times;
}

}  // namespace rankwright
