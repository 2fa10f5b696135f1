#include "rankwright/report/render/page_shell.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace rankwright::report {
namespace page_shell_test {

constexpr std::string_view kPage = "<script id=d>RANKWRIGHT_DOCUMENT</script><p>";

TEST(Page, EmbedsTheDocument) {
  EXPECT_EQ(embed_document(kPage, "{\"a\":1}"), "<script id=d>{\"a\":1}</script><p>");
}

// A model may have any name, and reading the document returns that name unchanged.
TEST(Page, DocumentCannotCloseTheScriptElement) {
  const std::string hostile = "</script><script>alert(1)</script><!--";
  const nlohmann::json document{{"name", hostile}};
  const std::string page = embed_document(kPage, document.dump());
  const std::size_t begin = page.find('>') + 1;
  const std::size_t end = page.find("</script>");
  const std::string inside = page.substr(begin, end - begin);
  EXPECT_EQ(inside.find('<'), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(inside), document);
  EXPECT_EQ(page.substr(end), "</script><p>");
}

// The page that web/ builds has one placeholder for the document and fetches nothing.
TEST(Page, IsSelfContained) {
  if (kReportPage.empty()) GTEST_SKIP() << "built without the page";
  const std::string_view place = "RANKWRIGHT_DOCUMENT";
  const std::size_t at = kReportPage.find(place);
  ASSERT_NE(at, std::string_view::npos);
  EXPECT_EQ(kReportPage.find(place, at + 1), std::string_view::npos);
  for (const std::string_view fetched : {"<link rel=\"stylesheet\"", "src=\"http", "@import"})
    EXPECT_EQ(kReportPage.find(fetched), std::string_view::npos) << fetched;
  EXPECT_NE(kReportPage.find("default-src 'none'"), std::string_view::npos);
}

}  // namespace page_shell_test
}  // namespace rankwright::report
