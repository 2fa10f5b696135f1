#include "rankwright/planner/concept/concept_page.h"

#include <gtest/gtest.h>

#include <set>

#include "rankwright/planner/explain.h"

namespace rankwright::planner {
namespace concept_page_test {

/// Returns the labels of the texts that a page has.
std::set<std::string_view> labels_of(const ConceptPage& page) {
  std::set<std::string_view> labels;
  for (const ConceptLine& line : concept_lines())
    if (!(page.*line.text).empty()) labels.insert(line.label);
  return labels;
}

TEST(ConceptPages, EveryName_FindsItsPage) {
  std::set<std::string_view> terms;
  ASSERT_FALSE(concept_pages().empty());
  for (const ConceptPage& page : concept_pages()) {
    EXPECT_TRUE(terms.insert(page.term).second) << page.term;
    const catalog::Term& entry = page.entry();
    std::vector<std::string> names = entry.also;
    names.push_back(entry.name);
    names.emplace_back(page.typed);
    for (const std::string& name : names) {  // no code and no plan key has the name
      const Outcome<ExplainTermAnswer> answer = explain_term(name);
      ASSERT_TRUE(answer.has_value()) << name;
      EXPECT_EQ(answer->concept_page, &page) << name;
    }
  }
  EXPECT_EQ(find_concept("headroom"), nullptr);  // a term without a page
  EXPECT_EQ(find_concept(""), nullptr);
}

TEST(ConceptPages, EveryAxis_SaysWhatIsSplitSynchronizedGainedAndMeasured) {
  for (const ConceptPage& page : axis_pages()) {
    EXPECT_EQ(labels_of(page),
              (std::set<std::string_view>{"splits", "copies", "sync", "when", "link", "gains",
                                          "costs", "failure", "measure"}))
        << page.term;
    EXPECT_TRUE(page.item.has_value()) << page.term;
  }
}

TEST(ConceptPages, EveryCollective_HasOnePageWithBytesStepsAndUse) {
  ASSERT_EQ(collective_pages().size(), collectives().size());
  for (std::size_t k = 0; k < collectives().size(); ++k) {
    const ConceptPage& page = collective_pages()[k];
    EXPECT_EQ(page.collective, collectives()[k].collective);
    EXPECT_EQ(page.term, collectives()[k].name);
    EXPECT_EQ(labels_of(page), (std::set<std::string_view>{"bytes", "steps", "used", "relation",
                                                           "failure", "measure"}))
        << page.term;
  }
}

TEST(ConceptPages, EveryText_IsSentencesAndEveryLabelFitsItsColumn) {
  for (const ConceptLine& line : concept_lines()) EXPECT_LE(line.label.size(), 9u) << line.label;
  for (const ConceptPage& page : concept_pages()) {
    for (const ConceptLine& line : concept_lines()) {
      const std::string_view text = page.*line.text;
      EXPECT_TRUE(text.empty() || text.ends_with('.')) << page.term << ": " << text;
    }
    EXPECT_FALSE(page.failure.empty()) << page.term;
    EXPECT_FALSE(page.measure.empty()) << page.term;
    EXPECT_FALSE(page.next[0].empty()) << page.term;
  }
}

TEST(ExplainTerm, MisspelledConcept_IsRefusedWithTheNearestName) {
  for (const auto& [typed, meant] :
       {std::pair{"all-reduse", "all-reduce"}, std::pair{"brodcast", "broadcast"}}) {
    const Outcome<ExplainTermAnswer> answer = explain_term(typed);
    ASSERT_FALSE(answer.has_value());
    EXPECT_NE(answer.error().hint.find(meant), std::string::npos) << answer.error().hint;
  }
}

}  // namespace concept_page_test
}  // namespace rankwright::planner
