#include "rankwright/planner/concept/collective.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "rankwright/base/check.h"
#include "rankwright/cost/collective.h"
#include "rankwright/cost/traffic_cost.h"

namespace rankwright::planner {
namespace {

constexpr CollectiveRow kCollectives[] = {
    {Collective::all_reduce, "all-reduce", plan::Op::all_reduce},
    {Collective::reduce_scatter, "reduce-scatter", plan::Op::reduce_scatter},
    {Collective::all_gather, "all-gather", plan::Op::all_gather},
    {Collective::all_to_all, "all-to-all", plan::Op::all_to_all},
    {Collective::broadcast, "broadcast", std::nullopt},
    {Collective::send_recv, "send/recv", plan::Op::send_recv},
};

i64 count_ranks(const Buffers& buffers) { return i64(buffers.size()); }

Slot& slot(Buffers& buffers, i64 rank, i64 part) {
  return buffers[std::size_t(rank)][std::size_t(part)];
}

const Slot& slot(const Buffers& buffers, i64 rank, i64 part) {
  return buffers[std::size_t(rank)][std::size_t(part)];
}

Slot add(const Slot& a, const Slot& b) {
  Slot sum;
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(sum));
  return sum;
}

Slot add_over_ranks(const Buffers& input, i64 part) {
  Slot sum;
  for (i64 r = 0; r < count_ranks(input); ++r) sum = add(sum, slot(input, r, part));
  return sum;
}

Buffers make_empty(i64 ranks, i64 slots) {
  return Buffers(std::size_t(ranks), Buffer(std::size_t(slots)));
}

i64 wrap(i64 index, i64 ranks) { return ((index % ranks) + ranks) % ranks; }

/// In step s, rank r sends part r - s - 1 to rank r + 1, which adds it to its own. Part k starts at
/// rank k + 1 and ends at rank k.
void ring_reduce_scatter(MessageRun& run) {
  const i64 d = count_ranks(run.buffers);
  for (i64 s = 0; s < d - 1; ++s) {
    const Buffers before = run.buffers;
    for (i64 r = 0; r < d; ++r) {
      const i64 part = wrap(r - s - 1, d);
      Slot& to = slot(run.buffers, wrap(r + 1, d), part);
      to = add(to, slot(before, r, part));
    }
    run.steps += 1;
    run.slots_sent += 1;
  }
  for (i64 r = 0; r < d; ++r)
    for (i64 part = 0; part < d; ++part)
      if (part != r) slot(run.buffers, r, part).clear();
}

/// In step s, rank r passes part r - s to rank r + 1. Part k starts at rank k.
void ring_all_gather(MessageRun& run) {
  const i64 d = count_ranks(run.buffers);
  for (i64 s = 0; s < d - 1; ++s) {
    const Buffers before = run.buffers;
    for (i64 r = 0; r < d; ++r) {
      const i64 part = wrap(r - s, d);
      slot(run.buffers, wrap(r + 1, d), part) = slot(before, r, part);
    }
    run.steps += 1;
    run.slots_sent += 1;
  }
}

/// Counts the steps of one call in the cost model, on a level whose latency is one second.
i64 count_steps(plan::Op op, i64 ranks) {
  cluster::Cluster cluster;
  cluster.levels.push_back(
      {.name = "one", .arity = ranks, .bandwidth = BytesPerSecond{1}, .latency = Seconds{1}});
  cluster::Calibration constants;
  constants[cluster::Constant::link_share] = 1;
  mesh::Span group;
  group.size = ranks;
  const bool direct = op == plan::Op::all_to_all || op == plan::Op::send_recv;
  const std::optional<cost::CollectiveCost> cost =
      cost::estimate_collective_cost(op, Bytes{}, cost::innermost(group), cluster, constants,
                                     direct ? cost::Algorithm::direct : cost::Algorithm::ring);
  RW_CHECK(cost.has_value());
  return std::llround(cost->latency.value);
}

}  // namespace

