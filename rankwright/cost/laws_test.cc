// Laws of the estimate over random plans: the communication of a step, of the communication table
// and of the simulated Program is one number, and the parts of every sum add up to it.
// `scripts/check_laws` runs them over 10,000 plans.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <cmath>
#include <map>

#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/estimate.h"
#include "rankwright/cost/traffic_cost.h"
#include "rankwright/program/body.h"
#include "rankwright/program/expand.h"
#include "tests/support/any_config.h"
#include "tests/support/sample.h"

namespace rankwright::cost::laws_test {
namespace {

using any_config::coin;
using any_config::one_of;

/// Returns a valid config on a random cluster, with random software and overlap.
plan::TrainingConfig random_law_config() {
  plan::TrainingConfig config = sample::random_config();
  config.cluster = any_config::random_cluster(config.world);
  config.plan.overlap = {coin(), coin(), coin(), coin(), coin()};
  config.plan.dispatcher = plan::Dispatcher(one_of({0, 1}));
  config.software = any_config::random_software();
  config.job.matmul = plan::Matmul(one_of({0, 1}));
  RC_PRE(!find_first_violation(config));
  return config;
}

bool near(Seconds a, Seconds b) {
  return std::abs((a - b).value) <= 1e-9 * std::max(a.value, b.value) + 1e-15;
}

using TimeByItem = std::array<Seconds, kItems>;

/// Returns the time of the table's rows by item: of the mean pp rank, for dp of `heaviest`.
TimeByItem sum_table(const plan::TrainingConfig& config, i64 heaviest) {
  Links links(config, catalog::get_calibration());
  TimeByItem sums{};
  Seconds tied{};
  bool tied_on_heaviest = false;
  for (i64 r = 0; r < config.plan.pp; ++r)
    for (const TrafficCost& row : estimate_traffic(config, r, links)) {
      const Item item = find_item(row.traffic.kind);
      Seconds& sum = sums[std::size_t(item)];
      if (item != Item::dp) sum += row.total / double(config.plan.pp);
      if (item == Item::dp && r == heaviest) sum += row.total;
      if (row.traffic.kind != plan::TrafficKind::tied_embedding_grad) continue;
      tied = row.total;
      if (r == heaviest) tied_on_heaviest = true;
    }
  // All ranks wait for the two that reduce the gradient of a shared vocabulary weight.
  if (!tied_on_heaviest) sums[std::size_t(Item::dp)] += tied;
  return sums;
}

constexpr Item kCommunication[] = {Item::tp, Item::cp, Item::ep, Item::sends, Item::dp};

RC_GTEST_PROP(Laws, ExposedAndOverlappedTime_IsCallsTimesTimePerCall, ()) {
  const plan::TrainingConfig config = random_law_config();
  const StepTime step = estimate_step_time(config, catalog::get_calibration());
  const TimeByItem table = sum_table(config, step.heaviest);
  for (const Item item : kCommunication) {
    RC_LOG() << row(item).name << ": step " << step.comm(item).exposed.value << " + "
             << step.comm(item).overlapped.value << ", table " << table[std::size_t(item)].value
             << "\n";
    RC_ASSERT(step.comm(item).exposed >= Seconds{});
    RC_ASSERT(step.comm(item).overlapped >= -1e-9 * step.comm(item).exposed);
    RC_ASSERT(near(step.comm(item).total(), table[std::size_t(item)]));
  }
}

/// Returns the time of all calls of a pp rank of the Program, by kind.
std::map<plan::TrafficKind, Seconds> sum_program(const plan::TrainingConfig& config,
                                                 const program::Program& program, i64 pp_rank,
                                                 Links& links) {
  std::map<plan::TrafficKind, Seconds> sums;
  const auto add = [&](const program::Body& body) {
    for (const program::Step& step : body) {
      if (step.computes()) continue;
      links.add(config, step.group);
      sums[step.kind] += links.time(step.kind, step.op, step.bytes, step.group);
    }
  };
  for (const pipeline::Action& action : program.roles[std::size_t(pp_rank)]) {
    if (is_cell(action.kind)) add(program.bodies[action.stage][std::size_t(action.kind)]);
    if (!is_send(action.kind)) continue;
    const bool forward = is_activation(action.kind);
    add({{.kind = forward ? plan::TrafficKind::pp_forward : plan::TrafficKind::pp_backward,
          .op = plan::Op::send_recv,
          .group = mesh::GroupKind::pp,
          .bytes = program::count_transfer_bytes(config, boundary(action))}});
  }
  add(program.steps[std::size_t(pp_rank)]);
  return sums;
}

RC_GTEST_PROP(Laws, ProgramSpendsWhatTheTableSays, ()) {
  const plan::TrainingConfig config = random_law_config();
  RC_PRE(program::bound_expansion_bytes(config) <= program::kMaxExpansion);
  const program::Program program = program::expand(config);
  Links links(config, catalog::get_calibration());
  for (i64 r = 0; r < config.plan.pp; ++r) {
    std::map<plan::TrafficKind, Seconds> spent = sum_program(config, program, r, links);
    for (const TrafficCost& row : estimate_traffic(config, r, links)) {
      RC_LOG() << plan::row(row.traffic.kind).label << ": program " << spent[row.traffic.kind].value
               << ", table " << row.total.value << "\n";
      RC_ASSERT(near(spent[row.traffic.kind], row.total));
      spent.erase(row.traffic.kind);
    }
    RC_ASSERT(spent.empty());
  }
}

RC_GTEST_PROP(Laws, PartsAddUpToTheirSums, ()) {
  const plan::TrainingConfig config = random_law_config();
  const Estimate estimate = estimate_plan(config, catalog::get_calibration());
  Seconds sum{};
  for (const ItemRow& row : cost::items()) sum += estimate.step[row.item];
  RC_ASSERT(near(sum, estimate.time()));
  Bytes bytes{};
  for (const EntryRow& row : entries()) bytes += estimate.memory[row.entry];
  RC_ASSERT(std::abs(bytes / estimate.memory.total() - 1) < 1e-9);
}

}  // namespace
}  // namespace rankwright::cost::laws_test
