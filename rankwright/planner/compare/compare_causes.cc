#include "rankwright/planner/compare/compare_causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rankwright/planner/compare/compare_facts.h"

namespace rankwright::planner {
namespace {

const CommunicationRow* find_traffic(const ExplainView& explain_view, plan::TrafficKind kind) {
  for (const CommunicationRow& c : explain_view.communication)
    if (c.evaluated.traffic.kind == kind) return &c;
  return nullptr;
}

/// Returns the collective that the item waits for the longest; null if it waits for none.
const CommunicationRow* find_longest(const ExplainView& explain_view, cost::Item item) {
  const CommunicationRow* max = nullptr;
  for (const CommunicationRow& c : explain_view.communication)
    if (cost::find_item(c.evaluated.traffic.kind) == item &&
        (max == nullptr || c.evaluated.total > max->evaluated.total))
      max = &c;
  return max;
}

/// Selects, for both plans, the collective of the item whose time differs most. A plan without that
/// collective gets its longest one.
void select_collectives(FactContext& a, FactContext& b) {
  Seconds max{-1};
  for (const plan::TrafficKindRow& kind : plan::list_traffic_kinds()) {
    const CommunicationRow* const in_a = find_traffic(a.plan.explain_view, kind.kind);
    const CommunicationRow* const in_b = find_traffic(b.plan.explain_view, kind.kind);
    const CommunicationRow* const any = in_a != nullptr ? in_a : in_b;
    if (any == nullptr || cost::find_item(any->evaluated.traffic.kind) != a.item) continue;
    const auto time = [](const CommunicationRow* c) {
      return c == nullptr ? Seconds{} : c->evaluated.total;
    };
    const Seconds apart{std::abs((time(in_b) - time(in_a)).value)};
    if (apart <= max) continue;
    max = apart;
    a.collective = in_a != nullptr ? in_a : find_longest(a.plan.explain_view, a.item);
    b.collective = in_b != nullptr ? in_b : find_longest(b.plan.explain_view, b.item);
  }
}

std::string join_texts(const std::vector<std::string>& all) {
  return fmt::format("{}", fmt::join(all, ", "));
}

std::string describe_all(const Facts& facts) {
  std::vector<std::string> texts;
  for (const Fact& fact : facts)
    if (!fact.value.empty()) texts.push_back(fact.text());
  return join_texts(texts);
}

/// Returns "TP all-gather" or "DP reduce-scatter instead of DP all-reduce"; empty if the item has
/// only one collective.
std::string name_collectives(const FactContext& a, const FactContext& b) {
  const auto kinds = [](const FactContext& s) {
    const std::vector<CommunicationRow>& all = s.plan.explain_view.communication;
    return std::count_if(all.begin(), all.end(), [&](const CommunicationRow& c) {
      return cost::find_item(c.evaluated.traffic.kind) == s.item;
    });
  };
  const auto label = [](const FactContext& s) {
    return s.collective == nullptr ? std::string()
                                   : std::string(row(s.collective->evaluated.traffic.kind).label);
  };
  const std::string in_a = label(a), in_b = label(b);
  if (kinds(a) < 2 && kinds(b) < 2 && (in_a.empty() || in_b.empty() || in_a == in_b)) return {};
  if (in_a.empty() || in_a == in_b) return in_b;
  return in_b.empty() ? in_a : in_b + " instead of " + in_a;
}

/// The differing facts first, then the equal ones.
struct Contrast {
  std::string words{};
  bool differs = true;
};

/// Returns "on infiniband instead of nvlink, over 16 ranks instead of 8 (in both 3,840 calls)",
/// preceded by `whose`.
Contrast make_contrast(const Facts& a, const Facts& b, const std::string& whose) {
  const std::string begin = whose.empty() ? "" : fmt::format("most of it {}, ", whose);
  if (a.size() != b.size())
    return b.size() > a.size() ? Contrast{"only in B: " + begin + describe_all(b)}
                               : Contrast{"only in A: " + begin + describe_all(a)};
  std::vector<std::string> unlike, alike;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool same = a[i].value == b[i].value, none = b[i].value.empty();
    if (same && (none || a[i].only_if_unlike)) continue;
    if (same)
      alike.push_back(b[i].text());
    else if (a[i].value.empty() || none)
      unlike.push_back(none ? "not " + a[i].text() : b[i].text());
    else
      unlike.push_back(b[i].text() + " instead of " + a[i].value);
  }
  if (unlike.empty())
    return {alike.empty() ? whose : begin + "in both " + join_texts(alike), false};
  return {begin + join_texts(unlike) +
          (alike.empty() ? "" : fmt::format(" (in both {})", join_texts(alike)))};
}

/// Returns the explanation; empty if there is nothing to explain.
std::string explain_item(const CauseRow& row, const TimeRow& time, const ComparedPlan& plan_a,
                         const ComparedPlan& plan_b) {
  FactContext a{plan_a, row.item}, b{plan_b, row.item};
  select_collectives(a, b);
  const Contrast found =
      make_contrast(time.a > Seconds{} ? row.facts(a) : Facts{},
                    time.b > Seconds{} ? row.facts(b) : Facts{}, name_collectives(a, b));
  return row.follows && !found.differs ? std::string() : found.words;
}

}  // namespace

std::vector<Cause> find_causes(const ComparedPlan& a, const ComparedPlan& b,
                               const std::vector<TimeRow>& rows) {
  constexpr std::size_t kMax = 3;
  constexpr double kMin = 0.1;  // of the largest difference
  std::vector<TimeRow> largest = rows;
  std::stable_sort(largest.begin(), largest.end(), [](const TimeRow& x, const TimeRow& y) {
    return std::abs(x.difference().value) > std::abs(y.difference().value);
  });
  std::vector<Cause> found;
  for (const TimeRow& time : largest) {
    const double apart = std::abs(time.difference().value);
    if (found.size() == kMax || apart <= 0) break;
    if (!found.empty() && apart < kMin * std::abs(found.front().difference.value)) break;
    std::string words = explain_item(find_cause_row(time.item), time, a, b);
    if (!words.empty()) found.push_back({time.item, time.difference(), std::move(words)});
  }
  return found;
}

}  // namespace rankwright::planner
