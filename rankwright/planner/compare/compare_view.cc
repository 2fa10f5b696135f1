#include "rankwright/planner/compare/compare_view.h"

#include <algorithm>
#include <array>

#include "rankwright/planner/compare/compare_causes.h"
#include "rankwright/planner/explain/explain_view.h"

namespace rankwright::planner {
namespace {

constexpr double kMillion = 1e6;

struct BasisRow {
  std::string_view name, words;
};
constexpr std::array<BasisRow, 3> kBases = {{
    {"step", "per step"},
    {"tokens", "per million tokens"},
    {"device_tokens", "of GPU time per million tokens"},
}};

Basis choose_basis(const plan::TrainingConfig& a, const plan::TrainingConfig& b) {
  const bool same = a.model == b.model && a.job.global_batch == b.job.global_batch &&
                    a.job.sequence == b.job.sequence;
  if (same) return Basis::step;
  return a.world == b.world ? Basis::tokens : Basis::device_tokens;
}

/// Returns the factor from the time of a step to the basis.
double find_scale(const plan::TrainingConfig& s, Basis basis) {
  switch (basis) {
    case Basis::step:
      return 1;
    case Basis::tokens:
      return kMillion / tokens_per_step(s);
    case Basis::device_tokens:
      return double(s.world) * kMillion / tokens_per_step(s);
  }
  return 1;
}

std::vector<TimeRow> make_time_rows(const plan::TrainingConfig& a, const plan::TrainingConfig& b,
                                    const CompareView& view) {
  const double of_a = find_scale(a, view.basis), of_b = find_scale(b, view.basis);
  std::vector<TimeRow> rows;
  for (const cost::ItemRow& of : cost::items()) {
    const TimeRow row{of.item, of_a * view.a.step[of.item], of_b * view.b.step[of.item]};
    if (row.a > Seconds{} || row.b > Seconds{}) rows.push_back(row);
  }
  return rows;
}

std::vector<MemoryRow> make_memory_rows(const CompareView& view) {
  std::vector<MemoryRow> rows;
  for (const cost::EntryRow& of : cost::entries()) {
    const MemoryRow row{of.entry, view.a.memory[of.entry], view.b.memory[of.entry]};
    if (row.a > Bytes{} || row.b > Bytes{}) rows.push_back(row);
  }
  return rows;
}

}  // namespace

std::string_view name(Basis basis) { return kBases[std::size_t(basis)].name; }
std::string_view words(Basis basis) { return kBases[std::size_t(basis)].words; }

double tokens_per_step(const plan::TrainingConfig& s) {
  return double(s.job.global_batch) * double(s.job.sequence);
}

double CompareView::gap() const {
  return std::max(total_a, total_b) / std::min(total_a, total_b) - 1;
}

CompareView make_compare_view(const plan::TrainingConfig& a, const plan::TrainingConfig& b) {
  const ExplainView view_a = make_explain_view(a), view_b = make_explain_view(b);
  CompareView view{.a = view_a.estimate,
                   .b = view_b.estimate,
                   .basis = choose_basis(a, b),
                   .within = cost::find_tie_band(a, b),
                   .paired = cost::paired(a, b)};
  view.keys = find_key_differences(a, b);
  view.items = make_time_rows(a, b, view);
  for (const TimeRow& row : view.items) view.total_a += row.a, view.total_b += row.b;
  view.entries = make_memory_rows(view);
  const bool by_token = view.basis != Basis::step;
  view.causes = find_causes({a, view_a, find_scale(a, view.basis), by_token},
                            {b, view_b, find_scale(b, view.basis), by_token}, view.items);
  return view;
}

}  // namespace rankwright::planner
