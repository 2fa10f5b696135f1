// A Program that was played, with what every drawing of it needs: names of its events, which chunk
// a stage is, how a rank's time is spent, where the step warms up and drains. No text for people
// but names; no I/O.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "rankwright/plan/plan.h"
#include "rankwright/plan/schedule.h"
#include "rankwright/program/play.h"
#include "rankwright/program/timeline.h"
#include "rankwright/report/ink.h"

namespace rankwright {

struct Played {
  PipelineShape shape;
  Program program;
  Durations durations;
  Timeline timeline;
  std::string times{};  // where the durations come from, for people
  std::string what{};   // the schedule's name, or the file that it was read from
};

Played played(const PipelineShape& shape, Program program, Durations durations,
              std::string times = "");

/// Of units, for people.
inline constexpr std::string_view kUnitTimes =
    "units, not prices: forward, input gradient and weight gradient of every stage take 1 s each, "
    "transfers and collectives none";

/// What the step of a setup does, and what everything takes. The setup has no misfit, its stages
/// are at most kMostPlayedStages and its expansion_bytes at most kMaxExpansion.
Played played(const Setup& setup, bool unit_times = false);
inline constexpr i64 kMostPlayedStages = kMaxStages - 1;

std::vector<Event> events(const Played& played, i64 pp_rank);

/// Runs beside the cells of its rank.
bool is_beside(const Program& program, i64 pp_rank, const Action& action);

/// How many shades a rank's cells have: its chunks, or two where microbatches enter at both ends.
i64 shades(const PipelineShape& shape);

/// Which of them a cell has. 0 for a step.
i64 shade_of(const PipelineShape& shape, i64 pp_rank, const Action& action);

/// "2F0" for a cell; a step's own name.
std::string event_name(const Program& program, i64 pp_rank, const Action& action);

/// The kinds of work that there are, in the order of the table.
std::vector<Ink> used_inks(const Program& program);

/// Cells of all ranks; a drawing of more than kMostDrawnCells, one by one, takes seconds to open.
inline constexpr i64 kMostDrawnCells = 20'000;
i64 cell_count(const Program& program);

/// The ranks that are drawn: all of them, or `most` from the first to the last, evenly spaced.
std::vector<i64> drawn_ranks(i64 pp, i64 most);

/// How an equal part of a rank's step is spent; what is missing to 1 is idle.
struct Column {
  std::array<double, kInks> share{};

  double of(Ink ink) const { return share[std::size_t(ink)]; }
  double backward() const;
  double busy() const;
};
std::vector<Column> columns(const Played& played, i64 pp_rank, std::size_t count);

/// A part of the step that has a name.
struct Band {
  std::string_view name;
  Seconds begin{}, end{};

  Seconds length() const { return end - begin; }
};

/// Warm-up lasts until every rank has begun a backward, drain begins when the first rank has done
/// its last forward; between them all ranks alternate. Where they would overlap there is no steady
/// state, and the first backward of all parts them. What follows the last cell is the end.
std::vector<Band> bands(const std::vector<Phases>& ranks, Seconds end);

/// Times to write under an axis from 0 to `end`: 1, 2 or 5 of a power of ten apart, at most `most`.
std::vector<Seconds> ticks(Seconds end, i64 most);

}  // namespace rankwright
