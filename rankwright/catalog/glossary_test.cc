#include "rankwright/catalog/glossary.h"

#include <gmock/gmock.h>

#include <set>

namespace rankwright::catalog {
namespace glossary_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ParseGlossary, Section_GivesNameOtherNamesAndDefinition) {
  const std::vector<Term> terms = parse_glossary(
      "# Glossary\n\nIgnored.\n\n## virtual stage\n\nOne of\nseveral.\n\nAlso: chunk, model "
      "chunk.\n"
      "\n## rank\n\nA process.\n");
  ASSERT_EQ(terms.size(), 2u);
  EXPECT_EQ(terms[0].name, "virtual stage");
  EXPECT_EQ(terms[0].definition, "One of several.");
  EXPECT_THAT(terms[0].also, ElementsAre("chunk", "model chunk"));
  EXPECT_EQ(terms[1].name, "rank");
  EXPECT_THAT(terms[1].also, IsEmpty());
}

TEST(ParseGlossary, TextWithoutHeading_GivesNothing) {
  EXPECT_THAT(parse_glossary("no heading\nAlso: x.\n"), IsEmpty());
  EXPECT_THAT(parse_glossary(""), IsEmpty());
}

TEST(FindTerm, CaseAndJoints_DoNotMatter) {
  const Term* const term = find_term("global batch");
  ASSERT_NE(term, nullptr);
  EXPECT_EQ(find_term("Global-Batch"), term);
  EXPECT_EQ(find_term("global_batch"), term);
  EXPECT_EQ(find_term("gbs"), term);
  EXPECT_EQ(find_term("globe"), nullptr);
  EXPECT_EQ(find_term(""), nullptr);
}

TEST(Glossary, EveryEntry_HasADefinitionAndNamesOfItsOwn) {
  ASSERT_GE(glossary().size(), 40u);
  std::set<std::string> names;
  for (const Term& term : glossary()) {
    EXPECT_GE(term.definition.size(), 30u) << term.name;
    EXPECT_TRUE(term.definition.ends_with('.')) << term.name;
    EXPECT_EQ(find_term(term.name), &term) << term.name;
    EXPECT_TRUE(names.insert(term.name).second) << term.name;
    for (const std::string& other : term.also) {
      EXPECT_EQ(find_term(other), &term) << other;
      EXPECT_TRUE(names.insert(other).second) << other;
    }
  }
}

}  // namespace glossary_test
}  // namespace rankwright::catalog
