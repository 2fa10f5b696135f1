// Collectives as they are taught: what each does to the buffers of a few ranks, computed with
// symbolic parts, and the bytes and steps that the cost model counts for it. cost/collective.h has
// its time on the links of a cluster.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankwright/base/integer.h"
#include "rankwright/plan/traffic.h"

namespace rankwright::planner {

/// A collective, or a send with its receive.
enum class Collective : unsigned char {
  all_reduce,
  reduce_scatter,
  all_gather,
  all_to_all,
  broadcast,
  send_recv
};

/// One collective and the operation of the cost model that it is; broadcast is not one, because no
/// step has any.
struct CollectiveRow {
  Collective collective;
  std::string_view name;  // "all-reduce"
  std::optional<plan::Op> op;
};
std::span<const CollectiveRow> collectives();
const CollectiveRow& row(Collective);

/// One part of a rank's input: part 1 of the buffer of rank 2 is written "b2".
struct Part {
  i64 part = 0;
  i64 rank = 0;

  friend auto operator<=>(const Part&, const Part&) = default;
};

/// The contents of one place in a buffer: a sum of parts in ascending order. Empty: the rank holds
/// nothing there.
using Slot = std::vector<Part>;
using Buffer = std::vector<Slot>;
using Buffers = std::vector<Buffer>;  // by rank

/// The maximum number of ranks: parts are named by a letter.
inline constexpr i64 kMaxDrawnRanks = 26;

/// Returns a slot as text: "a0+a1+a2+a3"; empty for nothing.
std::string format_slot(const Slot& slot);

/// Returns the buffers before a collective on `ranks` ranks. A buffer has one slot per rank; for
/// send/recv it has one for what the rank sends and one for what it receives. Requires: 2 <= ranks
/// <= kMaxDrawnRanks.
Buffers make_input(Collective collective, i64 ranks);

/// Returns the buffers after a collective, by its definition. The root of a broadcast is rank 0.
/// In send/recv every rank sends to the next one, as the stages of a pipeline do in forward.
/// Requires: `input` has the shape of make_input().
Buffers apply_collective(Collective collective, const Buffers& input);

/// A collective carried out as messages between ranks.
struct MessageRun {
  Buffers buffers;
  i64 steps = 0;       // messages that one rank sends one after another
  i64 slots_sent = 0;  // by the rank that sends most
};

/// Carries out a collective: all-reduce, reduce-scatter and all-gather in a ring, a broadcast along
/// a chain, all-to-all and send/recv directly. Requires: as apply_collective().
MessageRun run_messages(Collective collective, const Buffers& input);

/// The cost of one call, independent of the links.
struct CollectiveFigures {
  i64 ranks = 2;
  double sent = 0;  // bytes that a rank sends per byte of payload (C8)
  i64 steps = 0;    // messages one after another, each with the latency of a link (C2, C6, C7)
};

/// Returns the figures of the cost model for a group whose ranks are all on one level. A broadcast
/// is a chain of its sends. Requires: at least two ranks.
CollectiveFigures compute_figures(Collective collective, i64 ranks);

}  // namespace rankwright::planner
