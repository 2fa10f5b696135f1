#include "rankwright/report/render/page_shell.h"

#include "rankwright/base/check.h"

namespace rankwright::report {

std::string embed_document(std::string_view page, std::string_view document) {
  constexpr std::string_view kPlace = "RANKWRIGHT_DOCUMENT";
  const std::size_t at = page.find(kPlace);
  RW_CHECK(at != std::string_view::npos);
  std::string out(page.substr(0, at));
  // Nothing in the document may end the script element that holds it.
  for (const char c : document)
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  return out + std::string(page.substr(at + kPlace.size()));
}

}  // namespace rankwright::report