std::span<const CollectiveRow> collectives() { return kCollectives; }

const CollectiveRow& row(Collective collective) {
  const CollectiveRow& found = kCollectives[std::size_t(collective)];
  RW_CHECK(found.collective == collective);
  return found;
}

std::string format_slot(const Slot& slot) {
  std::string text;
  for (const Part& part : slot) {
    if (!text.empty()) text += '+';
    text += char('a' + part.part);
    text += std::to_string(part.rank);
  }
  return text;
}

Buffers make_input(Collective collective, i64 ranks) {
  RW_CHECK(ranks >= 2 && ranks <= kMaxDrawnRanks);
  const bool sends = collective == Collective::send_recv;
  Buffers buffers = make_empty(ranks, sends ? 2 : ranks);
  for (i64 r = 0; r < ranks; ++r) {
    if (sends) {
      slot(buffers, r, 0) = {{r, r}};
    } else if (collective == Collective::all_gather) {
      slot(buffers, r, r) = {{r, r}};
    } else if (collective != Collective::broadcast || r == 0) {
      for (i64 part = 0; part < ranks; ++part) slot(buffers, r, part) = {{part, r}};
    }
  }
  return buffers;
}

Buffers apply_collective(Collective collective, const Buffers& input) {
  const i64 d = count_ranks(input);
  Buffers output = make_empty(d, i64(input.front().size()));
  for (i64 r = 0; r < d; ++r) {
    if (collective == Collective::send_recv) {
      slot(output, r, 0) = slot(input, r, 0);
      if (r > 0) slot(output, r, 1) = slot(input, r - 1, 0);
      continue;
    }
    for (i64 part = 0; part < d; ++part) {
      Slot& to = slot(output, r, part);
      if (collective == Collective::all_reduce) to = add_over_ranks(input, part);
      if (collective == Collective::reduce_scatter && part == r) to = add_over_ranks(input, part);
      if (collective == Collective::all_gather) to = slot(input, part, part);
      if (collective == Collective::all_to_all) to = slot(input, part, r);
      if (collective == Collective::broadcast) to = slot(input, 0, part);
    }
  }
  return output;
}

MessageRun run_messages(Collective collective, const Buffers& input) {
  const i64 d = count_ranks(input);
  MessageRun run{.buffers = input};
  switch (collective) {
    case Collective::all_reduce:
      ring_reduce_scatter(run);
      ring_all_gather(run);
      break;
    case Collective::reduce_scatter:
      ring_reduce_scatter(run);
      break;
    case Collective::all_gather:
      ring_all_gather(run);
      break;
    case Collective::all_to_all:
      for (i64 from = 0; from < d; ++from)
        for (i64 to = 0; to < d; ++to) slot(run.buffers, to, from) = slot(input, from, to);
      run.steps = 1;
      run.slots_sent = d - 1;
      break;
    case Collective::broadcast:
      for (i64 r = 0; r < d - 1; ++r) {
        run.buffers[std::size_t(r) + 1] = run.buffers[std::size_t(r)];
        run.steps += 1;
      }
      run.slots_sent = d;
      break;
    case Collective::send_recv:
      for (i64 r = 0; r < d - 1; ++r) slot(run.buffers, r + 1, 1) = slot(input, r, 0);
      run.steps = 1;
      run.slots_sent = 1;
      break;
  }
  return run;
}

CollectiveFigures compute_figures(Collective collective, i64 ranks) {
  RW_CHECK(ranks >= 2);
  const std::optional<plan::Op> op = row(collective).op;
  const plan::Op counted = op.value_or(plan::Op::send_recv);
  const i64 calls = op ? 1 : ranks - 1;  // a broadcast is a chain of sends
  return {.ranks = ranks,
          .sent = cost::count_wire_bytes(counted, Bytes{1}, ranks).value,
          .steps = calls * count_steps(counted, op ? ranks : 2)};
}

}  // namespace rankwright::planner
