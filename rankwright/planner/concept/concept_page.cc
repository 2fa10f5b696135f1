#include "rankwright/planner/concept/concept_page.h"

#include <vector>

#include "rankwright/base/check.h"

namespace rankwright::planner {
namespace {

constexpr ConceptLine kConceptLines[] = {
    {"formula", &ConceptPage::formula}, {"bytes", &ConceptPage::bytes},
    {"steps", &ConceptPage::steps},     {"splits", &ConceptPage::splits},
    {"copies", &ConceptPage::copies},   {"sync", &ConceptPage::sync},
    {"when", &ConceptPage::when},       {"link", &ConceptPage::link},
    {"used", &ConceptPage::used},       {"relation", &ConceptPage::relation},
    {"gains", &ConceptPage::gains},     {"costs", &ConceptPage::costs},
    {"failure", &ConceptPage::failure}, {"measure", &ConceptPage::measure},
};

}  // namespace

const catalog::Term& ConceptPage::entry() const {
  const catalog::Term* const found = catalog::find_term(term);
  RW_CHECK(found != nullptr);
  return *found;
}

std::span<const ConceptLine> concept_lines() { return kConceptLines; }

std::span<const ConceptPage> concept_pages() {
  static const std::vector<ConceptPage> kPages = [] {
    std::vector<ConceptPage> all;
    for (const std::span<const ConceptPage> part :
         {collective_pages(), axis_pages(), pipeline_and_run_pages()})
      all.insert(all.end(), part.begin(), part.end());
    return all;
  }();
  return kPages;
}

const ConceptPage* find_concept(std::string_view word) {
  const catalog::Term* const term = catalog::find_term(word);
  if (term == nullptr) return nullptr;
  for (const ConceptPage& page : concept_pages())
    if (page.term == term->name) return &page;
  return nullptr;
}

}  // namespace rankwright::planner
