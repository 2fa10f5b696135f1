// The proof: whether a Program can run to its end. Decided by running its ranks symbolically, which
// is exact: every rank is sequential and every message has one sender and one receiver, so there is
// one outcome however fast the ranks are. Batches are waited for at once, the strictest that
// frameworks do: what holds here holds where they wait later. The words for people are rules/.
#pragma once

#include <optional>

#include "rankwright/program/cross_stage_collectives.h"
#include "rankwright/program/program.h"

namespace rankwright::program {

/// A rank that stands still: at which action, and for whom it waits.
struct Waiting {
  i64 pp_rank = 0;
  i64 position = 0;  // index of `action` in the role
  Action action{};   // the transfer, step or cell that does not come about
  i64 other = -1;    // the pp rank that would have to act; -1: nobody ever does
};

/// A cell or transfer that stands wrong in its rank's own order, or has no counterpart.
struct Misplaced {
  enum class Why : unsigned char {
    no_receive,  // a send that nobody receives
    no_send,     // a receive that nobody sends
    twice,       // the same transfer a second time
    early,       // a cell before its input has come
    unsent,      // a send before what it sends was computed
    elsewhere,   // a receive on a rank that does not run the stage
    crossed,     // a receive in another order than its sender sends: NCCL matches by order
  };
  Why why;
  i64 pp_rank = 0;
  i64 position = 0;
  Action action{};
  i64 sent = 0, received = 0;  // crossed: the number of its message from that rank, from 1 on
};

struct Proof {
  std::vector<Misplaced> misplaced{};  // the first few
  std::optional<CollectiveMismatch> disorder{};
  /// Empty where it runs to its end; else who waits for whom, from one rank round to itself, or up
  /// to one that waits for nobody.
  std::vector<Waiting> rendezvous{};  // a send waits for its receive
  std::vector<Waiting> buffered{};    // a send never waits
  i64 actions = 0;

  bool holds() const {
    return misplaced.empty() && !disorder && rendezvous.empty() && buffered.empty();
  }
};

Proof prove(const Program& program);

}  // namespace rankwright::program
