#include "rankwright/report/render/markdown.h"

#include <gtest/gtest.h>

namespace rankwright::report {
namespace markdown_test {

TEST(MarkdownText, EscapesMarkup) {
  EXPECT_EQ(escape_markdown("tp 8 on nvlink, 1 x 8"), "tp 8 on nvlink, 1 x 8");
  EXPECT_EQ(escape_markdown("<script>&"), "&lt;script>&amp;");
  EXPECT_EQ(escape_markdown("[a](b) `c` \\ |"), "\\[a](b) \\`c\\` \\\\ \\|");
  EXPECT_EQ(escape_markdown("one\n# two\t\x7F"), "one # two  ");
  EXPECT_EQ(escape_markdown("<0.1 %"), "<0.1 %");
  EXPECT_EQ(escape_markdown("<"), "&lt;");
  EXPECT_EQ(escape_markdown("Et*10|t*6L, tp_size"), "Et\\*10\\|t\\*6L, tp_size");
  EXPECT_EQ(escape_markdown("__a__ ~5 ~~b~~"), "\\_\\_a\\_\\_ ~5 &#126;&#126;b&#126;&#126;");
  EXPECT_EQ(escape_markdown("https://x www.y a@z"), "https&#58;//x www&#46;y a&#64;z");
}

TEST(MarkdownCode, FencesWithMoreBackticksThanTheTextHas) {
  EXPECT_EQ(format_markdown_code("rankwright check a.yaml"), "`rankwright check a.yaml`");
  EXPECT_EQ(format_markdown_code("a `` b"), "```a `` b```");
  EXPECT_EQ(format_markdown_code("`a"), "`` `a ``");
  EXPECT_EQ(format_markdown_code("a\n\nb"), "`a  b`");
}

TEST(MarkdownBlock, FencesWithMoreBackticksThanTheTextHas) {
  EXPECT_EQ(format_markdown_block("yaml", "a: 1\n"), "```yaml\na: 1\n```\n");
  EXPECT_EQ(format_markdown_block("text", "```\n"), "````text\n```\n````\n");
}

TEST(MarkdownTarget, AcceptsBlanksAndBrackets) {
  EXPECT_EQ(format_markdown_target("my pics/(a).svg"), "<my pics/(a).svg>");
  EXPECT_EQ(format_markdown_target("a<b>\n"), "<a\\<b\\> >");
}

}  // namespace markdown_test
}  // namespace rankwright::report
