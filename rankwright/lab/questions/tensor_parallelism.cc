// Lab 2: matrices split over ranks, and the link that this requires.
#include <fmt/format.h>

#include "rankwright/base/format.h"
#include "rankwright/lab/conditions.h"
#include "rankwright/lab/lab.h"
#include "rankwright/plan/constraint_violation.h"

namespace rankwright::lab {
namespace tensor_parallelism_impl {
namespace {

WorkedAnswer layer_calls(const plan::TrainingConfig& s) {
  const i64 gathers = find_max_traffic(s, plan::TrafficKind::tp_all_gather).traffic.calls;
  const i64 scatters = find_max_traffic(s, plan::TrafficKind::tp_reduce_scatter).traffic.calls;
  const i64 layers = contents(s, 0).layers, m = s.microbatches();
  return {double(gathers + scatters),
          fmt::format("{} layers per PP rank x {} micro-batches x ({} all-gathers + {} "
                      "reduce-scatters per layer, both passes) = {}",
                      layers, m, gathers / (layers * m), scatters / (layers * m),
                      count(gathers + scatters)),
          {{double((gathers + scatters) / m), "that is for one micro-batch"}}};
}

WorkedAnswer call_bytes(const plan::TrainingConfig& s) {
  const Bytes size = find_max_traffic(s, plan::TrafficKind::tp_all_gather).traffic.bytes();
  return {size.value,
          fmt::format("{} tokens x {} hidden x 2 bytes = {}", count(s.job.sequence),
                      count(s.model.hidden), show(size)),
          {{size.value / double(s.plan.tp),
            "that is one rank's part: count the whole tensor, as nccl-tests does"}}};
}

/// Returns the largest tp degree whose groups stay inside the innermost domain.
WorkedAnswer widest(const plan::TrainingConfig& s) {
  WorkedAnswer worked;
  for (const i64 tp : list_divisors(s.world)) {
    plan::TrainingConfig one = s;
    one.plan.tp = tp;
    one.plan.dp = s.world / tp;
    one.plan.pp = 1;
    if (cost::find_span(one, mesh::GroupKind::tp).level <= 0) worked.value = double(tp);
  }
  worked.arithmetic =
      fmt::format("{} connects {} GPUs; a group of {} spans two of them", s.cluster.levels[0].name,
                  s.cluster.levels[0].arity, 2 * i64(worked.value));
  return worked;
}

constexpr std::string_view kLevels[] = {"nvlink", "infiniband"};

WorkedAnswer link(const plan::TrainingConfig& s) {
  const cost::TrafficCost row = find_max_traffic(s, plan::TrafficKind::tp_all_gather);
  const cluster::Level& level = s.cluster.levels[std::size_t(row.level)];
  return {double(row.level),
          fmt::format("each group of {} spans {} nodes, so it crosses {} at {}", row.span.size,
                      row.span.size / row.span.inside[0], level.name, show(level.bandwidth))};
}

/// Compares with another split of the same work over the same GPUs: tp inside the node, more
/// stages.
WorkedAnswer slower(const plan::TrainingConfig& s) {
  plan::TrainingConfig inner = s;
  inner.plan.tp = s.cluster.levels[0].arity;
  inner.plan.pp = s.plan.pp * s.plan.tp / inner.plan.tp;
  const std::vector<cost::TrafficCost> across = find_busiest_traffic(s, mesh::GroupKind::tp),
                                       within = find_busiest_traffic(inner, mesh::GroupKind::tp);
  const double ratio = sum_times(across) / sum_times(within);
  return {
      ratio,
      fmt::format("{} with TP {} ({} calls) / {} with TP {} PP {} ({} calls) = {:.3g}",
                  show(sum_times(across)), s.plan.tp, count(calls(across)), show(sum_times(within)),
                  inner.plan.tp, inner.plan.pp, count(calls(within)), ratio),
      {{s.cluster.levels[0].bandwidth / s.cluster.levels[1].bandwidth,
        "that is the ratio of the links: in a hierarchical collective, each of a node's eight NICs "
        "carries an eighth"},
       {double(calls(across)) / double(calls(within)),
        "that is the ratio of the calls: each also takes longer"}}};
}

constexpr std::string_view kInside = "labs/tp-8.yaml", kAcross = "labs/tp-16.yaml";
constexpr std::string_view kSeeInside = "rankwright explain examples/labs/tp-8.yaml";
constexpr Question kQuestions[] = {
    {"calls", AnswerKind::whole, kInside, layer_calls, kSeeInside,
     "Count one layer first: attention and MLP each gather and scatter, in both passes, and "
     "backward gathers once more.",
     "layers per PP rank x micro-batches x (all-gathers + reduce-scatters per layer, both passes)"},
    {"size", AnswerKind::bytes, kInside, call_bytes, kSeeInside,
     "A call moves the activations of one micro-batch; count the whole tensor, as nccl-tests does.",
     "tokens per micro-batch x hidden size x bytes per element", kRounded},
    {"widest", AnswerKind::whole, kInside, widest, "rankwright catalog systems dgx-h100",
     "How many GPUs does one NVLink domain connect?",
     "the largest divisor of the world size that does not exceed the GPUs per node"},
    {"link", AnswerKind::choice, kAcross, link, "rankwright explain examples/labs/tp-16.yaml",
     "Over how many nodes are the members of a TP group spread?",
     "ranks per group > GPUs per node: the group leaves the node", 0, kLevels},
    {"slower", AnswerKind::number, kAcross, slower, "rankwright check examples/labs/tp-16.yaml",
     "Two things change: the number of calls and the time per call.",
     "(calls x time per call) across nodes / (calls x time per call) inside a node", kEstimated},
};

}  // namespace
}  // namespace tensor_parallelism_impl

std::span<const Question> tensor_parallelism_questions() {
  return tensor_parallelism_impl::kQuestions;
}

}  // namespace rankwright::lab
