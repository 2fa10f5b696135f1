// Parses an SVG for tests of pictures, as boxes and lines of text with the space that they take.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <pugixml.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "rankwright/report/render/chart.h"

namespace rankwright::parsed_svg {

struct Box {
  double left = 0, top = 0, right = 0, bottom = 0;
  std::string classes{}, words{};  // for a rectangle, `words` is its title

  double width() const { return right - left; }
  double height() const { return bottom - top; }

  /// Tolerance: coordinates are written with two decimals.
  static constexpr double kRounded = 0.011;
  bool inside(const Box& other) const {
    return left >= other.left - kRounded && right <= other.right + kRounded &&
           top >= other.top - kRounded && bottom <= other.bottom + kRounded;
  }
  bool overlaps(const Box& other) const {
    return left + kRounded < other.right && other.left + kRounded < right &&
           top + kRounded < other.bottom && other.top + kRounded < bottom;
  }
};

inline Box box_of(const pugi::xml_node& rect) {
  const double x = rect.attribute("x").as_double(), y = rect.attribute("y").as_double();
  return {x,
          y,
          x + rect.attribute("width").as_double(),
          y + rect.attribute("height").as_double(),
          rect.attribute("class").value(),
          rect.child("title").text().get()};
}

inline bool is_of(const std::string& classes, const std::string& one) {
  std::istringstream all(classes);
  for (std::string word; all >> word;)
    if (word == one) return true;
  return false;
}

/// Returns the bounding box of a text: as high as digits above the baseline, and as wide as chart.h
/// says.
inline Box box_of_text(const pugi::xml_node& text) {
  const std::string classes = text.attribute("class").value(), words = text.text().get();
  const double x = text.attribute("x").as_double(), y = text.attribute("y").as_double();
  const double width = report::measure_text_width(words, classes);
  const double left = is_of(classes, "e") ? x - width : is_of(classes, "m") ? x - width / 2 : x;
  return {left, y - 0.75 * report::measure_text_height(classes), left + width, y, classes, words};
}

class Picture {
 public:
  explicit Picture(const std::string& svg) {
    const pugi::xml_parse_result read = document_.load_buffer(svg.data(), svg.size());
    if (!read) fault_ = fmt::format("{} at {}", read.description(), read.offset);
    for (const pugi::xpath_node& node : document_.select_nodes("//rect"))
      rects.push_back(box_of(node.node()));
    for (const pugi::xpath_node& node : document_.select_nodes("//text"))
      texts.push_back(box_of_text(node.node()));
  }

  pugi::xml_node root() const { return document_.child("svg"); }

  std::vector<Box> rects_of(const std::string& classes) const {
    std::vector<Box> all;
    for (const Box& box : rects)
      if (is_of(box.classes, classes)) all.push_back(box);
    return all;
  }
  std::vector<Box> texts_that_are(const std::string& words) const {
    std::vector<Box> all;
    for (const Box& box : texts)
      if (box.words == words) all.push_back(box);
    return all;
  }

  /// Returns the words of every text in drawing order, one text per line.
  std::string list_texts() const {
    std::string lines;
    for (const Box& box : texts) lines += box.words + "\n";
    return lines;
  }

  /// Returns what is wrong with the picture as a standalone file; empty if nothing is.
  std::string fault() const {
    if (!fault_.empty()) return fault_;
    if (std::string(root().attribute("role").value()) != "img") return "it has no role";
    for (const char* part : {"title", "desc", "style"})
      if (root().child(part).text().empty()) return fmt::format("it has no {}", part);
    const Box page{0, 0, root().attribute("width").as_double(),
                   root().attribute("height").as_double()};
    for (const Box& box : rects)
      if (!box.inside(page) || !(box.width() >= 0) || !(box.height() >= 0))
        return fmt::format("a box leaves it: {} {} {}", box.left, box.top, box.words);
    for (std::size_t k = 0; k < texts.size(); ++k) {
      if (!texts[k].inside(page)) return "it cuts: " + texts[k].words;
      for (std::size_t other = 0; other < k; ++other)
        if (texts[k].overlaps(texts[other]))
          return fmt::format("'{}' lies on '{}'", texts[k].words, texts[other].words);
    }
    return {};
  }

  std::vector<Box> rects{}, texts{};

 private:
  pugi::xml_document document_{};
  std::string fault_{};
};

}  // namespace rankwright::parsed_svg
