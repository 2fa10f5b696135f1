#include "rankwright/import/framework/known_keys.h"

#include <algorithm>
#include <map>

#include "rankwright/base/check.h"
#include "rankwright/base/embedded.h"

namespace rankwright::importer {

extern const std::span<const EmbeddedFile> kKnownKeyFiles;

namespace {

/// Returns "megatron" for "rankwright/import/framework/known_keys/megatron.txt".
std::string_view stem_of(std::string_view path) {
  path.remove_prefix(path.rfind('/') + 1);
  return path.substr(0, path.rfind('.'));
}

}  // namespace

KnownKeys::KnownKeys(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    if (!line.empty() && line.front() != '#') paths_.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  RW_CHECK(std::is_sorted(paths_.begin(), paths_.end()));
}

bool KnownKeys::contains(std::string_view path) const {
  if (std::binary_search(paths_.begin(), paths_.end(), path)) return true;
  for (std::size_t dot = path.size(); dot != std::string_view::npos && dot > 0;
       dot = path.rfind('.', dot - 1))
    if (std::binary_search(paths_.begin(), paths_.end(), std::string(path.substr(0, dot)) + ".*"))
      return true;
  return false;
}

const KnownKeys& KnownKeys::find(std::string_view framework) {
  static const std::map<std::string_view, KnownKeys> lists = [] {
    std::map<std::string_view, KnownKeys> all;
    for (const EmbeddedFile& file : kKnownKeyFiles)
      all.emplace(stem_of(file.path), KnownKeys(file.text));
    return all;
  }();
  const auto found = lists.find(framework);
  RW_CHECK(found != lists.end());
  return found->second;
}

std::vector<std::string_view> list_known_key_files() {
  std::vector<std::string_view> names;
  for (const EmbeddedFile& file : kKnownKeyFiles) names.push_back(stem_of(file.path));
  return names;
}

}  // namespace rankwright::importer
