#include "rankwright/pipeline/v_shape.h"

#include <vector>

namespace rankwright::pipeline {
namespace {

/// A Line of SampledPipelineSim. Streams: near forwards, far forwards, near backwards, far
/// backwards.
class VShapeOrder {
 public:
  static constexpr std::size_t kStreams = 4;

  VShapeOrder(const PipelineTask& task, const VShape& shape, std::span<const double> sampled)
      : task_(task), shape_(shape), slots_(sampled.size()), cells_(task.room) {
    cells_.reserve(ranks() * kStreams * slots_);
    for (std::size_t r = 0; r < ranks(); ++r) {
      const RunList list = shape.runs(shape.ranks, i64(r), shape.microbatches);
      const RunCounter counter(list, shape.microbatches);
      const std::array<CellDurations, 2> times{task.times[r], task.times[far_stage(r)]};
      for (std::size_t s = 0; s < kStreams; ++s)
        for (const double m : sampled) {
          const CountedCell cell = counter.find({is_forward(s), is_far(s) ? 1u : 0u}, m, times);
          cells_.push_back({cell.position, cell.before, cell.length});
        }
    }
  }

  std::size_t ranks() const { return std::size_t(shape_.ranks); }
  std::size_t stages() const { return 2 * ranks(); }
  double hop(std::size_t boundary) const {
    return boundary + 1 == ranks() ? shape_.turn : task_.hop;
  }
  static bool is_forward(std::size_t stream) { return stream < 2; }
  std::size_t stage(std::size_t rank, std::size_t stream) const {
    return is_far(stream) ? far_stage(rank) : rank;
  }
  double total(std::size_t rank) const {
    return double(shape_.microbatches) *
           (task_.times[rank].all() + task_.times[far_stage(rank)].all());
  }
  const SampledCell& cell(std::size_t rank, std::size_t stream, std::size_t slot) const {
    return cells_[(rank * kStreams + stream) * slots_ + slot];
  }

 private:
  static bool is_far(std::size_t stream) { return stream % 2 == 1; }
  std::size_t far_stage(std::size_t rank) const { return 2 * ranks() - 1 - rank; }

  const PipelineTask& task_;
  const VShape& shape_;
  std::size_t slots_;
  std::pmr::vector<SampledCell> cells_;  // by rank, stream and slot
};

}  // namespace

double v_shape_time(const PipelineTask& task, const VShape& shape,
                    const SampledMicrobatches& sampled) {
  const VShapeOrder line(task, shape, sampled.at());
  return SampledPipelineSim(line, sampled.at().size(), task.room).end();
}

}  // namespace rankwright::pipeline
