// Reads a lab's page, Markdown in docs/labs: a heading, prose, console blocks, and under
// "Questions" an introduction and a list: "- `key` What is asked?".
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rankwright/lab/lab.h"
#include "rankwright/report/render/paint.h"

namespace rankwright::lab {

/// The parsed page of a lab.
struct LabPage {
  std::string title;      // without the number
  std::string_view task;  // Markdown between the heading and the questions
  std::string about{};    // introduction to the questions
  std::vector<std::pair<std::string, std::string>> questions{};  // key and text

  /// Returns the text of a question; empty if the page has none.
  std::string_view words(std::string_view key) const;
};

/// Reads the page of a lab.
LabPage read_lab_page(const Lab& lab);

/// Returns Markdown as terminal text: headings in bold, prose wrapped, console blocks unchanged.
std::string escape_markdown(std::string_view markdown, const report::Paint& paint,
                            std::size_t width);

}  // namespace rankwright::lab
