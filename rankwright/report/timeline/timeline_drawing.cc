#include "rankwright/report/timeline/timeline_drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace rankwright::report {
namespace {

std::string_view name(program::Part part) {
  constexpr std::string_view kNames[] = {"none",    "embedding",  "attention", "mlp",      "router",
                                         "experts", "projection", "head",      "optimizer"};
  return kNames[std::size_t(part)];
}

/// Adds the share of `event` to each column that it covers.
void add_event(const program::Event& event, double width, planner::EventKind kind,
               std::vector<Column>& columns) {
  const double last = double(columns.size());
  const double begin = std::clamp(event.start.value / width, 0.0, last);
  const double end = std::clamp(event.end.value / width, 0.0, last);
  for (std::size_t c = std::size_t(begin); c < columns.size() && double(c) < end; ++c)
    columns[c].share[std::size_t(kind)] +=
        std::min(end, double(c) + 1) - std::max(begin, double(c));
}

}  // namespace

bool can_draw_each(const program::Program& program, i64 cells) {
  for (const program::Body& of_rank : program.steps) cells += i64(of_rank.size());
  return cells <= kMaxDrawnCells;
}

i64 count_shades(const pipeline::PipelineShape& shape) {
  const bool mirror = row(shape.schedule).stage_order == pipeline::StageOrder::mirror;
  return mirror && shape.pp > 1 ? 2 : shape.chunks;
}

i64 find_shade(const pipeline::PipelineShape& shape, i64 pp_rank, const pipeline::Action& a) {
  if (!is_cell(a.kind)) return 0;
  if (row(shape.schedule).stage_order == pipeline::StageOrder::mirror)
    return shape.pp > 1 && i64(a.stage) != pp_rank ? 1 : 0;
  return std::min(i64(a.stage) / shape.pp, shape.chunks - 1);
}

std::string name_event(const program::Program& program, i64 pp_rank, const pipeline::Action& a) {
  if (is_cell(a.kind))
    return fmt::format("{}{}{}", a.stage, "FBIW"[std::size_t(a.kind)], a.microbatch);
  const program::Step& step = program.steps[std::size_t(pp_rank)][a.microbatch];
  return std::string(step.computes() ? name(step.part) : row(step.kind).label);
}

std::vector<planner::EventKind> find_used_kinds(const program::Program& program) {
  std::array<bool, planner::kEventKinds> used{};
  for (i64 r = 0; r < program.pp(); ++r)
    for (const pipeline::Action& a : program.roles[std::size_t(r)])
      if (!is_transfer(a.kind)) used[std::size_t(planner::classify_event(program, r, a))] = true;
  std::vector<planner::EventKind> found;
  for (std::size_t i = 0; i < planner::kEventKinds; ++i)
    if (used[i]) found.push_back(planner::EventKind(i));
  return found;
}

std::vector<i64> select_ranks_to_draw(i64 pp, i64 max) {
  const i64 drawn = std::min(pp, max);
  std::vector<i64> ranks;
  for (i64 i = 0; i < drawn; ++i)
    ranks.push_back(drawn < 2 ? 0 : (i * (pp - 1) + (drawn - 1) / 2) / (drawn - 1));
  return ranks;
}

double Column::backward() const {
  return of(planner::EventKind::backward) + of(planner::EventKind::input_grad) +
         of(planner::EventKind::weight_grad);
}

double Column::busy() const {
  double sum = 0;
  for (const double one : share) sum += one;
  return sum;
}

std::vector<Column> columns(const planner::SimulatedStep& p, i64 pp_rank, std::size_t count) {
  std::vector<Column> all(count);
  const double width = p.timeline.end.value / double(count);
  if (!(width > 0)) return all;
  std::vector<Column> beside(count);
  for (const program::Event& e : events(p, pp_rank)) {
    const planner::EventKind kind = planner::classify_event(p.program, pp_rank, e.action);
    add_event(e, width, kind, planner::is_beside(p.program, pp_rank, e.action) ? beside : all);
  }
  // Overlapped steps are visible only where no cell runs.
  for (std::size_t c = 0; c < count; ++c)
    for (std::size_t kind = 0; kind < planner::kEventKinds; ++kind)
      all[c].share[kind] += std::min(beside[c].share[kind], std::max(0.0, 1 - all[c].busy()));
  return all;
}

}  // namespace rankwright::report
