#include "rankwright/cost/collective.h"

#include <algorithm>
#include <bit>
#include <cstdint>

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
  Seconds ring{}, tree{};         // latencies
  Seconds partly{}, all_of_it{};  // on the slowest link
  for (int level = 0; level <= span.level; ++level) {
    const i64 domains = ceil_div(span.inside[std::size_t(level)], members_below(span, level));
    const Seconds latency = cluster.levels[std::size_t(level)].latency;
    ring += (domains - 1) * latency;
    tree += std::bit_width(std::uint64_t(domains - 1)) * latency;  // ceil(log2 domains)
    partly = std::max(partly, link_time(op, size, span, cluster, level));
    all_of_it = std::max(all_of_it, link_time(Op::send_recv, size, span, cluster, level));
  }
  const Seconds outermost = cluster.levels[std::size_t(span.level)].latency;
  switch (op) {
    case Op::all_reduce:
      return 2 * std::min(ring + partly, tree + all_of_it);
    case Op::all_gather:
    case Op::reduce_scatter:
      return ring + partly;
    case Op::all_to_all:  // all messages are on their way at once
    case Op::send_recv:
      return outermost + partly;
  }
  return {};
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
