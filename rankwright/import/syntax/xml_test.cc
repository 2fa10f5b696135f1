#include "rankwright/import/syntax/xml.h"

#include <gtest/gtest.h>

#include "tests/support/finding_lines.h"
#include "tests/support/golden.h"
#include "tests/support/input_lines.h"

namespace rankwright::importer {
namespace xml_test {

std::string limit_fault(std::string_view text, XmlLimits limits) {
  const Result<XmlNode> root = read_xml(text, "x.xml", limits);
  return root ? "read" : format_findings(root.error());
}

std::string fault(const std::string& text) { return limit_fault(text, {}); }

TEST(Xml, ReadsElementsAttributesTextAndLines) {
  const Result<XmlNode> root =
      read_xml("<?xml version=\"1.0\"?>\n<a x=\"1\">\n <b>two</b>\n</a>", "x");
  ASSERT_TRUE(root);
  EXPECT_EQ(root->name, "a");
  EXPECT_EQ((*root)["x"], "1");
  EXPECT_EQ((*root)["y"], "");
  EXPECT_EQ(root->line, 2);
  ASSERT_EQ(root->children.size(), 1u);
  EXPECT_EQ(root->children[0].text, "two");
  EXPECT_EQ(root->children[0].line, 3);
}

// A DOCTYPE that would expand to a billion letters, or read a file.
TEST(Xml, EntitiesAreNotExpanded) {
  const Result<XmlNode> root = read_xml(
      "<!DOCTYPE a [<!ENTITY l \"lol\"><!ENTITY m \"&l;&l;&l;\">"
      "<!ENTITY f SYSTEM \"file:///etc/hostname\">]>\n<a x=\"&m;\">&f;</a>",
      "x");
  ASSERT_TRUE(root);
  EXPECT_EQ((*root)["x"], "&m;");
  EXPECT_EQ(root->text, "&f;");
}

TEST(Xml, InvalidXml_IsRejected) {
  golden::expect("import/xml-invalid.txt",
                 transcribe({"", "<a>\n<b>\n</a>", "<!-- nothing -->"}, fault));
}

TEST(Xml, SizeDepthAndNumberAreBounded) {
  std::string deep;
  for (int i = 0; i < 1000; ++i) deep += "<a>";
  for (int i = 0; i < 1000; ++i) deep += "</a>";
  golden::expect("import/xml-limits.txt",
                 format_case("9 of 8 bytes", limit_fault("<a/>     ", {.bytes = 8})) +
                     format_case("4 of 3 nodes", limit_fault("<a><b/><c/></a>", {.nodes = 3})) +
                     format_case("1,000 levels", fault(deep)));
}

}  // namespace xml_test
}  // namespace rankwright::importer
