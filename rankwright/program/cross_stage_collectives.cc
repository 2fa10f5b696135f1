#include "rankwright/program/cross_stage_collectives.h"

#include <algorithm>
#include <map>
#include <set>

namespace rankwright::program {
namespace {

bool crosses_ranks(mesh::GroupKind group) {
  return group == mesh::GroupKind::edges || group == mesh::GroupKind::mirror ||
         group == mesh::GroupKind::model || group == mesh::GroupKind::world ||
         group == mesh::GroupKind::pp;
}

/// The collective calls of one pp rank in order, by group kind: indices into the rank's steps.
using CallsByGroup = std::map<mesh::GroupKind, std::vector<i64>>;

CallsByGroup find_calls(const Program& program, std::size_t pp_rank) {
  CallsByGroup calls;
  for (const pipeline::Action& a : program.roles[pp_rank]) {
    if (a.kind != pipeline::ActionKind::step) continue;
    const Step& step = program.steps[pp_rank][a.microbatch];
    if (!step.computes() && crosses_ranks(step.group))
      calls[step.group].push_back(i64(a.microbatch));
  }
  return calls;
}

/// Returns the groups of a kind as lists of pp ranks: for `mirror` one pair per group, for `edges`
/// one group of the ranks that call it, otherwise one group of all pp ranks.
std::vector<std::vector<i64>> find_groups(const std::vector<CallsByGroup>& calls,
                                          mesh::GroupKind kind) {
  const i64 pp = i64(calls.size());
  std::vector<std::vector<i64>> all;
  if (kind == mesh::GroupKind::mirror) {
    for (i64 r = 0; r < pp / 2; ++r) all.push_back({r, pp - 1 - r});
    return all;
  }
  all.emplace_back();
  for (i64 r = 0; r < pp; ++r)
    if (kind != mesh::GroupKind::edges || calls[std::size_t(r)].contains(kind)) all[0].push_back(r);
  return all;
}

bool same_call(const Step& a, const Step& b) {
  return a.kind == b.kind && a.op == b.op && a.bytes == b.bytes;
}

/// Pairs the k-th calls of all members of a group and records the first mismatch.
class CrossStageMatcher {
 public:
  CrossStageMatcher(const Program& program, std::vector<CallsByGroup>& calls,
                    CrossStageCollectives& found)
      : program_(program), calls_(calls), found_(found) {}

  void match(mesh::GroupKind kind, const std::vector<i64>& ranks) {
    std::size_t length = 0;
    for (const i64 r : ranks) length = std::max(length, list(r, kind).size());
    for (std::size_t k = 0; k < length; ++k) {
      for (const i64 r : ranks) {
        compare(kind, k, ranks.front(), r);
        if (k < list(r, kind).size())
          found_.of_step[std::size_t(r)][std::size_t(list(r, kind)[k])] =
              i64(found_.members.size());
      }
      found_.members.push_back(ranks);
    }
  }

 private:
  const std::vector<i64>& list(i64 rank, mesh::GroupKind kind) {
    return calls_[std::size_t(rank)][kind];
  }

  std::optional<Step> call(i64 rank, mesh::GroupKind kind, std::size_t k) {
    if (k >= list(rank, kind).size()) return std::nullopt;
    return program_.steps[std::size_t(rank)][std::size_t(list(rank, kind)[k])];
  }

  void compare(mesh::GroupKind kind, std::size_t k, i64 one, i64 other) {
    const std::optional<Step> a = call(one, kind, k), b = call(other, kind, k);
    const bool same = a && b && same_call(*a, *b);
    if (!same && !found_.mismatch) found_.mismatch = {one, other, i64(k), kind, a, b};
  }

  const Program& program_;
  std::vector<CallsByGroup>& calls_;
  CrossStageCollectives& found_;
};

}  // namespace

CrossStageCollectives find_cross_stage_collectives(const Program& program) {
  CrossStageCollectives found;
  std::vector<CallsByGroup> calls;
  std::set<mesh::GroupKind> kinds;
  for (std::size_t r = 0; r < program.roles.size(); ++r) {
    const std::size_t steps = program.steps.empty() ? 0 : program.steps[r].size();
    found.of_step.emplace_back(steps, CrossStageCollectives::kNone);
    calls.push_back(steps == 0 ? CallsByGroup{} : find_calls(program, r));
    for (const auto& [kind, list] : calls.back()) kinds.insert(kind);
  }
  for (const mesh::GroupKind kind : kinds)
    for (const std::vector<i64>& ranks : find_groups(calls, kind))
      CrossStageMatcher(program, calls, found).match(kind, ranks);
  return found;
}

}  // namespace rankwright::program
