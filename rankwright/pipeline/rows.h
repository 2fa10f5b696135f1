// The list of schedules. Each row is defined in the file of its schedule; to add a schedule,
// declare its row and add it to the table. Internal to pipeline/: others call row() and
// schedules().
#pragma once

#include "rankwright/pipeline/schedule.h"

namespace rankwright::pipeline {

extern const ScheduleRow kGpipe;
extern const ScheduleRow kOneFOneB;
extern const ScheduleRow kInterleaved;
extern const ScheduleRow kLoopedBfs;
extern const ScheduleRow kZbH1;
extern const ScheduleRow kZb2p;
extern const ScheduleRow kInterleavedZb;
extern const ScheduleRow kZbV;
extern const ScheduleRow kDualpipe;
extern const ScheduleRow kDualpipeV;

struct RowEntry {
  Schedule schedule;
  const ScheduleRow* row;
};

/// In the order of the enumerators.
inline constexpr RowEntry kRows[] = {
    {Schedule::gpipe, &kGpipe},
    {Schedule::one_f_one_b, &kOneFOneB},
    {Schedule::interleaved, &kInterleaved},
    {Schedule::looped_bfs, &kLoopedBfs},
    {Schedule::zb_h1, &kZbH1},
    {Schedule::zb_2p, &kZb2p},
    {Schedule::interleaved_zb, &kInterleavedZb},
    {Schedule::zb_v, &kZbV},
    {Schedule::dualpipe, &kDualpipe},
    {Schedule::dualpipe_v, &kDualpipeV},
};

consteval bool rows_match_enumerators() {
  for (std::size_t i = 0; i < std::size(kRows); ++i)
    if (std::size_t(kRows[i].schedule) != i) return false;
  return std::size(kRows) == kSchedules;
}
static_assert(rows_match_enumerators());

/// Work of one cell in the bubble formulas: F = I = W = 1 and B = I + W.
inline constexpr double kF = 1, kI = 1, kW = 1, kB = kI + kW;

}  // namespace rankwright::pipeline
