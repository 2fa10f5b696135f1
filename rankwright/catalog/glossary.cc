#include "rankwright/catalog/glossary.h"

#include <algorithm>
#include <cctype>

namespace rankwright::catalog {

extern const std::string_view kGlossaryMd;  // docs/reference/glossary.md

namespace {

constexpr std::string_view kHeading = "## ", kAlso = "Also: ";

/// Returns a term as it is compared: in lower case, without blanks, hyphens and underscores.
std::string fold(std::string_view term) {
  std::string out;
  for (const char c : term)
    if (c != ' ' && c != '-' && c != '_') out += char(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

/// Splits "a, b." at its commas.
std::vector<std::string> split_names(std::string_view list) {
  if (list.ends_with('.')) list.remove_suffix(1);
  std::vector<std::string> names;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(", "), list.size());
    names.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 2, list.size()));
  }
  return names;
}

}  // namespace

std::vector<Term> parse_glossary(std::string_view markdown) {
  std::vector<Term> terms;
  while (!markdown.empty()) {
    const std::size_t end = std::min(markdown.find('\n'), markdown.size());
    const std::string_view line = markdown.substr(0, end);
    markdown.remove_prefix(std::min(end + 1, markdown.size()));
    if (line.starts_with(kHeading)) {
      terms.push_back(
          {.name = std::string(line.substr(kHeading.size())), .also = {}, .definition = {}});
    } else if (terms.empty() || line.empty()) {
      continue;
    } else if (line.starts_with(kAlso)) {
      terms.back().also = split_names(line.substr(kAlso.size()));
    } else {
      std::string& text = terms.back().definition;
      if (!text.empty()) text += ' ';
      text += line;
    }
  }
  return terms;
}

std::span<const Term> glossary() {
  static const std::vector<Term> kTerms = parse_glossary(kGlossaryMd);
  return kTerms;
}

const Term* find_term(std::string_view word) {
  const std::string folded = fold(word);
  for (const Term& term : glossary()) {
    const auto is_named = [&](std::string_view name) { return fold(name) == folded; };
    if (is_named(term.name) || std::any_of(term.also.begin(), term.also.end(), is_named))
      return &term;
  }
  return nullptr;
}

}  // namespace rankwright::catalog
