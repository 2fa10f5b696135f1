// The glossary, docs/reference/glossary.md, as data: `rankwright explain TERM` answers from the
// same text that the documentation shows.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rankwright::catalog {

/// One entry of the glossary.
struct Term {
  std::string name;               // "virtual stage"
  std::vector<std::string> also;  // "chunk", "model chunk"
  std::string definition;         // one line of plain sentences
};

/// Returns all entries, in the order of the page.
std::span<const Term> glossary();

/// Returns the entry of a term or of another name for it, in any case, its words joined by blanks,
/// hyphens or underscores. Null if there is none.
const Term* find_term(std::string_view word);

/// Reads entries: a heading "## term", paragraphs, and an optional line "Also: a, b.".
std::vector<Term> parse_glossary(std::string_view markdown);

}  // namespace rankwright::catalog
