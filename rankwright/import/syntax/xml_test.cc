#include "rankwright/import/syntax/xml.h"

#include <gtest/gtest.h>

#include "tests/support/finding_lines.h"

namespace rankwright::importer {
namespace xml_test {

std::string refused(std::string_view text, XmlLimits limits = {}) {
  const Result<XmlNode> root = read_xml(text, "x.xml", limits);
  return root ? "read" : format_findings(root.error());
}

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
  EXPECT_EQ(refused(""), "RW0901 1:1 a tag is not closed or not spelt right");
  EXPECT_EQ(refused("<a>\n<b>\n</a>"), "RW0901 3:1 a tag is not closed or not spelt right");
  EXPECT_EQ(refused("<!-- nothing -->"), "RW0901 1:1 a tag is not closed or not spelt right");
}

TEST(Xml, SizeDepthAndNumberAreBounded) {
  EXPECT_EQ(refused("<a/>     ", {.bytes = 8}),
            "RW0906 0:0 it has 9 bytes, and at most 8 are read");
  EXPECT_EQ(refused("<a><b/><c/></a>", {.nodes = 3}), "RW0906 0:0 it has more than 3 elements");
  std::string deep;
  for (int i = 0; i < 1000; ++i) deep += "<a>";
  for (int i = 0; i < 1000; ++i) deep += "</a>";
  EXPECT_EQ(refused(deep), "RW0906 0:0 it is nested more than 64 deep");
}

}  // namespace xml_test
}  // namespace rankwright::importer
