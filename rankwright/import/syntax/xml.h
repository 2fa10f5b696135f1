// An XML document as a small tree in which every element knows its line. Input is hostile: size,
// depth and number of elements are bounded, a DOCTYPE is passed over, and no entity is expanded.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rankwright/base/result.h"

namespace rankwright::importer {

struct XmlNode {
  std::string name{};
  std::string text{};  // between its tags, before the first child
  std::vector<std::pair<std::string, std::string>> attributes{};
  std::vector<XmlNode> children;  // clang 14 wants no {} here
  int line = 0;

  /// The value of an attribute; empty where there is none.
  std::string_view operator[](std::string_view attribute) const;
};

struct XmlLimits {
  std::size_t bytes = 4 << 20;
  std::size_t nodes = 200'000;  // elements, ends and comments together
  std::size_t depth = 64;
};

/// The root element. RW0901 where it is no XML, with its line; RW0906 beyond the limits.
Result<XmlNode> read_xml(std::string_view text, std::string_view file, XmlLimits limits = {});

}  // namespace rankwright::importer
