#include "rankwright/program/expand.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "rankwright/base/check.h"
#include "rankwright/pipeline/order.h"
#include "rankwright/plan/shares.h"
#include "rankwright/program/body.h"
#include "rankwright/program/steps.h"
#include "rankwright/program/transfers.h"

namespace rankwright::program {
namespace {

/// The last backward or weight gradient of a chunk, as an index into the cells of its rank.
struct ChunkEnd {
  std::size_t cell;
  std::size_t chunk;
};

/// Returns the end of each chunk, in execution order.
std::vector<ChunkEnd> find_chunk_ends(const pipeline::Sequence& cells,
                                      const std::vector<i64>& stages) {
  std::vector<std::pair<i64, std::size_t>> chunk_of;  // by stage
  for (std::size_t k = 0; k < stages.size(); ++k) chunk_of.emplace_back(stages[k], k);
  std::sort(chunk_of.begin(), chunk_of.end());
  std::vector<bool> seen(stages.size());
  std::vector<ChunkEnd> ends;
  for (std::size_t i = cells.size(); i-- > 0 && ends.size() < stages.size();) {
    if (cells[i].kind != pipeline::ActionKind::backward &&
        cells[i].kind != pipeline::ActionKind::weight_grad)
      continue;
    const auto found = std::lower_bound(chunk_of.begin(), chunk_of.end(),
                                        std::pair{i64(cells[i].stage), std::size_t{0}});
    RW_CHECK(found != chunk_of.end() && found->first == i64(cells[i].stage));
    if (seen[found->second]) continue;
    seen[found->second] = true;
    ends.push_back({i, found->second});
  }
  std::reverse(ends.begin(), ends.end());
  return ends;
}

/// Returns the cells of one pp rank with the rank's own steps inserted.
pipeline::Sequence with_steps(const pipeline::Sequence& cells, const RankSteps& steps,
                              const std::vector<i64>& stages) {
  // A step is numbered by its position in `steps` (first, then chunk by chunk, then last), which
  // need not be its position in the line.
  std::vector<std::size_t> number{steps.first.size()};
  for (const Body& behind : steps.behind) number.push_back(number.back() + behind.size());
  pipeline::Sequence line;
  const auto add = [&](std::size_t first, std::size_t count) {
    for (std::size_t k = 0; k < count; ++k)
      line.push_back(action(pipeline::ActionKind::step, 0, i64(first + k)));
  };
  add(0, steps.first.size());
  const std::vector<ChunkEnd> ends = find_chunk_ends(cells, stages);
  std::size_t next = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    line.push_back(cells[i]);
    if (cells[i].joined != 0) continue;  // no step may separate joined cells
    for (; next < ends.size() && ends[next].cell <= i; ++next)
      add(number[ends[next].chunk], steps.behind[ends[next].chunk].size());
  }
  add(number.back(), steps.last.size());
  return line;
}

/// Upper bounds per layer, MTP module or head, over its four bodies together: steps other than ring
/// sends, and passes around the context-parallel ring (cp sends each).
constexpr double kMaxStepsPerPiece = 200;
constexpr double kMaxRingPasses = 9;

/// Returns an upper bound on the steps in all bodies.
double bound_body_steps(const plan::TrainingConfig& config) {
  const plan::Plan& plan = config.plan;
  double heads = 1 + double(config.model.mtp_layers);
  for (const plan::Stage& stage : plan.stages) heads += double(stage.mtp);
  const double pieces =
      double(config.model.layers()) + 2 * heads + double(plan.pp) * double(plan.virtual_stages);
  return pieces * (kMaxStepsPerPiece + kMaxRingPasses * double(plan.cp));
}

/// Returns an upper bound on the steps that buckets cause: they are reduced in B and in W or after
/// them, over shards and replicas, and gathered.
double bound_bucket_steps(const plan::TrainingConfig& config) {
  double buckets = 0;
  for (const plan::Holding& held : list_stage_holdings(config))
    buckets += double(held.share.total()) / double(count_bucket_elements(config.plan)) + 3;
  return 6 * buckets + 4 * double(config.plan.pp);
}

}  // namespace

Bytes bound_expansion_bytes(const plan::TrainingConfig& config) {
  const pipeline::PipelineShape shape = make_pipeline_shape(config);
  // Action stores stages, and StageToRank stores ranks, in 16 bits.
  static_assert(plan::kMaxStages < 0xFFFF);
  // Per cell: the cell itself, two transfers, and one entry per (stage, microbatch) in tables.
  const double cells = 3 * double(shape.pp) * double(shape.chunks) * double(shape.microbatches);
  const Bytes actions = bytes(4 * cells, sizeof(pipeline::Action));
  const Bytes in_bodies = bytes(bound_body_steps(config), sizeof(Step));
  // Counting buckets enumerates the stages, so stop here if the bound is already exceeded.
  if (actions + in_bodies > kMaxExpansion) return actions + in_bodies;
  const double steps = bound_bucket_steps(config);
  return actions + in_bodies + bytes(steps, sizeof(Step) + sizeof(pipeline::Action));
}

Program expand(const plan::TrainingConfig& config) {
  RW_CHECK(bound_expansion_bytes(config) <= kMaxExpansion);
  const pipeline::PipelineShape shape = make_pipeline_shape(config);
  const pipeline::Sequences order = cells(shape);
  const std::vector<RankSteps> own = build_rank_steps(config);
  pipeline::Sequences lines;
  for (i64 r = 0; r < shape.pp; ++r)
    lines.push_back(
        with_steps(order[std::size_t(r)], own[std::size_t(r)], list_stages(config.plan, r)));
  Program program = add_transfers(lines, shape.stages(), shape.microbatches);
  program.bodies = build_bodies(config);
  program.steps = steps(config);
  return program;
}

}  // namespace rankwright::program
