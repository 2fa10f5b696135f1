#include "rankwright/pipeline/pipeline_time.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory_resource>
#include <vector>

#include "rankwright/base/check.h"
#include "rankwright/pipeline/pipeline_task.h"

namespace rankwright::pipeline {
namespace {

/// Bytes of the buffer for temporary arrays. Up to about 130 stages nothing is allocated.
constexpr std::size_t kRoom = 64 * 1024;

}  // namespace

/// The first stage of rank r to receive a microbatch is stage r, or with DualPipe the nearer of its
/// two.
Seconds min_pipeline_time(const PipelineShape& shape, std::span<const StageTimes> stages,
                          Seconds hop) {
  const ScheduleRow& facts = row(shape.schedule);
  const bool mirror = facts.stage_order == StageOrder::mirror && shape.pp > 1;
  const std::size_t pp = std::size_t(shape.pp);
  Seconds up{}, down{}, min{};  // through the stages before rank r, forward and backward
  for (std::size_t r = 0; r < (mirror ? (pp + 1) / 2 : pp); ++r) {
    Seconds work{};
    for (std::size_t pass = 0; pass * pp < stages.size(); ++pass) {
      const bool back = facts.stage_order == StageOrder::vee && pass % 2 == 1;
      work += stages[pass * pp + (back ? pp - 1 - r : r)].total();
    }
    if (mirror) work = (work + stages[pp - 1 - r].total()) / 2;
    const Seconds end = up + double(shape.microbatches) * work + down;
    min = std::max(min, end);
    up += stages[r].forward + hop;
    // No rank waits for a trailing weight gradient.
    if (!facts.splits_backward) down += stages[r].input + stages[r].weight + hop;
  }
  return min;
}

Seconds estimate_pipeline_time(const PipelineShape& shape, std::span<const StageTimes> stages,
                               Seconds hop) {
  RW_CHECK(!find_shape_fault(shape) && i64(stages.size()) == shape.stages());
  // Without a pipeline, a rank runs one microbatch after the other.
  if (stages.size() == 1) return double(shape.microbatches) * stages[0].total();
  std::array<std::byte, kRoom> buffer;  // uninitialized on purpose
  std::pmr::monotonic_buffer_resource room(buffer.data(), buffer.size());
  std::pmr::vector<CellDurations> times(&room);
  times.reserve(stages.size());
  for (const StageTimes& t : stages)
    times.push_back({t.forward.value, t.input.value, t.weight.value});
  return std::max(Seconds{row(shape.schedule).time({shape, times, hop.value, &room})},
                  min_pipeline_time(shape, stages, hop));
}

}  // namespace rankwright::pipeline
