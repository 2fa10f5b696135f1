// EmbeddedFile: a text file of the repository that is compiled into the library. cmake/embed.cmake
// generates the tables.
#pragma once

#include <span>
#include <string_view>

namespace rankwright {

struct EmbeddedFile {
  std::string_view path;  // in the repository: "docs/labs/03-pipelines.md"
  std::string_view text;
};

}  // namespace rankwright
