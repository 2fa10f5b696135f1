#include "rankwright/planner/typo_costs.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/estimate.h"
#include "rankwright/plan/constraint_violation.h"
#include "rankwright/planner/explain/key_differences.h"

namespace rankwright::planner {
namespace {

constexpr std::size_t kMaxTypos = 8;  // files are untrusted, and each costs an estimate
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

/// Returns the findings that correct a word of the file, the last word first: positions before a
/// correction stay valid.
Diagnostics list_typos(const Diagnostics& findings, std::string_view file) {
  Diagnostics typos;
  for (const Diagnostic& d : findings)
    if (d.respelling && d.where.file == file) typos.push_back(d);
  std::stable_sort(typos.begin(), typos.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::pair(a.where.line, a.where.column) > std::pair(b.where.line, b.where.column);
  });
  if (typos.size() > kMaxTypos) typos.resize(kMaxTypos);
  return typos;
}

std::string describe_costs(const plan::TrainingConfig& now, const plan::TrainingConfig& meant) {
  if (!find_violations(now).empty()) return {};
  if (!find_violations(meant).empty()) return "; that plan has other errors";
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
  if (!meant.config) return "corrected, the file has other errors";
  const std::string keys = describe_keys(*input.config, *meant.config);
  if (keys.empty()) return "corrected, the plan does not change";
  return fmt::format("corrected: {}{}", keys, describe_costs(*input.config, *meant.config));
}

/// Returns the memory of the plan with every misspelled word corrected: "with the 2 misspelled
/// settings corrected: 62.7 GiB, fits with margin". Nothing if no word can be corrected, or if the
/// memory does not change.
std::optional<std::string> describe_memory_without_typos(const PlanSource& source,
                                                         const PlanInput& input,
                                                         const Diagnostics& findings) {
  if (!find_violations(*input.config).empty()) return std::nullopt;
  PlanSource corrected = source;
  corrected.plan.text = input.file.text;
  corrected.format = input.file.format;
  i64 words = 0;
  for (const Diagnostic& typo : list_typos(findings, input.file.name))
    if (std::optional<std::string> text = respell(corrected.plan.text, typo)) {
      corrected.plan.text = std::move(*text);
      ++words;
    }
  if (words == 0) return std::nullopt;
  const PlanInput meant = read_input(corrected);
  if (!meant.config || !find_violations(*meant.config).empty()) return std::nullopt;
  const auto estimate = [](const plan::TrainingConfig& config) {
    return cost::estimate_closely(config, select_calibration(config));
  };
  const cost::Estimate after = estimate(*meant.config);
  if (after.memory.total() == estimate(*input.config).memory.total()) return std::nullopt;
  return fmt::format("with the {} corrected: {}, {}",
                     plural(words, "misspelled setting", "misspelled settings"),
                     show_memory(after.memory.total()), name(after.verdict()));
}

}  // namespace

std::optional<CorrectedText> correct_spelling(const CheckRequest& request,
                                              const CheckAnswer& answer) {
  const auto count_errors = [](const CheckAnswer& one) {
    return std::count_if(one.findings.begin(), one.findings.end(),
                         [](const Diagnostic& d) { return d.severity == Severity::error; });
  };
  CorrectedText best{.text = answer.file.text};
  i64 errors = count_errors(answer);
  for (const Diagnostic& typo : list_typos(answer.findings, answer.file.name)) {
    std::optional<std::string> text = respell(best.text, typo);
    if (!text) continue;
    CheckRequest corrected = request;
    corrected.plan.plan.text = *text;
    Outcome<CheckAnswer> checked = check_plan(corrected);
    if (!checked || count_errors(*checked) > errors) continue;
    errors = count_errors(*checked);
    best.answer = std::move(*checked);
    best.text = std::move(*text);
    best.words.push_back(
        fmt::format("'{}' to '{}'", typo.respelling->typed, typo.respelling->meant));
  }
  if (best.words.empty()) return std::nullopt;
  return best;
}

void add_typo_costs(const PlanSource& source, const PlanInput& input, Diagnostics& findings) {
  if (!input.config) return;
  std::size_t typos = 0;
  for (Diagnostic& found : findings) {
    if (!found.respelling || ++typos > kMaxTypos) continue;
    if (std::optional<std::string> note = describe_typo(source, input, found))
      found.notes.push_back(std::move(*note));
  }
  if (typos == 0) return;
  for (Diagnostic& found : findings)
    if (found.code == "RW0201")
      if (std::optional<std::string> note = describe_memory_without_typos(source, input, findings))
        found.notes.push_back(std::move(*note));
}

}  // namespace rankwright::planner
