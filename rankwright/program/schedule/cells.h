// Schedules as text: one line a pp rank, cells between commas, `<stage><F|B|I|W><microbatch>`, as
// torch's pipelining prints them and torchtitan reads them: "0F0,0F1,0B0,0B1". A forward and a
// backward that run as one are "(0F1;3B0)OVERLAP_F_B". A hand-written file may also say where it
// sends and receives, "0SEND_F1", "1RECV_F1", and post several together, "(0SEND_F1;0RECV_B0)".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rankwright/base/result.h"
#include "rankwright/program/schedule/action.h"

namespace rankwright::program {

/// Of a schedule, or of a trace of one.
inline constexpr i64 kMaxPpRanks = 65535;

/// "2F0", "0SEND_F1".
std::string show(const Action&);

/// The cell that reads "2F0"; nothing where the text is anything else, be it a transfer.
std::optional<Action> parse_cell(std::string_view text);

/// The lines of a file, cells only: where to send follows from them.
std::string show_cells(const Sequences&);

/// Without sends, receives and steps.
Sequences only_cells(const Sequences&);

struct WrittenSchedule {
  struct Place {
    int line, column, width;
  };
  Sequences ranks{};
  bool transfers = false;  // it says itself where it sends and receives
  std::string file{};
  std::vector<std::vector<Place>> places{};  // of every action, by pp rank

  Location where(i64 pp_rank, i64 position) const;
};

/// Reads the form above; blank cells and FSDP's UNSHARD, RESHARD and REDUCE_GRAD are passed over,
/// lines that begin with '#' are comments. RW0916 says at which cell it goes wrong.
Result<WrittenSchedule> parse_cells(std::string_view text, std::string_view file);

/// What is wrong with a set of cells, whatever their order.
struct CellFault {
  enum class Why : unsigned char {
    missing,    // this cell stands nowhere
    twice,      // it stands a second time here
    elsewhere,  // a stage's microbatch went forward on another rank
    mixed,      // backward as B, and as I or W too
  };
  Why why;
  Action cell{};
  i64 pp_rank = -1;  // -1 for a missing one
  i64 position = -1;
  friend bool operator==(const CellFault&, const CellFault&) = default;
};

struct CellSet {
  i64 stages = 0;
  i64 microbatches = 0;
  std::vector<CellFault> faults{};  // the first few
};

/// Every (stage, microbatch) forward once and backward once, or its input and weight gradient once
/// each, all on one rank.
CellSet cell_set(const Sequences& ranks);

}  // namespace rankwright::program
