// The proof decides whether a Program can run to its end, by running its ranks symbolically. This
// is exact: every rank is sequential and every message has one sender and one receiver, so the
// outcome does not depend on speed. A batch of transfers is waited for right after it is posted,
// the strictest behavior of any framework. Diagnostics for users are written by rules/.
#pragma once

#include <optional>

#include "rankwright/program/cross_stage_collectives.h"
#include "rankwright/program/program.h"

namespace rankwright::program {

/// A blocked rank: the action at which it is blocked and the rank it waits for.
struct Waiting {
  i64 pp_rank = 0;
  i64 position = 0;           // index of `action` in the role
  pipeline::Action action{};  // the transfer or step that cannot complete
  i64 other = -1;             // the pp rank it waits for; -1: no rank will ever complete it
};

/// A cell or transfer at an invalid position in its rank's order, or a transfer without
/// counterpart.
struct Misplaced {
  enum class Why : unsigned char {
    no_receive,  // a send without a receive
    no_send,     // a receive without a send
    twice,       // the same transfer a second time
    early,       // a cell before its input has arrived
    unsent,      // a send before its data is computed
    elsewhere,   // a receive on a rank that does not run the stage
    crossed,     // receives in another order than the sends; NCCL matches them by order
  };
  Why why;
  i64 pp_rank = 0;
  i64 position = 0;
  pipeline::Action action{};
  i64 sent = 0, received = 0;  // crossed: number of the message between the two ranks, from 1
};

/// The findings about one Program; it runs to its end if holds().
struct Proof {
  std::vector<Misplaced> misplaced{};  // the first few
  std::optional<CollectiveMismatch> mismatch{};
  /// Empty if the program runs to its end. Otherwise a chain in which each rank waits for the next:
  /// a cycle, or a chain that ends at a rank whose action can never complete.
  std::vector<Waiting> rendezvous{};  // a send waits for its receive
  std::vector<Waiting> buffered{};    // a send never waits
  i64 actions = 0;

  bool holds() const {
    return misplaced.empty() && !mismatch && rendezvous.empty() && buffered.empty();
  }
};

/// Checks that a program runs to its end, with blocking and with buffered sends.
Proof prove(const Program& program);

}  // namespace rankwright::program
