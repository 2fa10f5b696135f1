#include "rankwright/lab/question.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "rankwright/base/check.h"
#include "rankwright/base/format.h"
#include "rankwright/base/quantity.h"

namespace rankwright::lab {
namespace {

/// Parses "32", and "32.0" as calculators write it.
Result<double> parse_whole(std::string_view text) {
  const Result<i64> n = parse_count(text, 0);
  if (n) return double(*n);
  const Result<double> real = parse_real(text);
  if (real && *real >= 0 && *real == std::floor(*real)) return *real;
  return fail(n.error());
}

/// Parses "2.5", and the factor "2.5x".
Result<double> parse_number(std::string_view text) {
  const std::size_t last = text.find_last_not_of(" \t");
  const bool times = last != std::string_view::npos && text[last] == 'x';
  return parse_real(times ? text.substr(0, last) : text);
}

/// Parses "8.57 %". The sign is required: without it, 0.0857 and 8.57 could both be meant.
Result<double> parse_percent(std::string_view text) {
  const std::size_t sign = text.find_last_not_of(" \t");
  if (sign == std::string_view::npos || text[sign] != '%')
    return fail({.code = "RW0909",
                 .message = "not a number with a unit",
                 .detail = fmt::format("'{}' has no % sign", make_excerpt(text)),
                 .hint = "for example 12.3 %"});
  const Result<double> n = parse_real(text.substr(0, sign));
  if (!n) return fail(n.error());
  return *n / 100;
}

bool same_letter(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

/// Returns `text` with its unit in the case that quantities require. Requires: no two of `units`
/// differ only in case.
std::string fix_unit_case(std::string_view text, std::span<const std::string_view> units) {
  text = text.substr(0, text.find_last_not_of(" \t") + 1);
  for (const std::string_view unit : units) {
    if (text.size() <= unit.size()) continue;
    const std::string_view end = text.substr(text.size() - unit.size());
    if (std::equal(end.begin(), end.end(), unit.begin(), same_letter))
      return std::string(text.substr(0, text.size() - unit.size())) + std::string(unit);
  }
  return std::string(text);
}

// Longer units first: "B" is a suffix of all others.
constexpr std::string_view kSizes[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "kB",
                                       "MB",  "GB",  "TB",  "PB",  "B"};
constexpr std::string_view kTimes[] = {"min", "ns", "us", "ms", "s", "h"};

Result<double> parse_size(std::string_view text) {
  const Result<Bytes> size = parse_bytes(fix_unit_case(text, kSizes));
  if (!size) return fail(size.error());
  return size->value;
}

Result<double> parse_time(std::string_view text) {
  const Result<Seconds> time = parse_duration(fix_unit_case(text, kTimes));
  if (!time) return fail(time.error());
  return time->value;
}

std::string show_whole(double n) { return count(i64(n)); }
std::string show_number(double n) { return fmt::format("{:.3g}", n); }
std::string show_size(double n) {
  return fmt::format("{} ({})", show(Bytes{n}), show_memory(Bytes{n}));
}
std::string show_time(double n) { return show(Seconds{n}); }

constexpr AnswerKindRow kRows[] = {
    {AnswerKind::whole, "whole", "a whole number", "1,234", parse_whole, show_whole},
    {AnswerKind::number, "number", "a number", "2.5", parse_number, show_number},
    {AnswerKind::percent, "percent", "a share with its % sign", "12.3 %", parse_percent, percent},
    {AnswerKind::bytes, "bytes", "a size with its unit, kB to TB or KiB to TiB", "1.5 GB",
     parse_size, show_size},
    {AnswerKind::time, "time", "a time with its unit, us to h", "250 ms", parse_time, show_time},
    {AnswerKind::choice, "choice", "one of the words", "nvlink"},
    {AnswerKind::plan, "plan", "a map in the answer file, or the name of a plan file",
     "my-plan.yaml"},
};

/// Returns whether a character continues a number or a word, so that what touches it is a part of
/// a longer one: "2" in "2,048", "27.3" in "127.3".
bool continues_word(std::string_view text, std::size_t at) {
  if (at >= text.size()) return false;
  const char c = text[at];
  if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') return true;
  const bool joins = c == '.' || c == ',';
  return joins && at + 1 < text.size() &&
         std::isdigit(static_cast<unsigned char>(text[at + 1])) != 0;
}

/// Returns where `word` begins in `text` from `at` on, as contains_word() means it; npos if
/// nowhere.
std::size_t find_word(std::string_view text, std::string_view word, std::size_t at = 0) {
  if (word.empty()) return std::string_view::npos;
  for (at = text.find(word, at); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const bool begins = at == 0 || (std::isalnum(static_cast<unsigned char>(text[at - 1])) == 0 &&
                                    text[at - 1] != '_' &&
                                    !(at >= 2 && (text[at - 1] == '.' || text[at - 1] == ',') &&
                                      std::isdigit(static_cast<unsigned char>(text[at - 2])) != 0));
    if (begins && !continues_word(text, at + word.size())) return at;
  }
  return std::string_view::npos;
}

}  // namespace

std::vector<std::string> list_spellings(const Question& question, const WorkedAnswer& worked) {
  RW_CHECK(question.kind != AnswerKind::plan);
  if (question.kind == AnswerKind::choice)
    return {std::string(question.choices[std::size_t(worked.value)])};
  if (question.kind == AnswerKind::bytes)
    return {show(Bytes{worked.value}), show_memory(Bytes{worked.value})};
  if (question.kind == AnswerKind::whole)
    return {count(i64(worked.value)), std::to_string(i64(worked.value))};
  return {row(question.kind).show(worked.value)};
}

bool contains_word(std::string_view text, std::string_view word) {
  return find_word(text, word) != std::string_view::npos;
}

std::string hide_result(const Question& question, const WorkedAnswer& worked) {
  std::vector<std::string> hidden = list_spellings(question, worked);
  if (question.kind == AnswerKind::choice)
    hidden.assign(question.choices.begin(), question.choices.end());
  std::string text = worked.arithmetic;
  for (const std::string& word : hidden)
    for (std::size_t at = 0; (at = find_word(text, word, at)) != std::string::npos; ++at)
      text.replace(at, word.size(), "?");
  return text;
}

std::span<const AnswerKindRow> answer_kinds() { return kRows; }

const AnswerKindRow& row(AnswerKind kind) {
  const auto found = std::find_if(std::begin(kRows), std::end(kRows),
                                  [&](const AnswerKindRow& r) { return r.kind == kind; });
  RW_CHECK(found != std::end(kRows));
  return *found;
}

bool near(const Question& question, double answer, double value) {
  return std::abs(answer - value) <= question.tolerance * std::abs(value);
}

}  // namespace rankwright::lab
