#include "rankwright/program/meetings.h"

#include <algorithm>
#include <map>

namespace rankwright {
namespace {

bool crosses_ranks(GroupKind group) {
  return group == GroupKind::edges || group == GroupKind::model || group == GroupKind::world ||
         group == GroupKind::pp;
}

/// A group as one pp rank sees it, and its calls in order: indices into the rank's steps.
using Calls = std::map<GroupKind, std::vector<i64>>;

Calls calls_of(const Program& program, std::size_t pp_rank) {
  Calls calls;
  for (const Action& a : program.roles[pp_rank]) {
    if (a.kind() != ActionKind::step) continue;
    const Step& step = program.steps[pp_rank][a.microbatch];
    if (!step.computes() && crosses_ranks(step.group))
      calls[step.group].push_back(i64(a.microbatch));
  }
  return calls;
}

/// The ranks in one group: all, or for edges those that call it at all.
std::vector<i64> members(const std::vector<Calls>& calls, GroupKind group) {
  std::vector<i64> ranks;
  for (std::size_t r = 0; r < calls.size(); ++r)
    if (group != GroupKind::edges || calls[r].contains(group)) ranks.push_back(i64(r));
  return ranks;
}

bool same_call(const Step& a, const Step& b) {
  return a.kind == b.kind && a.op == b.op && a.bytes == b.bytes;
}

}  // namespace

Meetings meetings(const Program& program) {
  Meetings found;
  std::vector<Calls> calls;
  for (std::size_t r = 0; r < program.roles.size(); ++r) {
    const std::size_t steps = program.steps.empty() ? 0 : program.steps[r].size();
    found.of_step.emplace_back(steps, Meetings::kNone);
    calls.push_back(steps == 0 ? Calls{} : calls_of(program, r));
  }
  std::map<GroupKind, std::size_t> longest;
  for (const Calls& of_rank : calls)
    for (const auto& [group, list] : of_rank)
      longest[group] = std::max(longest[group], list.size());

  for (const auto& [group, length] : longest) {
    const std::vector<i64> ranks = members(calls, group);
    const auto call = [&](i64 rank, std::size_t k) -> std::optional<Step> {
      const std::vector<i64>& list = calls[std::size_t(rank)][group];
      if (k >= list.size()) return std::nullopt;
      return program.steps[std::size_t(rank)][std::size_t(list[k])];
    };
    for (std::size_t k = 0; k < length; ++k) {
      for (const i64 r : ranks) {
        const std::optional<Step> one = call(ranks.front(), k), other = call(r, k);
        const bool same = one && other && same_call(*one, *other);
        if (!same && !found.disorder)
          found.disorder = {ranks.front(), r, i64(k), group, one, other};
        if (other)
          found.of_step[std::size_t(r)][std::size_t(calls[std::size_t(r)][group][k])] =
              i64(found.members.size());
      }
      found.members.push_back(ranks);
    }
  }
  return found;
}

}  // namespace rankwright
