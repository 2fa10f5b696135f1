// A lab's page: Markdown of docs/labs, with a heading, prose, console blocks, and under "Questions"
// what holds of all of them, then a list: "- `key` What is asked?".
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rankwright/lab/lab.h"
#include "rankwright/report/render/paint.h"

namespace rankwright::lab {

struct LabPage {
  std::string title;      // without the number
  std::string_view task;  // all between the heading and the questions, as Markdown
  std::string about{};    // what holds of all questions: stands above the first
  std::vector<std::pair<std::string, std::string>> questions{};  // key, words

  /// The words of a question; empty where the page has none.
  std::string_view words(std::string_view key) const;
};

LabPage lab_page(const Lab& lab);

/// Markdown for a terminal: headings in bold, prose wrapped, what a console shows as it is.
std::string markdown_text(std::string_view markdown, const report::Paint& paint, std::size_t width);

}  // namespace rankwright::lab
