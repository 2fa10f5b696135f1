#include "rankwright/report/render/section.h"

#include <gtest/gtest.h>

namespace rankwright::report {
namespace section_test {

const Table kTable{{{"axis"}, {"degree"}}, {{"tp", "8"}}};

TEST(SectionsText, Paragraphs_AreSeparatedByBlankLines) {
  const Section sections[] = {{.heading = "Plan", .text = "tp 8"},
                              {.heading = "Axes", .table = kTable, .note = "done"}};
  EXPECT_EQ(render_sections_text(sections, {}, 40),
            "  tp 8\n\n" + kTable.text(Paint{}) + "  done\n\n");
}

TEST(SectionsText, Labels_MakeAColumnWithTheTextBeside) {
  const Section sections[] = {{.label = "why", .text = "one two", .more = "three"},
                              {.label = "fit", .text = ""}};
  EXPECT_EQ(render_sections_text(sections, {}, 16),
            "  why       one\n"
            "            two\n"
            "            three\n");
}

TEST(SectionsText, Drawing_ReplacesTheTable) {
  const Section sections[] = {
      {.table = kTable, .drawing = [](const Paint&, std::size_t) { return std::string("##\n"); }}};
  EXPECT_EQ(render_sections_text(sections, {}, 40), "##\n\n");
  EXPECT_EQ(render_sections_markdown(sections), kTable.markdown() + "\n");
}

TEST(SectionsMarkdown, FencedDrawing_IsACodeBlock) {
  const Section sections[] = {
      {.heading = "Ranks",
       .drawing = [](const Paint&, std::size_t) { return std::string("0 1\n"); },
       .fenced = true}};
  EXPECT_EQ(render_sections_markdown(sections), "## Ranks\n\n```text\n0 1\n```\n\n");
}

TEST(Sections, Only_LeavesASectionOutOfTheOtherForm) {
  const Section sections[] = {{.text = "a", .only = Section::Only::terminal},
                              {.text = "b", .only = Section::Only::markdown}};
  EXPECT_EQ(render_sections_text(sections, {}, 40), "  a\n\n");
  EXPECT_EQ(render_sections_markdown(sections), "b\n\n");
}

TEST(SectionsMarkdown, EmptySection_HasNoHeading) {
  const Section sections[] = {{.heading = "Why"}, {.heading = "Tie", .text = "x", .more = "y"}};
  EXPECT_EQ(render_sections_markdown(sections), "## Tie\n\nx y\n\n");
}

}  // namespace section_test
}  // namespace rankwright::report
