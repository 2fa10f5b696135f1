// Reads an XML document into a small tree in which every element has its line. Input is untrusted:
// size, depth and number of elements are bounded, a DOCTYPE is ignored, and entities are not
// expanded.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rankwright/base/result.h"

namespace rankwright::importer {

/// One element.
struct XmlNode {
  std::string name{};
  std::string text{};  // between its tags, before the first child
  std::vector<std::pair<std::string, std::string>> attributes{};
  std::vector<XmlNode> children;  // no {} here: clang 14 rejects it
  int line = 0;

  /// Returns the value of an attribute; empty if there is none.
  std::string_view operator[](std::string_view attribute) const;
};

struct XmlLimits {
  std::size_t bytes = 4 << 20;
  std::size_t nodes = 200'000;  // elements, end tags and comments together
  std::size_t depth = 64;
};

/// Returns the root element. Fails with RW0901 and its line if the text is not XML, with RW0906
/// beyond the limits.
Result<XmlNode> read_xml(std::string_view text, std::string_view file, XmlLimits limits = {});

}  // namespace rankwright::importer
