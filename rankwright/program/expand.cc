#include "rankwright/program/expand.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "rankwright/base/check.h"
#include "rankwright/plan/shares.h"
#include "rankwright/program/body.h"
#include "rankwright/program/schedule/schedule.h"
#include "rankwright/program/steps.h"
#include "rankwright/program/transfers.h"

namespace rankwright::program {
namespace {

/// A chunk's last backward or weight gradient: its index among the cells.
struct ChunkEnd {
  std::size_t cell;
  std::size_t chunk;
};

/// In the order in which they come.
std::vector<ChunkEnd> chunk_ends(const Sequence& cells, const std::vector<i64>& stages) {
  std::vector<std::pair<i64, std::size_t>> chunk_of;  // by stage
  for (std::size_t k = 0; k < stages.size(); ++k) chunk_of.emplace_back(stages[k], k);
  std::sort(chunk_of.begin(), chunk_of.end());
  std::vector<bool> seen(stages.size());
  std::vector<ChunkEnd> ends;
  for (std::size_t i = cells.size(); i-- > 0 && ends.size() < stages.size();) {
    if (cells[i].kind != ActionKind::backward && cells[i].kind != ActionKind::weight_grad) continue;
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

/// The cells of one pp rank with its own steps in their places.
Sequence with_steps(const Sequence& cells, const RankSteps& steps, const std::vector<i64>& stages) {
  // A step's number is its place in `steps`, chunk by chunk, wherever it stands.
  std::vector<std::size_t> number{steps.first.size()};
  for (const Body& behind : steps.behind) number.push_back(number.back() + behind.size());
  Sequence line;
  const auto add = [&](std::size_t first, std::size_t count) {
    for (std::size_t k = 0; k < count; ++k)
      line.push_back(action(ActionKind::step, 0, i64(first + k)));
  };
  add(0, steps.first.size());
  const std::vector<ChunkEnd> ends = chunk_ends(cells, stages);
  std::size_t next = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    line.push_back(cells[i]);
    if (cells[i].joined != 0) continue;  // nothing comes between cells that run as one
    for (; next < ends.size() && ends[next].cell <= i; ++next)
      add(number[ends[next].chunk], steps.behind[ends[next].chunk].size());
  }
  add(number.back(), steps.last.size());
  return line;
}

/// More steps than any layer, MTP module or head has in its four bodies together; a ring sends cp
/// times at most nine times.
constexpr double kStepsAPiece = 200;
constexpr double kRings = 9;

double body_steps(const plan::TrainingConfig& config) {
  const plan::Plan& plan = config.plan;
  double heads = 1 + double(config.model.mtp_layers);
  for (const plan::Stage& stage : plan.stages) heads += double(stage.mtp);
  const double pieces =
      double(config.model.layers()) + 2 * heads + double(plan.pp) * double(plan.virtual_stages);
  return pieces * (kStepsAPiece + kRings * double(plan.cp));
}

/// Buckets are reduced in B and in W or behind them, over shards and replicas, and gathered.
double bucket_steps(const plan::TrainingConfig& config) {
  double buckets = 0;
  for (const plan::Holding& held : stage_holdings(config))
    buckets += double(held.share.total()) / double(bucket_elements(config.plan)) + 3;
  return 6 * buckets + 4 * double(config.plan.pp);
}

}  // namespace

Bytes expansion_bytes(const plan::TrainingConfig& config) {
  const plan::PipelineShape shape = pipeline_shape(config);
  // Actions count stages, and tables of owners ranks, in 16 bits.
  static_assert(plan::kMaxStages < 0xFFFF);
  // A cell, two transfers more, and what it says of its (stage, microbatch).
  const double cells = 3 * double(shape.pp) * double(shape.chunks) * double(shape.microbatches);
  const Bytes actions = bytes(4 * cells, sizeof(Action));
  const Bytes inside = bytes(body_steps(config), sizeof(Step));
  // Stages are listed one by one from here on.
  if (actions + inside > kMaxExpansion) return actions + inside;
  const double steps = bucket_steps(config);
  return actions + inside + bytes(steps, sizeof(Step) + sizeof(Action));
}

Program expand(const plan::TrainingConfig& config) {
  RW_CHECK(expansion_bytes(config) <= kMaxExpansion);
  const plan::PipelineShape shape = pipeline_shape(config);
  const Sequences order = cells(shape);
  const std::vector<RankSteps> own = rank_steps(config);
  Sequences lines;
  for (i64 r = 0; r < shape.pp; ++r)
    lines.push_back(
        with_steps(order[std::size_t(r)], own[std::size_t(r)], stages_of(config.plan, r)));
  Program program = with_transfers(lines, shape.stages(), shape.microbatches);
  program.bodies = bodies(config);
  program.steps = steps(config);
  return program;
}

}  // namespace rankwright::program
