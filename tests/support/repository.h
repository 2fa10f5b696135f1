// Files of a repository, for readers that follow the names in a script.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "rankwright/import/syntax/file.h"

namespace rankwright::importer {

/// Returns a reader of files with these names and texts, and no others.
inline FileReader repository(std::vector<std::pair<std::string, std::string>> files) {
  return [files = std::move(files)](const std::string& file) -> Result<std::string> {
    for (const auto& [name, text] : files)
      if (file == name || file.ends_with("/" + name)) return text;
    return refuse_file(file);
  };
}

}  // namespace rankwright::importer
