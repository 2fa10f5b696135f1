#include "rankwright/planner/typo_costs.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/estimate.h"
#include "rankwright/plan/constraint_violation.h"
#include "rankwright/planner/compare/key_differences.h"

namespace rankwright::planner {
namespace {

constexpr int kMaxTypos = 8;  // files are untrusted, and each costs an estimate
constexpr std::size_t kMaxKeys = 4;

/// Returns the offset of a position in `text`.
std::optional<std::size_t> find_offset(std::string_view text, const Location& where) {
  std::size_t begin = 0;
  for (int line = 1; line < where.line; ++line) {
    begin = text.find('\n', begin);
    if (begin == std::string_view::npos) return std::nullopt;
    ++begin;
  }
  if (where.line < 1 || where.column < 1) return std::nullopt;
  return begin + std::size_t(where.column) - 1;
}

/// Flags are spelled with dashes or underscores.
bool is_same_word(std::string_view a, std::string_view b) {
  const auto plain = [](char c) { return c == '_' ? '-' : c; };
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                            [&](char x, char y) { return plain(x) == plain(y); });
}

/// Returns `text` with the typo corrected; nothing if the word is not where the finding points.
std::optional<std::string> respell(std::string_view text, const Diagnostic& found) {
  std::optional<std::size_t> at = find_offset(text, found.where);
  if (!at) return std::nullopt;
  const Respelling& word = *found.respelling;
  const bool quoted = *at < text.size() && (text[*at] == '"' || text[*at] == '\'');
  if (quoted) ++*at;
  if (*at > text.size() || !is_same_word(text.substr(*at, word.typed.size()), word.typed))
    return std::nullopt;
  std::string corrected(text);
  return corrected.replace(*at, word.typed.size(), word.meant);
}

/// Returns "parallelism.zero_stage 1 instead of 0"; empty if the configs are equal.
std::string describe_keys(const plan::TrainingConfig& now, const plan::TrainingConfig& meant) {
  std::vector<KeyDifference> all = find_key_differences(now, meant);
  // Assumptions follow the keys that are stated.
  std::erase_if(all, [](const KeyDifference& one) { return one.b_assumed; });
  std::string text;
  for (std::size_t i = 0; i < std::min(all.size(), kMaxKeys); ++i)
    text += fmt::format("{}{} {} instead of {}", i == 0 ? "" : ", ", all[i].key, all[i].b,
                        all[i].a.empty() ? "none" : all[i].a);
  if (all.size() > kMaxKeys) text += fmt::format(", and {} more", all.size() - kMaxKeys);
  return text;
}

std::string describe_costs(const plan::TrainingConfig& now, const plan::TrainingConfig& meant) {
  if (!find_violations(now).empty()) return {};
  if (!find_violations(meant).empty()) return "; that plan has errors of its own";
  const cost::Estimate a = cost::estimate_closely(now, select_calibration(now));
  const cost::Estimate b = cost::estimate_closely(meant, select_calibration(meant));
  const std::string step = fmt::format("step {} instead of {}", show(b.time()), show(a.time()));
  return fmt::format("; memory {} instead of {}, {}", show_memory(b.memory.total()),
                     show_memory(a.memory.total()), step);
}

std::optional<std::string> describe_typo(const PlanSource& source, const PlanInput& input,
                                         const Diagnostic& found) {
  const std::optional<std::string> text = respell(input.file.text, found);
  if (!text) return std::nullopt;
  PlanSource corrected = source;
  corrected.plan.text = *text;
  corrected.format = input.file.format;
  const PlanInput meant = read_input(corrected);
  if (!meant.config) return "corrected, the file has errors of its own";
  const std::string keys = describe_keys(*input.config, *meant.config);
  if (keys.empty()) return "corrected, the plan stays the same";
  return fmt::format("corrected: {}{}", keys, describe_costs(*input.config, *meant.config));
}

}  // namespace

void add_typo_costs(const PlanSource& source, const PlanInput& input, Diagnostics& findings) {
  if (!input.config) return;
  int typos = 0;
  for (Diagnostic& found : findings) {
    if (!found.respelling || ++typos > kMaxTypos) continue;
    if (std::optional<std::string> note = describe_typo(source, input, found))
      found.notes.push_back(std::move(*note));
  }
}

}  // namespace rankwright::planner
