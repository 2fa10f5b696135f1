// Schedules as text: one line per pp rank, cells `<stage><F|B|I|W><microbatch>` separated by
// commas, as torch's pipelining prints and torchtitan reads them: "0F0,0F1,0B0,0B1". A forward and
// a backward that run as one are "(0F1;3B0)OVERLAP_F_B". A hand-written file may also place sends
// and receives, "0SEND_F1", "1RECV_F1", and post several together, "(0SEND_F1;0RECV_B0)".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rankwright/base/result.h"
#include "rankwright/pipeline/action.h"

namespace rankwright::program {

/// The maximum number of pp ranks in a schedule or in a trace of one.
inline constexpr i64 kMaxPpRanks = 65535;

/// Formats an action: "2F0", "0SEND_F1".
std::string show(const pipeline::Action&);

/// Parses a cell such as "2F0"; returns nullopt for any other text, also for a transfer.
std::optional<pipeline::Action> parse_cell(std::string_view text);

/// Formats the cells as the lines of a schedule file. Transfers are left out, because they follow
/// from the cells.
std::string show_cells(const pipeline::Sequences&);

/// Returns the ranks' cells without sends, receives and steps.
pipeline::Sequences only_cells(const pipeline::Sequences&);

/// A schedule read from a file, with the source position of every action.
struct WrittenSchedule {
  struct Place {
    int line, column, width;
  };
  pipeline::Sequences ranks{};
  bool transfers = false;  // the file places sends and receives itself
  std::string file{};
  std::vector<std::vector<Place>> places{};  // by pp rank and action

  Location where(i64 pp_rank, i64 position) const;
};

/// Parses a schedule file. Blank cells and FSDP's UNSHARD, RESHARD and REDUCE_GRAD are ignored;
/// lines that start with '#' are comments. Fails with RW0916 at the first invalid cell.
Result<WrittenSchedule> parse_cells(std::string_view text, std::string_view file);

/// A fault in a set of cells that does not depend on their order.
struct CellFault {
  enum class Why : unsigned char {
    missing,    // the cell does not occur
    twice,      // the cell occurs a second time here
    elsewhere,  // the stage runs this microbatch's forward on another rank
    mixed,      // the backward occurs as B and also as I or W
  };
  Why why;
  pipeline::Action cell{};
  i64 pp_rank = -1;  // -1 for a missing cell
  i64 position = -1;
  friend bool operator==(const CellFault&, const CellFault&) = default;
};

/// The extent of a set of cells and its faults.
struct CellSet {
  i64 stages = 0;
  i64 microbatches = 0;
  std::vector<CellFault> faults{};  // the first few
};

/// Checks that every (stage, microbatch) has one forward and either one backward or one input and
/// one weight gradient, all on one rank.
CellSet inspect_cells(const pipeline::Sequences& ranks);

}  // namespace rankwright::program
