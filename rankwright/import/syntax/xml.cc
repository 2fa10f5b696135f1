#include "rankwright/import/syntax/xml.h"

#include <fmt/format.h>

#include <algorithm>
#include <pugixml.hpp>

#include "rankwright/base/format.h"

namespace rankwright::importer {
namespace {

Diagnostic too_much(std::string detail, std::string_view file) {
  return {.code = "RW0906",
          .message = "the file is too large or too deeply nested",
          .detail = std::move(detail),
          .where = {.file = std::string(file)}};
}

/// Converts offsets to lines. Requires: offsets in ascending order.
class LineCounter {
 public:
  explicit LineCounter(std::string_view text) : text_(text) {}

  int at(std::ptrdiff_t offset) {
    const std::size_t to = std::clamp<std::size_t>(std::size_t(std::max<std::ptrdiff_t>(offset, 0)),
                                                   at_, text_.size());
    line_ += int(
        std::count(text_.begin() + std::ptrdiff_t(at_), text_.begin() + std::ptrdiff_t(to), '\n'));
    at_ = to;
    return line_;
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
};

/// Returns false if the element is nested deeper than `depth`.
bool copy_element(const pugi::xml_node& from, XmlNode& to, std::size_t depth, LineCounter& lines) {
  if (depth == 0) return false;
  to.name = from.name();
  to.line = lines.at(from.offset_debug());
  for (const pugi::xml_attribute& attribute : from.attributes())
    to.attributes.emplace_back(attribute.name(), attribute.value());
  to.text = from.text().get();
  for (const pugi::xml_node& child : from.children()) {
    if (child.type() != pugi::node_element) continue;
    if (!copy_element(child, to.children.emplace_back(), depth - 1, lines)) return false;
  }
  return true;
}

}  // namespace

std::string_view XmlNode::operator[](std::string_view attribute) const {
  for (const auto& [key, value] : attributes)
    if (key == attribute) return value;
  return {};
}

Result<XmlNode> read_xml(std::string_view text, std::string_view file, XmlLimits limits) {
  if (text.size() > limits.bytes)
    return fail(too_much(fmt::format("it has {} bytes, and the limit is {}",
                                     count(i64(text.size())), count(i64(limits.bytes))),
                         file));
  if (std::size_t(std::count(text.begin(), text.end(), '<')) > limits.nodes)
    return fail(
        too_much(fmt::format("it has more than {} elements", count(i64(limits.nodes))), file));
  pugi::xml_document document;
  // Only elements, attributes and text: no entities, no processing instructions.
  const pugi::xml_parse_result parsed =
      document.load_buffer(text.data(), text.size(), pugi::parse_minimal, pugi::encoding_utf8);
  const pugi::xml_node root = document.document_element();
  if (!parsed || !root)
    return fail({.code = "RW0901",
                 .message = "the file cannot be read as XML",
                 .detail = parsed ? "no element" : "an unclosed or misspelled tag",
                 .where = {.file = std::string(file),
                           .line = LineCounter(text).at(parsed ? 0 : parsed.offset),
                           .column = 1}});
  XmlNode tree;
  LineCounter lines(text);
  if (!copy_element(root, tree, limits.depth, lines))
    return fail(too_much(fmt::format("it is nested more than {} levels deep", limits.depth), file));
  return tree;
}

}  // namespace rankwright::importer
