#include "rankwright/cost/collective.h"

#include <algorithm>

namespace rankwright {
namespace {

i64 members_below(const Span& span, int level) {
  return level == 0 ? 1 : span.inside[std::size_t(level) - 1];
}

/// Time on the links of one level, without latency; 0 where the group does not cross it.
Seconds link_time(Op op, Bytes size, const Span& span, const Cluster& cluster, int level) {
  const i64 sharers = span.sharers[std::size_t(level)];
  const i64 below = members_below(span, level);
  if (level > span.level || sharers == 0 || below >= span.size) return {};
  const BytesPerSecond share = cluster.uplink(level) / sharers;
  const double outside = double(span.size - below) / double(span.size);
  switch (op) {
    case Op::all_reduce:
    case Op::all_gather:
    case Op::reduce_scatter:
      return outside * size / share;
    case Op::all_to_all:
      return below * (outside * size) / share;
    case Op::send_recv:
      // A domain's members send one after the other along the line: at most one of each group
      // crosses the domain's border at a time.
      return size / share;
  }
  return {};
}

}  // namespace

Seconds collective_time(Op op, Bytes size, const Span& span, const Cluster& cluster) {
  if (span.size <= 1) return {};
  Seconds latency{};
  Seconds slowest{};
  for (int level = 0; level <= span.level; ++level) {
    const i64 domains = span.inside[std::size_t(level)] / members_below(span, level);
    const i64 steps = op == Op::send_recv || op == Op::all_to_all ? 1 : domains - 1;
    const Seconds alpha = cluster.levels[std::size_t(level)].latency;
    // A send pays the latency of the outermost level alone; a ring pays for its steps on each.
    latency = op == Op::send_recv ? alpha : latency + steps * alpha;
    slowest = std::max(slowest, link_time(op, size, span, cluster, level));
  }
  const i64 rounds = op == Op::all_reduce ? 2 : 1;
  return rounds * (latency + slowest);
}

Span innermost(const Span& span) {
  Span inner = span;
  inner.inside.fill(span.size);
  inner.least.fill(span.size);
  inner.sharers.fill(0);
  inner.sharers[0] = 1;
  inner.level = span.size > 1 ? 0 : -1;
  return inner;
}

int slowest_level(Op op, Bytes size, const Span& span, const Cluster& cluster) {
  int slowest = span.level < 0 ? -1 : 0;
  for (int level = 1; level <= span.level; ++level)
    if (link_time(op, size, span, cluster, level) > link_time(op, size, span, cluster, slowest))
      slowest = level;
  return slowest;
}

}  // namespace rankwright
